package analysis

import "reflect"

// reasons hands out the maps that say why figures are null. Flows are null for
// the same few reasons in the same order, so their maps are shared, and never
// changed once they were handed out: at 100,000 connections one map for each
// flow would take more memory than all their counts. It belongs to one
// goroutine.
type reasons struct {
	next map[reasonStep]reasonPair
}

// reasonStep is a map with one more reason in it.
type reasonStep struct {
	from      uintptr // identity of the map, 0 for nil
	name, why string
}

// reasonPair is where a step leads to, and where from: which keeps the map
// alive whose identity the step has.
type reasonPair struct{ from, to Map[string] }

// maxReasons bounds what is shared: reasons that quote figures may be many.
const maxReasons = 4096

// with returns m and one more reason.
func (r *reasons) with(m Map[string], name, why string) Map[string] {
	step := reasonStep{reflect.ValueOf(m).Pointer(), name, why}
	if known, ok := r.next[step]; ok {
		return known.to
	}
	more := make(Map[string], len(m)+1)
	for k, v := range m {
		more[k] = v
	}
	more[name] = why
	if r.next == nil {
		r.next = make(map[reasonStep]reasonPair)
	}
	if len(r.next) < maxReasons {
		r.next[step] = reasonPair{m, more}
	}
	return more
}

// lossBounds are the bounds of every flow whose losses are known: shared, and
// never changed.
var lossBounds = Map[string]{"lost_upstream_packets": "lower", "lost_downstream_packets": "lower"}
