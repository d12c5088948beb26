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
	row  int
	n    int64
	hop  Hop
	end  int64
	deep bool // another's pause caused it
}

// spreads finds chains over interfaces, and who began them. A pause joins the
// chain whose newest member began last, at most CauseNS ago on another
// interface, and is still on. Pauses of storms have their own spread.
func (m *merger) spreads(storms []Storm) (chains []Spread, roots []Root, omitted int64) {
	events := m.events(storms)
	type chain struct {
		path []Hop
		end  int64 // of the newest member
	}
	stat := make([]struct{ pauses, deep, led int64 }, len(m.tl.rows))
	var active []*chain
	finish := func(c *chain) {
		if len(c.path) < 2 {
			return
		}
		stat[rowOf(m, &c.path[0].Key)].led++
		if len(chains) >= m.tl.opt.MaxSpread {
			omitted++
			return
		}
		chains = append(chains, Spread{c.path})
	}
	for i := range events {
		e := &events[i]
		kept := active[:0]
		for _, c := range active {
			if e.hop.StartTime-c.path[len(c.path)-1].StartTime > m.tl.opt.CauseNS || e.hop.Priority != c.path[0].Priority {
				finish(c)
				continue
			}
			kept = append(kept, c)
		}
		active = kept
		var best *chain
		seen := false // the same device's pause at another tap
		for k := len(active) - 1; k >= 0; k-- {
			c := active[k]
			if twin(c.path, e) {
				seen = true
				break
			}
			if c.end > e.hop.StartTime && !onIface(c.path, e.hop.Iface) &&
				(best == nil || c.path[len(c.path)-1].StartTime > best.path[len(best.path)-1].StartTime) {
				best = c
			}
		}
		if seen {
			continue
		}
		stat[e.row].pauses++
		if best != nil {
			stat[e.row].deep++
			best.path, best.end = append(best.path, e.hop), e.end
			continue
		}
		if len(active) >= maxActive {
			finish(active[0])
			active = append(active[:0], active[1:]...)
		}
		active = append(active, &chain{[]Hop{e.hop}, e.end})
	}
	for _, c := range active {
		finish(c)
	}
	sort.SliceStable(chains, func(i, j int) bool { return chains[i].Path[0].StartTime < chains[j].Path[0].StartTime })
	for i, s := range stat {
		if s.led > 0 && s.deep*100 < s.pauses*m.tl.opt.CausePercent {
			roots = append(roots, Root{m.tl.rows[i].key, s.pauses, s.led})
		}
	}
	sort.SliceStable(roots, func(i, j int) bool {
		if roots[i].Spread != roots[j].Spread {
			return roots[i].Spread > roots[j].Spread
		}
		return roots[i].less(roots[j].Key)
	})
	return chains, roots, omitted
}

// maxActive bounds the chains that a pause may join.
const maxActive = 64

// events are the kept intervals of all rows by priority and start, without
// those of storms.
func (m *merger) events(storms []Storm) []event {
	var l []event
	for i := range m.tl.rows {
		r := &m.tl.rows[i]
		for n := r.ring.first(); n < r.ring.next; n++ {
			v := r.ring.get(n)
			if inStorms(storms, i, n) {
				continue
			}
			d := roundNS(v.length())
			l = append(l, event{row: i, n: n, hop: Hop{r.key, v.start, d, v.packet}, end: v.start + d})
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

func inStorms(storms []Storm, row int, n int64) bool {
	for k := range storms {
		if s := &storms[k]; s.Kind == KindStorm && s.row == row && s.first <= n && n <= s.last {
			return true
		}
	}
	return false
}

func rowOf(m *merger, k *Key) int {
	for i := range m.tl.rows {
		if m.tl.rows[i].key == *k {
			return i
		}
	}
	return 0
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
			if j == k || o.Kind != KindStorm || o.Priority != s.Priority || sameDevice(&o.Key, &s.Key) {
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
		if i == s.row || r.key.Priority != s.Priority || sameDevice(&r.key, &s.Key) {
			continue
		}
		for n := r.ring.first(); n < r.ring.next; n++ {
			v := r.ring.get(n)
			if v.start >= s.End() {
				break
			}
			if at(s.StartTime).before(v.end) && v.start < s.StartTime {
				break // it was paused already
			}
			if v.start < s.StartTime {
				continue
			}
			if 2*r.overlap(v.start, s.End()) >= s.End()-v.start {
				l = append(l, Hop{r.key, v.start, roundNS(v.length()), v.packet})
			}
			break
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
