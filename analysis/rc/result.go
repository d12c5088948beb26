package rc

// Result tells what is known now. It doesn't disturb the tracking: what waits
// for a partner or for late packets is tried on copies.
func (s *Shard) Result() *Result {
	res := &Result{EvictedIncarnated: s.evicted, RevisedPairings: s.revised}
	res.Connections = make([]Connection, 0, len(s.closed)+s.connectionsAtMost())
	res.Connections = append(res.Connections, s.closed...)
	done := make(map[*flow]bool)
	if !s.opt.finished {
		s.pairsFound(res, done)
	}
	for _, f := range s.flows {
		if f == nil || f.packets == 0 || !f.is(flowGood) || len(done) > 0 && done[f] {
			continue
		}
		if f.peer != nil {
			if f.peer.id < f.id && f.peer.packets > 0 && f.peer.is(flowGood) {
				continue // told with that one
			}
			res.Connections = append(res.Connections, s.connection(f, f.peer, nil))
			continue
		}
		res.Connections = append(res.Connections, s.connection(f, nil, s.candidatesOf(f)))
	}
	sortConnections(res.Connections)
	return res
}

// connectionsAtMost is how many connections the flows make up, those that have
// no packet yet too.
func (s *Shard) connectionsAtMost() (n int) {
	for _, f := range s.flows {
		if f != nil && (f.peer == nil || f.id < f.peer.id) {
			n++
		}
	}
	return n
}

// Finish tells that no packet will follow. The pairs that stand now are joined
// for good, which saves Result from trying them on copies; figures are the same.
func (s *Shard) Finish() {
	if s.opt.finished {
		return
	}
	s.opt.finished = true
	seen := make(map[*group]bool)
	var found []match
	for _, f := range s.flows {
		if f != nil && f.peer == nil && !seen[f.grp] {
			seen[f.grp] = true
			found = append(found, matchGroup(f.grp, s.opt.MaxCandidates)...)
		}
	}
	for _, m := range found {
		if m.f.peer == nil && m.g.peer == nil {
			s.pair(m.f, m.g, m.method, m.confidence)
		}
	}
}

// pairsFound adds the pairs that stand for now, replayed on copies.
func (s *Shard) pairsFound(res *Result, done map[*flow]bool) {
	seen := make(map[*group]bool)
	for _, f := range s.flows {
		if f == nil || f.peer != nil || seen[f.grp] {
			continue
		}
		seen[f.grp] = true
		for _, m := range matchGroup(f.grp, s.opt.MaxCandidates) {
			if done[m.f] || done[m.g] {
				continue
			}
			done[m.f], done[m.g] = true, true
			res.Connections = append(res.Connections, s.tried(m))
		}
	}
}

// tried makes the figures of a pair that stands for now.
func (s *Shard) tried(m match) Connection {
	opt := s.quiet(m.f)
	a, b := m.f.clone(opt), m.g.clone(opt)
	link(a, b, m.method, m.confidence)
	s.replay(a, b)
	return s.connection(a, b, nil)
}

// candidatesOf returns the flows that could be the partner of f.
func (s *Shard) candidatesOf(f *flow) (ids []int32) {
	others := unpaired(f.opposite(), f, s.opt.MaxCandidates)
	for _, j := range partners(f, []*flow{f}, others) {
		ids = append(ids, others[j].id)
	}
	for i := range ids { // by id: order of arrival isn't told
		for k := i; k > 0 && ids[k] < ids[k-1]; k-- {
			ids[k], ids[k-1] = ids[k-1], ids[k]
		}
	}
	return ids
}

// connection makes the figures of two flows, or of one.
func (s *Shard) connection(f, g *flow, candidates []int32) Connection {
	c := Connection{Incarnation: f.incarnation, Method: f.method, Confidence: f.confidence, Candidates: candidates,
		Opened: f.opened(), Closed: f.told().closed, CM: f.cm, FirstTime: f.firstTime, LastTime: f.lastTime, FirstNumber: f.firstNum}
	if len(candidates) > 0 {
		c.Confidence = Ambiguous
	}
	f, g = s.settled(f, g)
	if g == nil {
		c.Flows[0] = new(FlowFigures)
		c.Flows[0].fill(f, nil)
		return c
	}
	both := new([2]FlowFigures)
	both[0].fill(f, g)
	both[1].fill(g, f)
	c.Flows = [2]*FlowFigures{&both[0], &both[1]}
	c.Incarnation = max(c.Incarnation, g.incarnation)
	if f.packets == 0 || g.packets > 0 && g.firstNum < f.firstNum {
		c.FirstTime, c.FirstNumber = g.firstTime, g.firstNum
		c.Flows[0], c.Flows[1] = c.Flows[1], c.Flows[0]
	}
	c.LastTime = max(c.LastTime, g.lastTime)
	for _, m := range [2]Moment{g.opened(), f.opened()} {
		if m.How != "" {
			c.Opened = m
		}
	}
	if c.Closed.How == "" {
		c.Closed = g.told().closed
	}
	if c.CM == nil {
		c.CM = g.cm
	}
	return c
}

// settled returns flows in which nothing is open: the same ones when nothing
// was, else copies.
func (s *Shard) settled(f, g *flow) (*flow, *flow) {
	open := func(x *flow) bool {
		return x != nil && (x.own != nil && x.own.unsettled() || x.wait != nil && x.peer == nil && x.wait.events.n > 0)
	}
	if !open(f) && !open(g) {
		return f, g
	}
	a, b := s.cloneBoth(f, g)
	if b == nil && a.wait != nil && a.wait.events.n > 0 {
		a.drainAlone(&s.events)
	}
	for _, x := range [2]*flow{a, b} {
		if x != nil && x.own != nil {
			x.own.settle()
		}
	}
	return a, b
}

func (r *requester) unsettled() bool {
	if r.t != nil {
		return true
	}
	for i := range int(r.msgs.n) {
		if m := r.msgs.at(i); m.is(msgRead) && m.skips > 0 && !m.is(msgDone) {
			return true
		}
	}
	return false
}

// settle decides what the end decides: READs that the requester evidently
// finished were only not captured.
func (r *requester) settle() {
	if r.t != nil {
		r.t.finish(r)
	}
	for i := range int(r.msgs.n) {
		m := r.msgs.at(i)
		if m.is(msgRead) && !m.is(msgDone|msgResent) && m.skips > 0 && r.lastTime > r.answerTimeOf(m) {
			r.responses().giveUp(r, m)
		}
	}
	r.pop()
}

// answerTimeOf: with a later operation finished and a newer request sent, the
// requester isn't waiting for m.
func (r *requester) answerTimeOf(m *message) int64 { return m.tFirst }
