package rc

import "rdmascope/decode/roce"

// wait keeps an event until the flow's partner is known.
func (s *Shard) wait(f *flow, e *event) {
	if int(f.wait.events.n) >= s.opt.MaxPending || s.events.used >= s.opt.MaxPendingTotal {
		s.overflow(f)
		if f.peer != nil || f.is(flowOneWay) {
			f.deliver(e)
			return
		}
	}
	s.events.add(&f.wait.events, e)
	if e.has(evCorrupt) {
		return
	}
	h := f.half()
	h.port = f.port
	if e.has(evRequest) {
		h.request(e)
	}
	if f.packets == 1 && s.pairByPort(f) {
		return
	}
	if e.has(evResponse) {
		s.pairByPSN(f, e)
	}
}

// overflow: no room to wait any longer. The best pairing that stands now is
// taken; without one the flow is followed on its own.
func (s *Shard) overflow(f *flow) {
	for _, m := range matchGroup(f.grp, s.opt.MaxCandidates) {
		if m.f == f || m.g == f {
			s.pair(m.f, m.g, m.method, m.confidence)
			return
		}
	}
	s.alone(f)
}

// alone follows a flow whose partner isn't known: its requests can be counted,
// responses can't be told what they answer.
func (s *Shard) alone(f *flow) {
	f.drainAlone(&s.events)
	s.settleDown(f)
}

// drainAlone delivers what waits.
func (f *flow) drainAlone(events *eventStore) {
	f.followAlone(true)
	f.prime(events)
	for c := events.read(&f.wait.events); c.next(); {
		f.deliver(&c.event)
	}
	f.flags &^= flowPrimed
}

// settleDown ends the time in which a flow looks for its partner.
func (s *Shard) settleDown(f *flow) {
	f.grp.leave(f)
	s.events.free(&f.wait.events)
	f.wait = nil
}

// request widens the range of PSNs that requests of an unpaired flow have used.
// Until its path MTU is seen a READ may take as many as the smallest one makes.
func (h *half) request(e *event) {
	if h.mtu == 0 {
		h.mtu = smallestMTU
	}
	if e.opFlags().Has(roce.FlagFirst|roce.FlagMiddle) && e.has(evLen) {
		if _, ok := roce.MTUFromBytes(int(e.payload)); ok {
			h.mtu = e.payload
		}
	}
	end := e.end()
	if e.n == 0 {
		end = e.psn.Add(int64(packets(e.dma, h.mtu)))
	}
	if !h.have {
		h.have, h.lo, h.hi = true, e.psn, end
		return
	}
	if end.Sub(h.hi) > 0 {
		h.hi = end
	}
}

const smallestMTU = 256
