package rc

import "rdmascope/decode/roce"

// orderCheck finds out whether a sender's IP identification counts upward. Some
// senders draw it at random or leave it constant; then capture order has to do.
type orderCheck struct {
	last, max uint16 // identification of the last packet, and the newest one
	up, down  uint16 // steps forward; backward or none
	near      uint16 // steps shorter than nearStep, either way, but not none
	same      uint16 // none: two packets with one identification
	drift     int32  // sum of the near steps
	seen      bool
}

// nearStep: a random identification is this close to its predecessor once in
// sixteen times.
const nearStep = 2048

// note takes each packet of the flow, responses too: they share the counter.
func (o *orderCheck) note(e *event) {
	if !e.has(evIPID) {
		return
	}
	if !o.seen || serial16(e.ipid, o.max) > 0 {
		o.max = e.ipid
	}
	if o.seen {
		d := serial16(e.ipid, o.last)
		if d > 0 {
			o.up++
		} else {
			o.down++
		}
		switch {
		case d == 0:
			o.same++
		case d < nearStep && d > -nearStep:
			o.near++
			o.drift += int32(d)
		}
		if o.up|o.down >= 1<<15 { // old behaviour fades
			o.up, o.down, o.near, o.same, o.drift = o.up>>1, o.down>>1, o.near>>1, o.same>>1, o.drift>>1
		}
	}
	o.seen, o.last = true, e.ipid
}

// usable: nearly all steps go forward; or, where a network reorders heavily,
// nearly all are short and forward on the whole (within a burst they needn't be). Random identifications step
// forward half of the time and far, constant ones not at all.
func (o *orderCheck) usable() bool {
	n := uint32(o.up) + uint32(o.down)
	if n < 2 {
		return false
	}
	if uint32(o.near) == n {
		return o.drift > 0 || n < 128
	}
	if o.up < 2 {
		return false
	}
	return o.up > 3*o.down || 8*uint32(o.near) > 7*n && (o.drift > 0 || n < 128)
}

// tells: hardly any two packets have the same identification, so equal bytes
// are one packet seen twice, whether the identification counts or is random.
func (o *orderCheck) tells() bool {
	n := uint32(o.up) + uint32(o.down)
	return n > 0 && 8*uint32(o.same) < n
}

func serial16(a, b uint16) int16 { return int16(a - b) }

// sent is a request or response on its way through the window that restores
// the order of sending, with what was known when it arrived.
type sent struct {
	num, time int64
	psn, end  roce.PSN
	una       roce.PSN // at arrival; of a response: after it
	unaBefore roce.PSN // response only
	cov       roce.PSN
	expect    roce.PSN // what the tap's responder waited for at arrival
	wire      uint32
	ipid      uint16
	kind      uint8
	flags     sentFlags
	syn       roce.Syndrome
	nak       nakNote
}

const (
	sentRequest uint8 = iota
	sentResponse
)

type sentFlags uint16

const (
	sentLate     sentFlags = 1 << iota // sent before a packet that was seen earlier
	sentCorrupt                        // bad iCRC
	sentRead                           // READ or atomic
	sentAtomic                         // … answered by one packet
	sentEnd                            // ends a message
	sentStart                          // begins one
	sentRNR                            // RNR NAK
	sentNAK                            // sequence NAK
	sentProgress                       // response that acknowledged something
	sentData                           // READ response, atomic ACK
	sentAckReq
	sentAnswered  // READ asked again: the response was seen, and the requester waited for it
	sentDiscarded // … was seen, and may have been thrown away
	sentMissed    // … was sent and not seen
	sentSpoiled   // … had a bad iCRC
	sentFates     = sentAnswered | sentDiscarded | sentMissed | sentSpoiled
)

func (s *sent) is(f sentFlags) bool { return s.flags&f != 0 }

func (r *requester) sentOf(e *event, f roce.OpcodeFlags, late bool) sent {
	s := sent{num: e.num, time: e.time, psn: e.psn, end: e.end(), una: r.una(), cov: r.cov,
		wire: e.wire, ipid: e.ipid, expect: r.expect}
	if late {
		s.flags |= sentLate
	}
	if f.Has(roce.FlagRead) {
		s.flags |= sentRead
		if e.end() == e.psn.Add(1) {
			s.flags |= sentAtomic
		}
		if r.rsp != nil {
			s.flags |= r.rsp.before
		}
	}
	if f.Has(roce.FlagEnd) {
		s.flags |= sentEnd
	}
	if f.Has(roce.FlagStart) {
		s.flags |= sentStart
	}
	if e.has(evAckReq) {
		s.flags |= sentAckReq
	}
	return s
}

// push takes an event in capture order and hands on what can't be overtaken
// any more, in sending order. As long as no packet was late, one that continues
// the sequence leaves at once: nothing is missing before it.
func (t *trouble) push(r *requester, s *sent) {
	ordered := r.f.order.usable()
	if !ordered {
		t.flush(r)
		if s.kind == sentRequest { // the identifications may prove usable before what it overtook comes
			t.passed, t.passedAny = s.ipid, true
		}
		t.process(r, s, false)
		return
	}
	if s.kind == sentRequest && s.is(sentLate) {
		t.reorders = true
		t.insert(r, s)
	} else {
		t.win = append(t.win, *s)
	}
	t.drain(r, r.opt.SendWindow)
}

