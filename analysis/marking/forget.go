package marking

// Forget drops everything about a flow, so that its id may be used again. What
// its CNPs did to other flows goes too, and so does its part in their pacing.
// The caller takes what it wants to keep with Flow, before.
func (t *Tracker) Forget(id int32) {
	if id >= t.n {
		return
	}
	f := t.flows.At(id)
	t.unpeer(id)
	cnps := false
	if f.cong != 0 {
		c := t.congs[f.cong-1]
		cnps = c.cnps != nil
		t.links -= len(c.links)
		*c = congestion{}
		t.freeCongs = append(t.freeCongs, f.cong-1)
	}
	if f.pair != 0 {
		t.leave(f.pair-1, id, f.is&flowData != 0, cnps)
	}
	// Links that name the flow by its id are not looked for: its new owner is
	// of another generation, and they go when room is needed or with their own
	// flows.
	*f = flow{gen: f.gen + 1}
	*t.odd.At(id) = oddMarks{}
}

// leave takes a flow out of its host pair; the last one takes the pair along.
func (t *Tracker) leave(i, id int32, data, cnps bool) {
	pr := t.pairs.At(i)
	if pr.live--; pr.live > 0 {
		if data {
			pr.remove(id)
		}
		if cnps && pr.cnps != nil {
			t.paced -= pr.cnps.drop(id)
		}
		return
	}
	delete(t.index, pr.key)
	if pr.back != none {
		t.pairs.At(pr.back).back = none
	}
	if pr.cnps != nil {
		t.paced -= len(pr.cnps.events)
	}
	*pr = pair{back: none}
	t.freePairs = append(t.freePairs, i)
}

// remove takes a flow out of the list of those that CNPs may mean.
func (pr *pair) remove(id int32) {
	for k, other := range pr.flows {
		if other == id {
			pr.flows = append(pr.flows[:k], pr.flows[k+1:]...)
			return
		}
	}
}
