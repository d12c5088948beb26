package synth

import "sort"

// message is a work request. PSNs are unbounded.
type message struct {
	op    Op
	size  int
	va    uint64
	first int64
	n     int64
	done  bool
}

func (m *message) end() int64 { return m.first + m.n }

// answered says that only its own response completes it (IBTA 9.7.5.1.3).
func (m *message) answered() bool { return m.op == OpRead || m.op == OpFetchAdd }

// requester is the sending half of a queue pair, after rxe's requester and
// completer.
type requester struct {
	*half
	msgs []message

	send   int64   // next PSN to send
	again  []int64 // selective: PSNs to send again first
	una    int64   // oldest PSN not acknowledged
	high   int64   // one above the highest PSN ever sent
	newest int     // first message not complete

	stepped  *Episode // step back that hasn't sent anything yet
	episode  int      // index+1 of the running episode
	retrying bool     // went back and has seen no progress since
	retries  int
	waiting  bool // for the RNR timer
	failed   bool

	deadline int64
	armed    bool
}

// index finds the message of a PSN.
func (r *requester) index(psn int64) int {
	return sort.Search(len(r.msgs), func(i int) bool { return r.msgs[i].end() > psn })
}

func (r *requester) idle() bool { return r.newest == len(r.msgs) }

// next makes the next request packet, or nil.
func (r *requester) next() *flight {
	if r.failed || r.waiting || r.idle() {
		return nil
	}
	psn, repeat := r.send, false
	if len(r.again) > 0 {
		psn, repeat = r.again[0], true
		r.again = r.again[1:]
	}
	i := r.index(psn)
	if i == len(r.msgs) || i >= r.newest+r.w.cfg.Window {
		return nil
	}
	f := r.request(i, psn)
	r.count(f, &r.lat.Messages[i])
	if !repeat {
		r.send = psn + f.span
	}
	r.arm()
	r.high = max(r.high, psn+f.span)
	return f
}

// request is the packet of message i at psn. A READ that begins inside the
// message asks for the rest of it (IBTA 9.7.5.1.5).
func (r *requester) request(i int, psn int64) *flight {
	m := &r.msgs[i]
	f := &flight{half: r.half, kind: KindRequest, psn: psn, span: 1}
	flow := &r.w.flow[r.n]
	k := int(psn - m.first)
	const rkey = 0x1234
	switch m.op {
	case OpRead:
		skip := k * flow.mtu()
		f.packet = Read(r.wire(psn), m.va+uint64(skip), rkey, m.size-skip)
		f.span = m.end() - psn
	case OpFetchAdd:
		f.packet = FetchAddRequest(r.wire(psn), m.va, rkey, 1)
	case OpSend:
		f.packet = flow.SendPacket(r.wire(m.first), Pattern(uint32(m.va>>24), m.size), k)
	default:
		f.packet = flow.WritePacket(r.wire(m.first), m.va, rkey, Pattern(uint32(m.va>>24), m.size), k)
	}
	return f
}

// count keeps the truth about what is sent.
func (r *requester) count(f *flight, m *Message) {
	t := r.lat
	t.Requests++
	repeated := f.psn < r.high
	if r.stepped != nil {
		if repeated {
			r.stepped.At, r.stepped.PSN = r.w.now, r.wire(f.psn)
			t.Episodes = append(t.Episodes, *r.stepped)
			r.episode = len(t.Episodes)
		}
		r.stepped = nil
	}
	f.repeat = repeated
	if !repeated {
		r.episode = 0
		return
	}
	t.Retransmitted++
	m.Resent = true
	if r.episode > 0 {
		t.Episodes[r.episode-1].Resent++
	}
}

// back makes the requester send again from psn on.
func (r *requester) back(psn int64, why Trigger) {
	if psn >= r.high { // nothing there was sent
		return
	}
	if r.w.cfg.Scheme == Selective {
		for _, p := range r.again {
			if p == psn {
				return
			}
		}
		r.again = append(r.again, psn)
	} else {
		if r.send <= psn { // on the way there already
			return
		}
		r.send = psn
	}
	if r.stepped == nil {
		r.stepped = &Episode{Trigger: why}
	}
	r.retrying = true
	r.deadline = r.w.now + r.w.cfg.AckTimeout
}

