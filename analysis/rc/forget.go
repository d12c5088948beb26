package rc

// In an endless live run flows come and go. Whoever numbers them reads the
// figures of one that has ended with Connection, drops it with Forget, and may
// give its id to another.

// Peer returns the flow of the other direction, −1 when it isn't known.
func (s *Shard) Peer(id int32) int32 {
	if f := s.flow(id); f != nil && f.peer != nil {
		return f.peer.id
	}
	return -1
}

// flow returns a flow by its id, nil when there is none.
func (s *Shard) flow(id int32) *flow {
	if id < 0 || int(id) >= len(s.flows) {
		return nil
	}
	return s.flows[id]
}

// Connection returns the figures of the connection that a flow belongs to now,
// as Result would tell them; false when there are none. It doesn't disturb the
// tracking.
func (s *Shard) Connection(id int32) (Connection, bool) {
	f := s.flow(id)
	switch {
	case f == nil:
		return Connection{}, false
	case f.peer != nil:
		if f.peer.id < f.id {
			f = f.peer
		}
		if f.packets == 0 && f.peer.packets == 0 {
			return Connection{}, false
		}
		return s.connection(f, f.peer, nil), true
	}
	if f.wait != nil && !s.opt.finished {
		for _, m := range matchGroup(f.grp, s.opt.MaxCandidates) {
			if m.f == f || m.g == f {
				return s.tried(m), true
			}
		}
	}
	if f.packets == 0 || !f.is(flowGood) {
		return Connection{}, false
	}
	return s.connection(f, nil, s.candidatesOf(f)), true
}

// Forget drops a flow. Its id may be announced again, for this flow or for
// another one. A partner that isn't dropped as well is followed on its own. A
// CM dialogue outlives its flows, so that a connection that was idle is known
// again; not when it was ended by a DREQ.
func (s *Shard) Forget(id int32) {
	f := s.flow(id)
	if f == nil {
		return
	}
	f.markRest()
	f.noCandidate()
	if f.wait != nil {
		s.settleDown(f)
	}
	if p := f.peer; p != nil {
		p.peer, p.ans = nil, nil
		p.method, p.confidence = MethodNone, Unpaired
		p.followAlone(true)
	}
	if f.cm != nil && f.told().closed.How != "" {
		s.cms.forget(f.cm)
	}
	s.byKey.remove(s.flows, f)
	s.flows[id] = nil
	if f.grp.flows[f.side()]--; f.grp.flows == [2]int{} {
		delete(s.groups, f.grp.key)
	}
}
