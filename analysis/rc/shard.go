package rc

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Shard tracks the connections of a set of host pairs. It is used by one
// goroutine at a time and holds no locks.
type Shard struct {
	opt     Options
	flows   []*flow
	groups  map[groupKey]*group
	byKey   flowIndex
	cms     connects
	closed  []Connection // at most MaxClosed, oldest first
	evicted uint64
	revised uint64
	events  eventStore
}

// NewShard returns an empty shard.
func NewShard(o Options) *Shard {
	return &Shard{opt: o.withDefaults(), groups: make(map[groupKey]*group)}
}

// AddFlow announces a flow. ids are small numbers, since they index a table. One
// may be used again after Forget.
func (s *Shard) AddFlow(id int32, key FlowKey) {
	gk, side := key.group()
	g := s.groups[gk]
	if g == nil {
		g = &group{key: gk}
		s.groups[gk] = g
	}
	f := &flow{id: id, opt: &s.opt, grp: g, iface: key.Iface, src: key.Src, dst: key.Dst, qpn: key.DestQP&0xffffff | uint32(key.Kind)<<24}
	if side == 1 {
		f.flags |= flowSide
	}
	g.flows[side]++
	g.join(f)
	for int(id) >= len(s.flows) {
		s.flows = append(s.flows, nil)
	}
	s.flows[id] = f
	s.byKey.add(s.flows, f)
	s.pairByCM(f)
}

// again begins a new incarnation of a flow, or takes back the one that it was,
// in place: the flow is one without requests, partner and history.
func (s *Shard) again(f *flow) {
	f.noCandidate()
	if f.wait != nil {
		s.settleDown(f)
	}
	*f = flow{id: f.id, opt: f.opt, grp: f.grp, iface: f.iface, src: f.src, dst: f.dst, qpn: f.qpn, incarnation: f.incarnation,
		flags: f.flags & flowSide}
	f.grp.join(f)
}

// Packet takes the next packet of a flow, in capture order.
func (s *Shard) Packet(p *wire.Packet, id int32) {
	f := s.flows[id]
	var e event
	if !e.fill(p) {
		f.untracked(p)
		return
	}
	f.note(&e)
	if f.peer != nil {
		if e.has(evRequest) {
			s.reused(f, &e)
		}
		if f.peer != nil {
			f.deliver(&e)
			return
		}
	}
	if f.flags&(flowUC|flowOneWay) != 0 {
		f.deliver(&e)
		if f.packets == 1 && f.wait != nil {
			f.half().port = f.port
			s.pairByPort(f)
		}
		return
	}
	s.wait(f, &e)
}

// IdentificationMoves tells whether the IP identification of a flow's packets
// isn't always the same.
func (s *Shard) IdentificationMoves(id int32) bool { return s.flows[id].order.up > 0 }

// untracked takes what is no event: a CNP, or an ACKNOWLEDGE without syndrome.
func (f *flow) untracked(p *wire.Packet) {
	if p.ICRC == roce.ICRCBad || !p.Has(wire.FlagBTH) {
		return
	}
	switch op := p.RoCE.BTH.Opcode; {
	case op == roce.OpcodeCNP:
		f.checkCNP(p)
	case op.Operation() == roce.OperationAcknowledge:
		f.flags |= flowCutAcks
	}
}

// reused: without CM, a request far from the oldest unacknowledged PSN after a
// silence belongs to a new connection on the same QPN (METRICS §2).
func (s *Shard) reused(f *flow, e *event) {
	r := f.own
	if r == nil || !r.have || r.uc || e.has(evCorrupt) || !e.opFlags().Has(roce.FlagStart|roce.FlagRead) {
		return
	}
	d := r.una().Sub(e.psn)
	if d <= 64 && d >= -1<<20 {
		return
	}
	if uint32(d) <= 4*r.maxOutstanding && d > 0 {
		return
	}
	last := max(r.lastTime, r.answerTime)
	if p := f.peer.own; p != nil {
		last = max(last, p.lastTime, p.answerTime)
	}
	if e.time-last < s.opt.ReuseSilenceNS {
		return
	}
	if r.t != nil {
		if x := &r.t.tap; x.lastNAK.valid && x.lastNAK.psn == e.psn || x.rnrOn && x.rnrPSN == e.psn {
			return
		}
	}
	s.renew(f, Moment{How: "reused", Time: e.time, Number: e.num})
	f.note(e)
}