// receive takes an ACK, NAK or response.
func (r *requester) receive(f *flight) {
	if r.failed || r.idle() || f.psn >= r.high && f.kind != KindNAK {
		return
	}
	switch {
	case f.kind == KindResponse:
		r.response(f.psn)
	case f.kind == KindACK:
		r.acknowledge(f.psn)
	case f.packet.Syndrome == NAKSequence:
		if f.psn >= r.una && r.acknowledge(f.psn-1) && !r.retrying {
			r.back(f.psn, TriggerNAK)
		}
	case f.psn >= r.una:
		r.rnr(f.psn)
	}
}

// rnr waits for the timer, then begins again at psn; whatever arrives
// meanwhile sends nothing.
func (r *requester) rnr(psn int64) {
	if !r.acknowledge(psn-1) || r.waiting {
		return
	}
	r.back(psn, TriggerRNR)
	r.waiting = true
	r.w.after(rnrWait[r.w.cfg.RNRTimer&0x1f]*1000, func() {
		r.waiting = false
		r.retrying = false
		r.deadline = r.w.now + r.w.cfg.AckTimeout
		r.w.host[r.n].kick()
	})
}

// rnrWait by timer code, in µs (IBTA table 46).
var rnrWait = [32]int64{655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520}

// acknowledge takes everything up to psn as acknowledged; it stops, and asks
// again, at a READ or atomic whose answer is missing.
func (r *requester) acknowledge(psn int64) bool {
	for r.una <= psn {
		m := &r.msgs[r.newest]
		if m.answered() {
			if !r.retrying {
				r.back(r.una, TriggerImplied)
			}
			return false
		}
		r.progress(min(psn+1, m.end()))
	}
	return true
}

// response takes a READ response or atomic answer, which must come in order.
func (r *requester) response(psn int64) {
	m := &r.msgs[r.index(psn)]
	if !r.acknowledge(m.first - 1) {
		return
	}
	switch {
	case psn == r.una:
		r.progress(psn + 1)
	case psn > r.una && !r.retrying:
		r.back(r.una, TriggerImplied)
	}
}

// progress moves the oldest unacknowledged PSN up.
func (r *requester) progress(una int64) {
	r.una = una
	r.send = max(r.send, una)
	r.retrying, r.retries = false, 0
	r.deadline = r.w.now + r.w.cfg.AckTimeout
	if una == r.msgs[r.newest].end() {
		r.msgs[r.newest].done = true
		r.newest++
	}
	keep := r.again[:0]
	for _, p := range r.again {
		if p >= una {
			keep = append(keep, p)
		}
	}
	r.again = keep
	if r.stepped != nil && r.send >= r.high && len(r.again) == 0 {
		r.stepped = nil // the answers came before it sent anything
	}
}

// arm starts the timer when it isn't running, or had nothing to wait for.
func (r *requester) arm() {
	if r.una == r.high {
		r.deadline = r.w.now + r.w.cfg.AckTimeout
	}
	if r.armed {
		return
	}
	r.armed = true
	r.w.after(r.w.cfg.AckTimeout, r.expire)
}

// expire is the ACK timeout (IBTA 9.7.6.1.3), unless progress pushed it off.
func (r *requester) expire() {
	switch {
	case r.failed || r.idle() || r.una == r.high:
		r.armed = false
		return
	case r.waiting || r.w.now < r.deadline:
		d := max(r.deadline-r.w.now, r.w.cfg.Gap)
		r.w.after(d, r.expire)
		return
	}
	r.retries++
	if r.w.cfg.RetryCount < 7 && r.retries > r.w.cfg.RetryCount {
		r.failed, r.lat.Failed = true, true
		r.armed = false
		return
	}
	r.back(r.una, TriggerTimeout)
	r.deadline = r.w.now + r.w.cfg.AckTimeout
	r.w.after(r.w.cfg.AckTimeout, r.expire)
	r.w.host[r.n].kick()
}
