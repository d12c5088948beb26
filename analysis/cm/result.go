package cm

import (
	"sort"
)

// Result is what a tracker knows at some time. It shares nothing with the
// tracker that changes later.
type Result struct {
	Dialogues []Dialogue // by first packet
	Evicted   int64      // dialogues dropped for want of room
	// Expired are dialogues dropped because they were idle for long, by the state
	// that they had come to. Their messages stay in MADs.
	Expired [NoReply + 1]int64
	MADs    []MADCount // by class, then attribute
	Faults  Faults
}

// Result returns the dialogues as they stand at time now, the newest time that
// the capture has reached: it decides which requests are past their time.
func (t *Tracker) Result(now int64) Result {
	r := Result{Evicted: t.evicted, Expired: t.expired, MADs: t.mads.list(), Faults: t.faults}
	r.Dialogues = make([]Dialogue, 0, len(t.entries)-len(t.free))
	for i := t.oldest; i != none; i = t.entries[i].next {
		d := t.entries[i].Dialogue
		if d.noReply(now) {
			d.State = NoReply
		}
		if d.Reject != nil {
			c := *d.Reject
			d.Reject = &c
		}
		r.Dialogues = append(r.Dialogues, d)
	}
	sortDialogues(r.Dialogues)
	return r
}

func sortDialogues(l []Dialogue) {
	sort.SliceStable(l, func(i, j int) bool { return l[i].FirstPacket < l[j].FirstPacket })
}

// Merge joins the results of several trackers.
func Merge(rs ...Result) Result {
	var out Result
	var m madCounts
	for i := range rs {
		out.Dialogues = append(out.Dialogues, rs[i].Dialogues...)
		out.Evicted += rs[i].Evicted
		for k, n := range rs[i].Expired {
			out.Expired[k] += n
		}
		out.Faults.add(rs[i].Faults)
		for _, c := range rs[i].MADs {
			m.add(c.Class, c.Attribute, c.Count)
		}
	}
	sortDialogues(out.Dialogues)
	out.MADs = m.list()
	return out
}
