package taps

import (
	"cmp"
	"slices"

	"rdmascope/analysis/slab"
)

// Totals is what a caller may keep of a flow that it forgets.
type Totals struct {
	Compared, CEMissed int64 // as Result has them
	Changes            []Change
}

// Forget drops everything about a flow, so that its id may be used again: its
// packets that are remembered are compared with none that follow. What was
// changed in them goes to those of no flow (Result.Gone).
func (t *Tracker) Forget(id int32) Totals {
	var r Totals
	if id < 0 || int(id) >= t.flows.Len() {
		if id < 0 || t.table == nil {
			return r
		}
		t.flows.Grow(id) // its packets may lie in the table though none was compared
	}
	f := t.flows.At(id)
	r.Compared, r.CEMissed = int64(f.compared), int64(f.ceMissed)
	*f = flow{born: t.newest}
	kept := t.changes[:0]
	for _, c := range t.changes {
		if c.Flow != id {
			kept = append(kept, c)
			continue
		}
		r.Changes = append(r.Changes, c)
		c.Flow = -1
		if !add(&t.gone, c) {
			t.dropped++
		}
	}
	t.changes = kept
	return r
}

// Result is a tracker as it stands.
type Result struct {
	Changes []Change // by first packet
	Gone    []Change // of flows that were forgotten, together
	Dropped int64    // changes that there was no room to list

	flows slab.Slab[flow]
}

// Compared is how many sightings of a flow's packets were also seen elsewhere.
func (r *Result) Compared(id int32) int64 { return int64(r.flow(id).compared) }

// CEMissed is how many of a flow's packets were CE elsewhere only.
func (r *Result) CEMissed(id int32) int64 { return int64(r.flow(id).ceMissed) }

func (r *Result) flow(id int32) flow {
	if id < 0 || int(id) >= r.flows.Len() {
		return flow{}
	}
	return *r.flows.At(id)
}

// Result returns what is known; it shares nothing that changes.
func (t *Tracker) Result() Result {
	r := Result{Changes: slices.Clone(t.changes), Gone: slices.Clone(t.gone), Dropped: t.dropped, flows: t.flows.Clone()}
	byPacket := func(a, b Change) int { return cmp.Compare(a.FirstPacket, b.FirstPacket) }
	slices.SortStableFunc(r.Changes, byPacket)
	slices.SortStableFunc(r.Gone, byPacket)
	return r
}
