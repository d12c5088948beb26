package rc

import (
	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// Shard tracks the connections of a set of host pairs. It is used by one
// goroutine at a time and holds no locks.
type Shard struct {
	finished bool // no packet follows
	opt      Options
	flows    []*flow
	slab     []flow // flows are made some at a time, side by side
	groups   map[groupKey]*group
	byKey    map[cmKey]*flow
	cms      map[cmKey]*CMConnect
	closed   []Connection
	evicted  uint64
	revised  uint64
	waiting  int       // events in all pending rings
	spare    [][]event // rings that nobody uses
}

// NewShard returns an empty shard.
func NewShard(o Options) *Shard {
	return &Shard{opt: o.withDefaults(), groups: make(map[groupKey]*group),
		byKey: make(map[cmKey]*flow), cms: make(map[cmKey]*CMConnect)}
}

// groupKey names a pair of hosts at one interface.
type groupKey struct {
	iface  uint16
	kind   decode.Kind
	lo, hi decode.Addr
}

// group holds the flows between two hosts, by direction.
type group struct{ dirs [2][]*flow }

func (k FlowKey) group() (g groupKey, side int) {
	g = groupKey{k.Iface, k.Kind, k.Src, k.Dst}
	if k.Dst.Less(k.Src) {
		g.lo, g.hi, side = k.Dst, k.Src, 1
	}
	return g, side
}

// opposite returns the flows of the other direction; a host that talks to
// itself has only one.
func (f *flow) opposite() []*flow {
	if f.key.Src == f.key.Dst {
		return f.grp.dirs[0]
	}
	return f.grp.dirs[1-f.side]
}

// AddFlow announces a flow. ids are dense and come in order.
func (s *Shard) AddFlow(id int32, key FlowKey) {
	f := s.newFlow(id, key)
	gk, side := key.group()
	g := s.groups[gk]
	if g == nil {
		g = new(group)
		s.groups[gk] = g
	}
	f.grp, f.side = g, side
	g.dirs[side] = append(g.dirs[side], f)
	for int(id) >= len(s.flows) {
		s.flows = append(s.flows, nil)
	}
	s.flows[id] = f
	s.byKey[f.cmKey()] = f
	s.pairByCM(f)
}

// newFlow makes a flow in the slab.
func (s *Shard) newFlow(id int32, key FlowKey) *flow {
	if len(s.slab) == 0 {
		s.slab = make([]flow, min(max(len(s.flows)/2, 1), 16))
	}
	f := &s.slab[0]
	s.slab = s.slab[1:]
	f.id, f.key = id, key
	f.reset(&s.opt)
	return f
}

// Packet takes the next packet of a flow, in capture order.
func (s *Shard) Packet(p *decode.Packet, id int32) {
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
	if f.uc || f.req.oneWay {
		f.deliver(&e)
		if f.packets == 1 {
			s.pairByPort(f)
		}
		return
	}
	s.wait(f, &e)
}

// untracked takes what is no event: a CNP, or an ACKNOWLEDGE without syndrome.
func (f *flow) untracked(p *decode.Packet) {
	if p.ICRC == roce.ICRCBad || !p.Has(decode.FlagBTH) {
		return
	}
	switch op := p.RoCE.BTH.Opcode; {
	case op == roce.OpcodeCNP:
		f.checkCNP(p)
	case op.Operation() == roce.OperationAcknowledge:
		f.cutAcks = true
	}
}

// reused: without CM, a request far from the oldest unacknowledged PSN after a
// silence belongs to a new connection on the same QPN (METRICS §2).
func (s *Shard) reused(f *flow, e *event) {
	r := &f.req
	if !r.have || r.uc || e.has(evCorrupt) || !e.opFlags().Has(roce.FlagStart|roce.FlagRead) {
		return
	}
	d := r.una().Sub(e.psn)
	if d <= 64 && d >= -1<<20 {
		return
	}
	if uint32(d) <= 4*r.c.maxOutstanding && d > 0 {
		return
	}
	quiet := e.time - max(r.lastTime, f.peer.req.lastTime, r.answerTime, f.peer.req.answerTime)
	if quiet < s.opt.ReuseSilenceNS {
		return
	}
	if x := &r.tap; x.lastNAK.valid && x.lastNAK.psn == e.psn || x.rnrOn && x.rnrPSN == e.psn {
		return
	}
	s.renew(f, Moment{How: "reused", Time: e.time, Number: e.num})
	f.note(e)
}

// renew ends the connection of f and begins new incarnations of its flows.
func (s *Shard) renew(f *flow, how Moment) {
	flows := [2]*flow{f, f.peer}
	for _, x := range flows {
		if x != nil && x.closed.How == "" {
			x.closed = how
		}
	}
	s.archive(flows)
	for _, x := range flows {
		if x == nil {
			continue
		}
		s.waiting -= len(x.pend)
		n := newFlow(x.id, x.key, &s.opt)
		n.grp, n.side, n.incarnation = x.grp, x.side, x.incarnation+1
		n.opened = how
		*x = *n
		x.req.order.sightings = &x.copies
	}
}

func (s *Shard) archive(flows [2]*flow) {
	if flows[0].packets == 0 && (flows[1] == nil || flows[1].packets == 0) {
		return
	}
	if len(s.closed) >= s.opt.MaxClosed {
		s.closed = append(s.closed[:0], s.closed[1:]...)
		s.evicted++
	}
	s.closed = append(s.closed, s.connection(flows[0], flows[1], nil))
}

// pair joins two flows and replays what waited.
func (s *Shard) pair(f, g *flow, m Method, c Confidence) {
	s.waiting -= len(f.pend) + len(g.pend)
	link(f, g, m, c)
	replay(f, g)
	s.keep(f.pend)
	s.keep(g.pend)
	f.pend, g.pend = nil, nil
	f.cands, g.cands = nil, nil
}

func link(f, g *flow, m Method, c Confidence) {
	f.peer, g.peer = g, f
	f.method, g.method = m, m
	f.confidence, g.confidence = c, c
	f.req.oneWay, g.req.oneWay = false, false
}

// replay delivers what waited in both flows, in capture order.
func replay(f, g *flow) {
	hint(f, g)
	f.prime()
	g.prime()
	i, j := 0, 0
	for i < len(f.pend) || j < len(g.pend) {
		if j >= len(g.pend) || i < len(f.pend) && f.pend[i].num < g.pend[j].num {
			f.deliver(&f.pend[i])
			i++
		} else {
			g.deliver(&g.pend[j])
			j++
		}
	}
}

// prime looks ahead whether the identification tells the order of sending, so
// that the first late packet already finds its place.
func (f *flow) prime() {
	for i := range f.pend {
		if !repeats(f.pend[:i], &f.pend[i]) {
			f.req.order.note(&f.pend[i])
		}
	}
	f.primed = int32(len(f.pend))
	f.req.order.seen = false
}

// repeats tells whether e shows the bytes of one of the events right before it:
// a copy says nothing about its sender's identifications.
func repeats(before []event, e *event) bool {
	for i := len(before) - 1; i >= max(0, len(before)-8); i-- {
		if x := &before[i]; x.print == e.print && x.psn == e.psn && x.op == e.op {
			return true
		}
	}
	return false
}

// hint looks ahead for the path MTU, so that the first READs reserve the right
// number of PSNs.
func hint(f, g *flow) {
	var mtu uint32
	for _, x := range [2]*flow{f, g} {
		if x.cm != nil && x.cm.MTU > 0 {
			mtu = x.cm.MTU
		}
		for i := range x.pend {
			e := &x.pend[i]
			if e.opFlags().Has(roce.FlagFirst|roce.FlagMiddle) && e.has(evLen) && !e.has(evCorrupt) {
				if _, ok := roce.MTUFromBytes(int(e.payload)); ok {
					mtu = e.payload
					break
				}
			}
		}
	}
	f.req.hint, g.req.hint = mtu, mtu
}
