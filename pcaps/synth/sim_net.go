package synth

import "slices"

// flight is a packet under way.
type flight struct {
	half    *half
	kind    Kind
	psn     int64 // unbounded
	span    int64 // PSNs that a request covers
	packet  Packet
	frame   []byte
	nth     int
	repeat  bool // a request whose PSN had been sent before
	copied  bool
	corrupt bool
}

// host is the sending side of a network adapter: one packet at a time,
// responses before requests.
type host struct {
	w         *world
	side      int
	busy      bool
	responses []*flight
}

// kick sends the next packet if there is one and the line is free.
func (h *host) kick() {
	if h.busy {
		return
	}
	f := h.next()
	if f == nil {
		return
	}
	h.busy = true
	h.w.transmit(h.side, f)
	h.w.after(h.w.cfg.Gap, func() {
		h.busy = false
		h.kick()
	})
}

func (h *host) next() *flight {
	if len(h.responses) > 0 {
		f := h.responses[0]
		h.responses = h.responses[1:]
		return f
	}
	if h.side < len(h.w.half) {
		return h.w.half[h.side].req.next()
	}
	return nil
}

// respond queues a response.
func (h *host) respond(f *flight) {
	h.responses = append(h.responses, f)
	h.kick()
}

// transmit writes the frame and sends it on its way.
func (w *world) transmit(side int, f *flight) {
	key := sending{f.half.n, f.kind, f.psn}
	f.nth = w.sent[key]
	w.sent[key]++
	f.frame = w.flow[side].Append(nil, f.packet)
	w.truth.Sent[side]++
	w.travel(upstream(side), f, func(f *flight) { w.tap(side, f) })
}

// tap captures a packet and passes it on.
func (w *world) tap(side int, f *flight) {
	s := Sighting{
		At: w.now, Side: side, Half: f.half.n, Kind: f.kind, Opcode: f.packet.Opcode, PSN: f.packet.PSN & 0xffffff,
		Nth: f.nth, Repeat: f.repeat, Copy: f.copied, Corrupt: f.corrupt, Captured: w.rng.Float64() >= w.cfg.CaptureLoss,
	}
	w.truth.AtTap[side]++
	if s.Captured {
		w.truth.Captured[side]++
		w.result.Add(w.now, f.frame)
		if !f.corrupt {
			f.half.observe(f)
			if f.repeat && !f.copied {
				f.half.lat.RetransAtTap++
			}
		}
	}
	i := len(w.truth.Sightings)
	w.truth.Sightings = append(w.truth.Sightings, s)
	lost := w.travel(downstream(side), f, func(f *flight) { w.deliver(side, f) })
	w.truth.Sightings[i].Lost = lost
}

// travel takes a packet over a stretch and says whether it was lost there, or
// spoiled, which is the same for whoever saw it whole before.
func (w *world) travel(at Stretch, f *flight, arrive func(*flight)) (lost bool) {
	im, t := &w.cfg.Impair[at], &w.truth.Stretch[at]
	if w.rng.Float64() < im.Loss[f.kind] || w.cfg.Drop != nil && !f.copied && w.cfg.Drop(at, f.kind, f.half.wire(f.psn), f.nth) {
		t.Lost[f.kind]++
		return true
	}
	if w.rng.Float64() < im.Corrupt && !f.corrupt {
		t.Corrupted[f.kind]++
		f = w.flip(f)
		lost = true
	}
	due := max(w.now+w.cfg.Delay, w.seg[at]+1)
	if w.rng.Float64() < im.Reorder {
		t.Reordered[f.kind]++
		due += im.ReorderBy // and doesn't hold up the packets behind it
	} else {
		w.seg[at] = due
	}
	w.after(due-w.now, func() { arrive(f) })
	if w.rng.Float64() < im.Duplicate {
		t.Duplicated[f.kind]++
		c := *f
		c.copied = true
		w.seg[at] = max(w.seg[at], due) + 1
		w.after(w.seg[at]-w.now, func() { arrive(&c) })
	}
	return lost
}

// flip is a copy of the packet with one bit of its ICRC turned, so that
// addresses and numbers still lead to its connection.
func (w *world) flip(f *flight) *flight {
	c := *f
	c.corrupt = true
	c.frame = slices.Clone(f.frame)
	bit := w.rng.IntN(32)
	c.frame[len(c.frame)-4+bit/8] ^= 1 << (bit % 8)
	return &c
}

// deliver hands a packet to the other side; one with a bad ICRC is dropped.
func (w *world) deliver(from int, f *flight) {
	if f.corrupt {
		return
	}
	if f.kind == KindRequest {
		f.half.rsp.receive(f)
	} else {
		f.half.req.receive(f)
	}
	w.host[from].kick()
	w.host[1-from].kick()
}
