package pause

import "sort"

// Hop is one pause of a chain.
type Hop struct {
	Key
	StartTime  int64
	DurationNS int64
	Packet     int64
}

// Spread is a chain of pauses over interfaces, below storm length: each began
// while the one before it was on, at most the cause window later.
type Spread struct {
	Path []Hop // in order; the first is the root
}

// Root is a sender of pauses that caused others and was caused by none.
type Root struct {
	Key
	Pauses int64 // of which it had
	Spread int64 // that many others followed
}

// event is an interval in the merged order of all rows.
type event struct {
	row int
	hop Hop
	end int64
}

// chain is a Spread that may still grow.
type chain struct {
	path       []Hop
	root, last int   // rows of the first and of the newest
	end        int64 // of the newest member
}

func (c *chain) newest() *Hop { return &c.path[len(c.path)-1] }

// chainer builds chains from events in order.
type chainer struct {
	*merger
	opt     *Options
	active  []*chain
	done    []Spread
	omitted int64
	rows    []struct{ pauses, caused, led int64 }
}

// spreads finds chains over interfaces, and who began them. A pause joins the
// chain whose newest member began last, at most CauseNS ago on another
// interface, and is still on; where the port map knows both it must stop the
// device that pauses now. Pauses of storms have their own spread.
func (m *merger) spreads(storms []Storm) (chains []Spread, roots []Root, omitted int64) {
	c := chainer{merger: m, opt: &m.tl.opt, rows: make([]struct{ pauses, caused, led int64 }, len(m.tl.rows))}
	events := m.events(storms)
	for i := range events {
		c.take(&events[i])
	}
	for _, a := range c.active {
		c.finish(a)
	}
	sort.SliceStable(c.done, func(i, j int) bool { return c.done[i].Path[0].StartTime < c.done[j].Path[0].StartTime })
	for i, s := range c.rows {
		if s.led > 0 && s.caused*100 < s.pauses*m.tl.opt.CausePercent {
			roots = append(roots, Root{m.tl.rows[i].key, s.pauses, s.led})
		}
	}
	sort.SliceStable(roots, func(i, j int) bool {
		if roots[i].Spread != roots[j].Spread {
			return roots[i].Spread > roots[j].Spread
		}
		return roots[i].less(roots[j].Key)
	})
	return c.done, roots, c.omitted
}

// take adds a pause to the chain that may have caused it, or begins one.
func (c *chainer) take(e *event) {
	c.retire(e)
	var best *chain
	for _, a := range c.active {
		if twin(a.path, e) {
			return // the same pause, seen at another tap
		}
		if leads, told := c.leads(a.last, e.row); told && !leads {
			continue // it stops another device than the one that pauses now
		}
		if a.end > e.hop.StartTime && !onIface(a.path, e.hop.Iface) && (best == nil || a.newest().StartTime >= best.newest().StartTime) {
			best = a
		}
	}
	c.rows[e.row].pauses++
	if best != nil {
		c.rows[e.row].caused++
		best.path, best.last, best.end = append(best.path, e.hop), e.row, e.end
		return
	}
	if len(c.active) >= maxActive {
		c.finish(c.active[0])
		c.active = append(c.active[:0], c.active[1:]...)
	}
	c.active = append(c.active, &chain{[]Hop{e.hop}, e.row, e.row, e.end})
}

// retire ends the chains that e and what follows can't join any more.
func (c *chainer) retire(e *event) {
	kept := c.active[:0]
	for _, a := range c.active {
		if e.hop.StartTime-a.newest().StartTime > c.opt.CauseNS || e.hop.Priority != a.path[0].Priority {
			c.finish(a)
			continue
		}
		kept = append(kept, a)
	}
	c.active = kept
}

func (c *chainer) finish(a *chain) {
	if len(a.path) < 2 {
		return
	}
	c.rows[a.root].led++
	if len(c.done) >= c.opt.MaxSpread {
		c.omitted++
		return
	}
	c.done = append(c.done, Spread{a.path})
}

// maxActive bounds the chains that a pause may join.
const maxActive = 64

// events are the kept intervals of all rows by priority and start, without
// those of storms.
func (m *merger) events(storms []Storm) []event {
	runs := make([][]span, len(m.tl.rows))
	for k := range storms {
		if s := &storms[k]; s.Kind == KindStorm {
			runs[s.row] = append(runs[s.row], s.runs...)
		}
	}
	var l []event
	for i := range m.tl.rows {
		r := &m.tl.rows[i]
		for n := r.ring.first(); n < r.ring.next; n++ {
			if within(runs[i], n) {
				continue
			}
			v := r.ring.get(n)
			d := roundNS(v.length())
			l = append(l, event{row: i, hop: Hop{r.key, v.start, d, v.packet}, end: v.start + d})
		}
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := &l[i].hop, &l[j].hop
		switch {
		case a.Priority != b.Priority:
			return a.Priority < b.Priority
		case a.StartTime != b.StartTime:
			return a.StartTime < b.StartTime
		}
		return a.less(b.Key)
	})
	return l
}

func onIface(path []Hop, iface uint16) bool {
	for i := range path {
		if path[i].Iface == iface {
			return true
		}
	}
	return false
}

// twin tells whether a chain has this very pause from another tap: the same
// sender, and as long within 1 %.
func twin(path []Hop, e *event) bool {
	for i := range path {
		h := &path[i]
		diff := h.DurationNS - e.hop.DurationNS
		if sameDevice(&h.Key, &e.hop.Key) && h.Iface != e.hop.Iface && max(diff, -diff)*100 <= h.DurationNS {
			return true
		}
	}
	return false
}

// roots says of each storm whether it began first and was not itself paused,
// and who was paused after it began.
func (m *merger) roots(storms []Storm) {
	for k := range storms {
		s := &storms[k]
		if s.Kind != KindStorm {
			continue
		}
		s.Root = !s.cyclic
		for j := range storms {
			o := &storms[j]
			if j == k || o.Kind != KindStorm || o.Priority != s.Priority || m.sameSender(o.row, s.row) {
				continue
			}
			if leads, told := m.leads(o.row, s.row); told && !leads {
				continue
			}
			if o.StartTime < s.StartTime && o.End() > s.StartTime {
				s.Root = false
			}
		}
		s.Spread = m.after(s)
	}
}

// after lists the rows of a storm's priority that began to be paused during it
// and from then on were so for at least half of what was left of it.
func (m *merger) after(s *Storm) []Hop {
	var l []Hop
	for i := range m.tl.rows {
		r := &m.tl.rows[i]
		if i == s.row || r.key.Priority != s.Priority || m.sameSender(i, s.row) {
			continue
		}
		n := r.ring.from(s.StartTime)
		if n > r.ring.first() && at(s.StartTime).before(r.ring.get(n-1).end) {
			continue // it was paused already
		}
		if n == r.ring.next || r.ring.get(n).start >= s.End() {
			continue
		}
		if v := r.ring.get(n); 2*r.overlap(v.start, s.End()) >= s.End()-v.start {
			l = append(l, Hop{r.key, v.start, roundNS(v.length()), v.packet})
		}
	}
	sort.SliceStable(l, func(i, j int) bool {
		if l[i].StartTime != l[j].StartTime {
			return l[i].StartTime < l[j].StartTime
		}
		return l[i].less(l[j].Key)
	})
	return l
}
