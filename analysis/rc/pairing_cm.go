package rc

import "rdmascope/decode"

// CMConnect is what a connection management dialogue (REQ and REP) told about
// both ends.
type CMConnect struct {
	Iface                uint16
	A, B                 decode.Addr // A sent the REQ
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
	From, To     decode.Addr
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
	src, dst decode.Addr
	qpn      uint32
}

func (f *flow) cmKey() cmKey { return cmKey{f.key.Iface, f.key.Src, f.key.Dst, f.key.DestQP} }

func (c *CMConnect) toB() cmKey { return cmKey{c.Iface, c.A, c.B, c.QPNB} }
func (c *CMConnect) toA() cmKey { return cmKey{c.Iface, c.B, c.A, c.QPNA} }

// CMConnect takes a CM dialogue. It may come before or after the data.
func (s *Shard) CMConnect(c CMConnect) {
	p := &c
	a, b := c.toB(), c.toA()
	for _, f := range s.flowsOf(a, b) {
		if f.packets > 0 && !f.belongs(p) {
			s.renew(f, Moment{How: "reused", Time: c.Time, Number: c.Number})
		}
	}
	s.cms[a], s.cms[b] = p, p
	for _, f := range s.flowsOf(a, b) {
		s.pairByCM(f)
	}
}

func (s *Shard) flowsOf(keys ...cmKey) (v []*flow) {
	for _, k := range keys {
		if f := s.byKey[k]; f != nil {
			v = append(v, f)
		}
	}
	return v
}

// belongs tells whether the data of the flow are those of this dialogue: it was
// told before, or their PSNs began where it says and not before it.
func (f *flow) belongs(c *CMConnect) bool {
	if f.cm != nil {
		return *f.cm == *c || f.cm.PSNA == c.PSNA && f.cm.PSNB == c.PSNB && f.closed.How == ""
	}
	return f.lastTime >= c.Time && f.firstTime >= c.Time
}

// pairByCM joins the flows of a CM dialogue as soon as both are there.
func (s *Shard) pairByCM(f *flow) {
	c := s.cms[f.cmKey()]
	if c == nil || f.cm == c {
		return
	}
	f.attach(c)
	other := c.toA()
	if f.cmKey() == other {
		other = c.toB()
	}
	for _, g := range f.opposite() {
		if g == f || g.cmKey() != other {
			continue
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
			}
		}
		f.attach(c)
		g.attach(c)
		s.pair(f, g, MethodCM, Certain)
		return
	}
}

// void takes back a pairing. What was counted under it is dropped with it.
func (s *Shard) void(f *flow) {
	for _, x := range [2]*flow{f, f.peer} {
		n := newFlow(x.id, x.key, &s.opt)
		n.grp, n.side, n.incarnation = x.grp, x.side, x.incarnation
		n.firstTime, n.lastTime, n.firstNum, n.lastNum = x.firstTime, x.lastTime, x.firstNum, x.lastNum
		n.packets, n.good, n.uc, n.answers = x.packets, x.good, x.uc, x.answers
		n.port, n.manyPorts = x.port, x.manyPorts
		*x = *n
		x.req.order.sightings = &x.copies
	}
}

func (f *flow) attach(c *CMConnect) {
	f.cm = c
	side := &CMSide{AckTimeoutExp: c.AckTimeoutExp, RetryCount: c.RetryCount, RNRRetry: c.RNRRetryB}
	if f.cmKey() == c.toB() {
		side.RNRRetry = c.RNRRetryA
		side.Depth, side.StartPSN = c.InitiatorDepth, c.PSNA
	} else {
		side.Depth, side.StartPSN = c.ResponderResources, c.PSNB
	}
	f.req.cm = side
	if c.MTU > 0 {
		f.req.hint = c.MTU
	}
	if f.opened.How == "" || f.opened.How == "reused" {
		f.opened = Moment{How: "cm", Time: c.Time, Number: c.Number}
	}
}

// CMDisconnect takes a DREQ: what is unanswered from now on isn't lost.
func (s *Shard) CMDisconnect(c CMDisconnect) {
	f := s.byKey[cmKey{c.Iface, c.From, c.To, c.RemoteQPN}]
	if f == nil {
		return
	}
	for _, x := range [2]*flow{f, f.peer} {
		if x != nil && x.closed.How == "" {
			x.closed = Moment{How: "dreq", Time: c.Time, Number: c.Number}
		}
	}
}
