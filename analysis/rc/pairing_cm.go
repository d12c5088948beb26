package rc

import "rdmascope/decode/wire"

// CMConnect is what a connection management dialogue (REQ and REP) told about
// both ends.
type CMConnect struct {
	Iface                uint16
	A, B                 wire.Addr // A sent the REQ
	QPNA, QPNB           uint32
	PSNA, PSNB           uint32
	MTU                  uint32 // bytes, 0 unknown
	AckTimeoutExp        uint8
	RetryCount           uint8
	RNRRetryA, RNRRetryB uint8 // of each end; roce.RNRRetryInfinite when not known
	InitiatorDepth       uint8 // READs and atomics that A may have outstanding
	ResponderResources   uint8 // … and B
	FlowLabel            uint32
	Time, Number         int64
}

// CMDisconnect is a DREQ.
type CMDisconnect struct {
	Iface        uint16
	From, To     wire.Addr
	RemoteQPN    uint32 // at To
	Time, Number int64
}

// CMSide is what CM told about one requester.
type CMSide struct {
	AckTimeoutExp, RetryCount, RNRRetry uint8
	Depth                               uint8 // READs and atomics it may have outstanding
	StartPSN                            uint32
}

// cmKey names the queue pair that a flow is addressed to.
type cmKey struct {
	iface    uint16
	src, dst wire.Addr
	qpn      uint32
}

func (f *flow) cmKey() cmKey { return cmKey{f.iface, f.src, f.dst, f.qpn & 0xffffff} }

func (c *CMConnect) toB() cmKey { return cmKey{c.Iface, c.A, c.B, c.QPNB} }
func (c *CMConnect) toA() cmKey { return cmKey{c.Iface, c.B, c.A, c.QPNA} }

// connects remembers the newest dialogues for flows that are still to come.
type connects struct {
	by   map[cmKey]*CMConnect
	list []*CMConnect // oldest at next, once it is full
	next int
}

// add remembers a dialogue in place of the oldest one when there are too many.
func (c *connects) add(p *CMConnect, limit int) {
	if c.by == nil {
		c.by = make(map[cmKey]*CMConnect)
	}
	if len(c.list) < limit {
		c.list = append(c.list, p)
	} else {
		c.forget(c.list[c.next])
		c.list[c.next] = p
		c.next = (c.next + 1) % limit
	}
	c.by[p.toA()], c.by[p.toB()] = p, p
}

// forget drops a dialogue, unless a newer one has taken its place.
func (c *connects) forget(p *CMConnect) {
	for _, k := range [2]cmKey{p.toA(), p.toB()} {
		if c.by[k] == p {
			delete(c.by, k)
		}
	}
}

// CMConnect takes a CM dialogue. It may come before or after the data.
func (s *Shard) CMConnect(c CMConnect) {
	p := &c
	both := [2]cmKey{c.toB(), c.toA()}
	for _, k := range both {
		if f := s.byKey.find(s.flows, k); f != nil && f.packets > 0 && !f.belongs(p) {
			s.renew(f, Moment{How: "reused", Time: c.Time, Number: c.Number})
		}
	}
	s.cms.add(p, s.opt.MaxConnects)
	for _, k := range both {
		if f := s.byKey.find(s.flows, k); f != nil {
			s.pairByCM(f)
		}
	}
}

// belongs tells whether the data of the flow are those of this dialogue: it was
// told before, or their PSNs began where it says and not before it.
func (f *flow) belongs(c *CMConnect) bool {
	if f.cm != nil {
		return *f.cm == *c || f.cm.PSNA == c.PSNA && f.cm.PSNB == c.PSNB && f.told().closed.How == ""
	}
	return f.lastTime >= c.Time && f.firstTime >= c.Time
}

// pairByCM joins the flows of a CM dialogue as soon as both are there.
func (s *Shard) pairByCM(f *flow) {
	c := s.cms.by[f.cmKey()]
	if c == nil || f.cm == c {
		return
	}
	f.attach(c)
	other := c.toA()
	if f.cmKey() == other {
		other = c.toB()
	}
	g := s.byKey.find(s.flows, other)
	if g == nil || g == f || g.grp != f.grp {
		return
	}
	if f.peer == g {
		f.method, f.confidence, g.method, g.confidence = MethodCM, Certain, MethodCM, Certain
		g.attach(c)
		return
	}
	for _, x := range [2]*flow{f, g} {
		if x.peer != nil { // a wrong guess: its figures are void
			s.revised++
			s.void(x)
		} else if x.is(flowOneWay) { // given up, and its figures with it
			s.again(x)
		}
	}
	f.attach(c)
	g.attach(c)
	s.pair(f, g, MethodCM, Certain)
}

// void takes back a pairing. What was counted under it is dropped with it.
func (s *Shard) void(f *flow) {
	for _, x := range [2]*flow{f, f.peer} {
		old := *x
		s.again(x)
		x.firstTime, x.lastTime, x.firstNum = old.firstTime, old.lastTime, old.firstNum
		x.packets, x.port = old.packets, old.port
		x.flags |= old.flags & (flowGood | flowUC | flowAnswers | flowManyPorts)
	}
}

func (f *flow) attach(c *CMConnect) {
	if old := f.cm; old != nil && old.PSNA == c.PSNA && old.PSNB == c.PSNB {
		return // told again
	}
	f.cm = c
	if c.MTU > 0 {
		f.setHint(c.MTU)
	}
}

// opened tells when the connection began, if that was seen.
func (f *flow) opened() Moment {
	if c := f.cm; c != nil {
		return Moment{How: "cm", Time: c.Time, Number: c.Number}
	}
	return f.told().reused
}

// agreed returns what CM told about the requester of the flow.
func (f *flow) agreed() (side CMSide, ok bool) {
	c := f.cm
	if c == nil {
		return side, false
	}
	side = CMSide{AckTimeoutExp: c.AckTimeoutExp, RetryCount: c.RetryCount, RNRRetry: c.RNRRetryB}
	if f.cmKey() == c.toB() {
		side.RNRRetry = c.RNRRetryA
		side.Depth, side.StartPSN = c.InitiatorDepth, c.PSNA
	} else {
		side.Depth, side.StartPSN = c.ResponderResources, c.PSNB
	}
	return side, true
}

// CMDisconnect takes a DREQ: what is unanswered from now on isn't lost.
func (s *Shard) CMDisconnect(c CMDisconnect) {
	f := s.byKey.find(s.flows, cmKey{c.Iface, c.From, c.To, c.RemoteQPN})
	if f == nil {
		return
	}
	for _, x := range [2]*flow{f, f.peer} {
		if x != nil && x.told().closed.How == "" {
			x.rare().closed = Moment{How: "dreq", Time: c.Time, Number: c.Number}
		}
	}
}