// insert puts a late request before the first one that was sent after it.
func (t *trouble) insert(r *requester, s *sent) {
	i := len(t.win)
	at := -1
	for i > t.head {
		i--
		if w := &t.win[i]; w.kind == sentRequest {
			if serial16(w.ipid, s.ipid) <= 0 {
				break
			}
			at = i
		}
	}
	if at < 0 || at == t.head && t.passedAny && serial16(s.ipid, t.passed) < 0 {
		t.process(r, s, true)
		return
	}
	t.win = append(t.win, sent{})
	copy(t.win[at+1:], t.win[at:])
	t.win[at] = *s
}

// drain processes events until at most keep are left, and beyond that as long
// as the next one is a plain continuation and nothing was ever late.
func (t *trouble) drain(r *requester, keep int) {
	for t.head < len(t.win) {
		s := &t.win[t.head]
		if len(t.win)-t.head <= keep {
			if t.reorders || s.kind == sentRequest && s.psn != t.next {
				break
			}
		}
		t.head++
		if s.kind == sentRequest {
			t.passed, t.passedAny = s.ipid, true
		}
		t.process(r, s, false)
	}
	switch {
	case t.head == len(t.win):
		t.win, t.head = t.win[:0], 0
	case t.head >= 256:
		t.win = t.win[:copy(t.win, t.win[t.head:])]
		t.head = 0
	}
}

func (t *trouble) flush(r *requester) { t.drain(r, 0) }

// process takes one event in sending order; strayed means that it came too
// late to be put in its place.
func (t *trouble) process(r *requester, s *sent, strayed bool) {
	if s.kind == sentResponse {
		t.answer(r, s)
		if !s.is(sentNAK) {
			t.lastAny = max(t.lastAny, s.time)
		}
		return
	}
	if !t.started {
		t.started = true
		if s.psn.Sub(t.next) < 0 && t.next == r.firstPSN {
			t.next = s.psn
		}
	}
	if strayed || !r.f.order.usable() && t.filledLate(r, s) {
		t.stray(r, s)
		return
	}
	fresh := s.psn.Sub(t.next) >= 0
	if t.stats.rate.add(s, fresh) && !t.stats.livelock {
		t.stats.livelock, t.stats.livePSN = true, t.una
	}
	if fresh {
		t.sendNew(r, s)
	} else {
		t.sendAgain(r, s)
	}
	if s.end.Sub(t.next) > 0 {
		t.next = s.end
	}
	t.lastEnd, t.lastTime, t.lastAny = s.end, s.time, max(t.lastAny, s.time)
}

// sendNew: the sender goes on. PSNs that it skips were sent and not seen.
func (t *trouble) sendNew(r *requester, s *sent) {
	if s.psn != t.next {
		t.addHole(hole{span: span{t.next, s.psn}, time: s.time})
		if r.rsp != nil {
			for _, a := range r.rsp.ahead {
				t.readUnseen(r, a)
			}
		}
	}
	if s.is(sentLate) {
		r.cameLate(s.num)
	}
	if t.run != nil {
		t.endRun(r, true)
	}
}

// sendAgain: a PSN that had been sent before.
func (t *trouble) sendAgain(r *requester, s *sent) {
	r.sentAgain(s)
	back := s.psn.Sub(t.lastEnd) < 0
	if back {
		t.stepBack(r, s)
	} else if t.run != nil && s.psn != t.lastEnd {
		t.run.contiguous = false
		t.addHole(hole{span: span{t.lastEnd, s.psn}, time: s.time, rerun: true})
	}
	t.fillHoles(r, s)
	if t.run != nil {
		t.run.resent(s)
	}
}

// stray counts a packet that was sent before others and can't be put in order
// any more.
func (t *trouble) stray(r *requester, s *sent) {
	if r.early {
		r.early = false
		r.cameLate(s.num)
		return
	}
	if t.heal(s) {
		r.cameLate(s.num)
		t.sawLate = true
		return
	}
	r.sentAgain(s)
}

// filledLate: without a usable identification, a first sighting below the
// highest PSN is late unless the sender had reason to resend it.
func (t *trouble) filledLate(r *requester, s *sent) bool {
	h := t.holeAt(s.psn)
	if h == nil || s.psn.Sub(t.next) >= 0 {
		return false
	}
	if h.asked || t.run != nil && s.psn.Sub(t.lastEnd) >= 0 {
		return false
	}
	return s.time-t.lastTime < r.halfTimeout()
}

// resentNow tells whether a request below the highest PSN is sent again rather
// than late: something at or behind its PSN was sent before it, or it comes
// after its own repetition.
func (r *requester) resentNow(e *event, late bool) bool {
	t := r.t
	if !r.f.order.usable() {
		return !t.filledLate(r, &sent{psn: e.psn, time: e.time})
	}
	if !late {
		return true
	}
	next := t.next
	for i := t.head; i < len(t.win); i++ {
		w := &t.win[i]
		if w.kind != sentRequest {
			continue
		}
		if serial16(w.ipid, e.ipid) > 0 {
			if w.psn == e.psn {
				return true
			}
			continue
		}
		if w.end.Sub(next) > 0 {
			next = w.end
		}
	}
	return e.psn.Sub(next) < 0
}
