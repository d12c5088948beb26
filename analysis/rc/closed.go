package rc

// TakeClosed hands over finished incarnations and forgets them: those last
// heard of before a time, those of the flows named, which are about to be
// forgotten, and the oldest beyond the keep newest ones.
func (s *Shard) TakeClosed(before int64, ids []int32, keep int) []Connection {
	named := make(map[int32]bool, len(ids))
	for _, id := range ids {
		named[id] = true
	}
	extra := len(s.closed) - keep
	var taken []Connection
	kept := s.closed[:0]
	for i := range s.closed {
		c := &s.closed[i]
		if i < extra || c.LastTime < before || named[c.Flows[0].ID] || c.Flows[1] != nil && named[c.Flows[1].ID] {
			taken = append(taken, *c)
		} else {
			kept = append(kept, *c)
		}
	}
	clear(s.closed[len(kept):])
	s.closed = kept
	return taken
}

// Settle joins for good the pairs that stand now and in which one of the flows
// named is, as Finish does for all: nothing more will be heard of it.
func (s *Shard) Settle(ids []int32) {
	named := make(map[int32]bool, len(ids))
	for _, id := range ids {
		named[id] = true
	}
	seen := make(map[*group]bool)
	var found []match
	for _, id := range ids {
		if f := s.flows[id]; f != nil && f.peer == nil && !seen[f.grp] {
			seen[f.grp] = true
			found = append(found, matchGroup(f.grp, s.opt.MaxCandidates)...)
		}
	}
	for _, m := range found {
		if (named[m.f.id] || named[m.g.id]) && m.f.peer == nil && m.g.peer == nil {
			s.pair(m.f, m.g, m.method, m.confidence)
		}
	}
}
