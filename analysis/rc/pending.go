package rc

import "rdmascope/decode/roce"

// wait keeps an event until the flow's partner is known.
func (s *Shard) wait(f *flow, e *event) {
	if len(f.pend) >= s.opt.MaxPending || s.waiting >= s.opt.MaxPendingTotal {
		s.overflow(f)
		if f.peer != nil || f.req.oneWay {
			f.deliver(e)
			return
		}
	}
	if f.pend == nil {
		f.pend = s.ring()
	}
	f.pend = append(f.pend, *e)
	s.waiting++
	if e.has(evCorrupt) {
		return
	}
	if e.has(evRequest) {
		f.half.request(f, e)
	}
	if f.packets == 1 && s.pairByPort(f) {
		return
	}
	if e.has(evResponse) {
		s.pairByPSN(f, e)
	}
}

// ring returns room for events that wait, and keep takes it back: when many
// connections begin, their rings would else be most of what is allocated.
func (s *Shard) ring() []event {
	if n := len(s.spare); n > 0 {
		b := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return b
	}
	return make([]event, 0, 8)
}

func (s *Shard) keep(b []event) {
	if cap(b) > 0 && cap(b) <= spareEvents && len(s.spare) < spareRings {
		s.spare = append(s.spare, b[:0])
	}
}

// Bounds of what is kept.
const (
	spareRings  = 16
	spareEvents = 128
)

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
	s.waiting -= len(f.pend)
	b := f.pend
	f.drainAlone()
	s.keep(b)
}

func (f *flow) drainAlone() {
	f.req.oneWay = true
	f.prime()
	for i := range f.pend {
		f.deliver(&f.pend[i])
	}
	f.pend = nil
}

// request widens the range of PSNs that requests of an unpaired flow have used.
// Until its path MTU is seen a READ may take as many as the smallest one makes.
func (h *half) request(f *flow, e *event) {
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
		h.have, h.lo, h.hi, h.since = true, e.psn, end, e.time
		return
	}
	if end.Sub(h.hi) > 0 {
		h.hi = end
	}
}

const smallestMTU = 256