// renew ends the connection of f and begins new incarnations of its flows.
func (s *Shard) renew(f *flow, how Moment) {
	flows := [2]*flow{f, f.peer}
	for _, x := range flows {
		if x != nil && x.told().closed.How == "" {
			x.rare().closed = how
		}
	}
	s.archive(flows)
	for _, x := range flows {
		if x != nil {
			s.again(x)
			x.incarnation++
			x.rare().reused = how
		}
	}
}

func (s *Shard) archive(flows [2]*flow) {
	if flows[0].packets == 0 && (flows[1] == nil || flows[1].packets == 0) {
		return
	}
	for _, x := range flows {
		if x != nil {
			x.markRest()
		}
	}
	c := s.connection(flows[0], flows[1], nil)
	if len(s.closed) >= s.opt.MaxClosed { // some at a time: the rest moves up
		n := len(s.closed)/4 + 1
		kept := copy(s.closed, s.closed[n:])
		clear(s.closed[kept:])
		s.closed = s.closed[:kept]
		s.evicted += uint64(n)
	}
	s.closed = append(s.closed, c)
}

// pair joins two flows and replays what waited.
func (s *Shard) pair(f, g *flow, m Method, c Confidence) {
	link(f, g, m, c)
	s.replay(f, g)
	s.settleDown(f)
	s.settleDown(g)
}

func link(f, g *flow, m Method, c Confidence) {
	f.peer, g.peer = g, f
	f.ans, g.ans = g.own, f.own
	f.method, g.method = m, m
	f.confidence, g.confidence = c, c
	f.followAlone(false)
	g.followAlone(false)
}

// replay delivers what waited in both flows, in capture order.
func (s *Shard) replay(f, g *flow) {
	s.hint(f, g)
	f.prime(&s.events)
	g.prime(&s.events)
	a, b := s.events.read(&f.wait.events), s.events.read(&g.wait.events)
	moreA, moreB := a.next(), b.next()
	for moreA || moreB {
		if !moreB || moreA && a.num < b.num {
			f.deliver(&a.event)
			moreA = a.next()
		} else {
			g.deliver(&b.event)
			moreB = b.next()
		}
	}
	f.flags &^= flowPrimed
	g.flags &^= flowPrimed
}

// prime looks ahead whether the identification tells the order of sending, so
// that the first late packet already finds its place.
func (f *flow) prime(events *eventStore) {
	var before [8]event // the newest, to know copies
	n := 0
	for c := events.read(&f.wait.events); c.next(); {
		if !repeats(before[:min(n, len(before))], &c.event) {
			f.order.note(&c.event)
		}
		before[n%len(before)] = c.event
		n++
	}
	f.flags |= flowPrimed
	f.order.seen = false
}

// repeats tells whether e shows the bytes of one of the events right before it:
// a copy says nothing about its sender's identifications.
func repeats(before []event, e *event) bool {
	for i := range before {
		if x := &before[i]; x.print == e.print && x.psn == e.psn && x.op == e.op {
			return true
		}
	}
	return false
}

// hint looks ahead for the path MTU, so that the first READs reserve the right
// number of PSNs.
func (s *Shard) hint(f, g *flow) {
	var mtu uint32
	for _, x := range [2]*flow{f, g} {
		if x.cm != nil && x.cm.MTU > 0 {
			mtu = x.cm.MTU
		}
		for c := s.events.read(&x.wait.events); c.next(); {
			e := &c.event
			if e.opFlags().Has(roce.FlagFirst|roce.FlagMiddle) && e.has(evLen) && !e.has(evCorrupt) {
				if _, ok := roce.MTUFromBytes(int(e.payload)); ok {
					mtu = e.payload
					break
				}
			}
		}
	}
	f.setHint(mtu)
	g.setHint(mtu)
}
