package pause

import (
	"sort"

	"rdmascope/decode/wire"
)

// StormKind is the rule that a storm meets.
type StormKind uint8

// Kinds.
const (
	KindStorm  StormKind = iota // paused all the time, and the data stopped
	KindChoppy                  // stopped and released over and over
	KindHeavy                   // paused for much of the capture
)

var stormNames = [...]string{"storm", "choppy", "heavy"}

// String returns the word used in reports.
func (k StormKind) String() string {
	if int(k) < len(stormNames) {
		return stormNames[k]
	}
	return "invalid"
}

// Storm is a pause out of proportion.
type Storm struct {
	Key
	Kind        StormKind
	StartTime   int64
	DurationNS  int64
	PausedNS    int64 // within it
	Intervals   int64
	Frames      int64
	FirstPacket int64
	Open        bool // still going when the capture ended
	// Flaps is how many further runs of storm length followed, each within the
	// restore time of the one before; LastEnd is the end of the last of them.
	Flaps   int
	LastEnd int64
	// DirectionUnknown: frames of the priority passed meanwhile of which neither
	// MACs nor the file tell whether they went towards the pauser. They were not
	// held against the storm.
	DirectionUnknown bool
	Victims          []Victim
	Root             bool
	Spread           []Hop

	row    int
	runs   []span // all of its runs, in order
	cyclic bool   // of a suspected deadlock
}

// End is when it ended.
func (s *Storm) End() int64 { return s.StartTime + s.DurationNS }

// Victim is a flow that a storm silenced.
type Victim struct {
	Part    int   // index of the TrafficResult
	Flow    int32 // the engine's number there
	QuietNS int64 // last packet before to first packet after
	Open    bool  // none after: to the capture's end
	Likely  bool  // its direction is not known, so it may have been another's fault
}

// farGap ends every run: a share of 99 % around a gap of an hour would take
// four days of pause.
const farGap = 3600 * 1e9

// span is a run of intervals of a row, first…last.
type span struct{ first, last int64 }

// storms applies the three rules to a row.
func (m *merger) storms(i int, w *Watchdogs) []Storm {
	r := &m.tl.rows[i]
	var runs []span
	for n := r.ring.first(); n < r.ring.next; {
		next := m.clean(i, n)
		if next > n {
			runs = m.longRuns(i, span{n, next - 1}, runs)
		}
		n = max(next, n+1)
	}
	sort.Slice(runs, func(a, b int) bool { return runs[a].first < runs[b].first })
	for _, s := range runs {
		if d := r.spanNS(s); d >= m.tl.opt.DetectNS+m.tl.opt.PollNS {
			w.PFCWD++
		} else {
			w.PFCWDPossible++
		}
	}
	out := m.joinFlaps(i, runs)
	out = append(out, m.choppy(i, runs)...)
	if len(out) == 0 {
		out = m.heavy(i)
	}
	return out
}

// clean returns the end of the longest stretch from interval n on into which
// no frame of the priority fell that a heeding sender wouldn't have sent: n
// itself when already its own pause was broken.
func (m *merger) clean(i int, n int64) int64 {
	r := &m.tl.rows[i]
	if m.marks(i, n)&markLate != 0 {
		return n
	}
	for k := n + 1; k < r.ring.next; k++ {
		if m.marks(i, k-1)&markGap != 0 || m.marks(i, k)&(markEarly|markLate) != 0 ||
			r.ring.get(k).start-r.ring.get(k-1).end.ns > farGap {
			return k
		}
	}
	return r.ring.next
}

// spanNS is the time from the start of the first interval to the end of the
// last one.
func (r *row) spanNS(s span) int64 {
	return roundNS(r.ring.get(s.last).end.sub(at(r.ring.get(s.first).start)))
}

// maxRuns bounds the storms of one row.
const maxRuns = 100

// longRuns finds the longest run in s that is paused for the share of a storm,
// then those in what is left on both sides, while they last long enough.
func (m *merger) longRuns(i int, s span, runs []span) []span {
	r := &m.tl.rows[i]
	work := []span{s}
	for len(work) > 0 && len(runs) < maxRuns {
		s = work[len(work)-1]
		work = work[:len(work)-1]
		if s.first > s.last || r.spanNS(s) < m.tl.opt.DetectNS {
			continue
		}
		best, ok := m.longest(r, s)
		if !ok || r.spanNS(best) < m.tl.opt.DetectNS {
			continue
		}
		runs = append(runs, best)
		work = append(work, span{s.first, best.first - 1}, span{best.last + 1, s.last})
	}
	return runs
}

// longest finds the longest run of intervals first…last within s whose paused
// share is at least opt.StormPermille. With a(k) = paused·(1000−share) −
// gap·share summed before interval k, a run i…j has that share exactly when
// a(j) + paused(j)·(1000−share) ≥ a(i); only an i whose a(i) is below those of
// all earlier ones can begin the longest run, so one pass from the right with a
// stack of them finds it.
func (m *merger) longest(r *row, s span) (best span, ok bool) {
	share := m.tl.opt.StormPermille
	n := int(s.last - s.first + 1)
	before, through := make([]int64, n), make([]int64, n)
	var sum int64
	var starts []int
	for k := range n {
		v := r.ring.get(s.first + int64(k))
		if k > 0 {
			u := r.ring.get(s.first + int64(k) - 1)
			sum -= max(0, roundNS(at(v.start).sub(u.end))) * share
		}
		before[k] = sum
		if len(starts) == 0 || sum < before[starts[len(starts)-1]] {
			starts = append(starts, k)
		}
		sum += roundNS(v.length()) * (1000 - share)
		through[k] = sum
	}
	var length int64
	for j := n - 1; j >= 0; j-- {
		for len(starts) > 0 {
			i := starts[len(starts)-1]
			if i <= j && through[j] < before[i] {
				break
			}
			starts = starts[:len(starts)-1]
			if i > j {
				continue
			}
			c := span{s.first + int64(i), s.first + int64(j)}
			if d := r.spanNS(c); !ok || d > length || d == length && c.first < best.first {
				best, length, ok = c, d, true
			}
		}
	}
	return best, ok
}

// joinFlaps makes storms of runs; those that follow within the restore time are
// one that flaps, shown as its longest run.
func (m *merger) joinFlaps(i int, runs []span) []Storm {
	r := &m.tl.rows[i]
	var out []Storm
	for _, s := range runs {
		c := m.storm(i, s, KindStorm)
		if len(out) > 0 {
			l := &out[len(out)-1]
			if r.ring.get(s.first).start-l.LastEnd < m.tl.opt.RestoreNS {
				c.Flaps = l.Flaps + 1
				c.runs = append(l.runs, s)
				if c.DurationNS <= l.DurationNS {
					l.Flaps, l.LastEnd, l.Open, l.runs = c.Flaps, c.LastEnd, c.Open, c.runs
					continue
				}
				*l = c
				continue
			}
		}
		out = append(out, c)
	}
	for k := range out {
		out[k].Victims = m.victims(&out[k])
	}
	return out
}

// storm describes a run.
func (m *merger) storm(i int, s span, kind StormKind) Storm {
	r := &m.tl.rows[i]
	a, b := r.ring.get(s.first), r.ring.get(s.last)
	st := Storm{Key: r.key, Kind: kind, StartTime: a.start, DurationNS: r.spanNS(s), Intervals: s.last - s.first + 1,
		FirstPacket: a.packet, Open: b.ending == endOpen, row: i, runs: []span{s}}
	st.LastEnd = st.End()
	var paused total
	for n := s.first; n <= s.last; n++ {
		v := r.ring.get(n)
		paused.add(v.length())
		st.Frames += int64(v.frames)
		unknown := m.marks(i, n) >> markUnknown
		if n == s.first {
			unknown &^= markEarly
		}
		if n == s.last {
			unknown &^= markGap
		}
		st.DirectionUnknown = st.DirectionUnknown || unknown != 0
	}
	st.PausedNS = paused.nanoseconds()
	return st
}

// within tells whether interval n is in one of the runs, which are in order.
func within(runs []span, n int64) bool {
	k := sort.Search(len(runs), func(k int) bool { return runs[k].last >= n })
	return k < len(runs) && runs[k].first <= n
}

// choppy finds the longest stretch of intervals ended by XON in which at least
// ChoppyCount begin within ChoppyNS at any time, storms left out.
func (m *merger) choppy(i int, runs []span) []Storm {
	r, o := &m.tl.rows[i], &m.tl.opt
	var starts []int64 // numbers of intervals ended by XON
	var best, run span
	var found, in bool
	for n := r.ring.first(); n < r.ring.next; n++ {
		if v := r.ring.get(n); v.ending != endXON || within(runs, n) {
			continue
		}
		starts = append(starts, n)
		k := len(starts) - o.ChoppyCount
		if k < 0 || r.ring.get(n).start-r.ring.get(starts[k]).start >= o.ChoppyNS {
			continue
		}
		if !in || starts[k] > run.last {
			run = span{starts[k], n}
		}
		run.last, in = n, true
		if !found || r.spanNS(run) > r.spanNS(best) {
			best, found = run, true
		}
	}
	if !found {
		return nil
	}
	return []Storm{m.storm(i, best, KindChoppy)}
}

// heavy tells of a row that was paused for much of the capture.
func (m *merger) heavy(i int) []Storm {
	r := &m.tl.rows[i]
	length := m.tl.End - m.tl.Start
	if r.ring.next == 0 || length <= 0 || length > 1<<62/1000 {
		return nil
	}
	paused := r.paused.nanoseconds()
	if paused*1000 <= length*m.tl.opt.HeavyPermille {
		return nil
	}
	s := m.storm(i, span{r.ring.first(), r.ring.next - 1}, KindHeavy)
	s.PausedNS = paused
	return []Storm{s}
}

// victims lists the flows that sent towards the pauser until the storm began
// and were silent for most of it.
func (m *merger) victims(s *Storm) []Victim {
	var l []Victim
	o := &m.tl.opt
	for _, q := range m.quiet[s.Iface] {
		if s.Priority != All && q.Priority != s.Priority {
			continue
		}
		d := directionOf(&s.Key, q.Dir, q.Src, q.Dst)
		silent := min(q.First, s.End()) - max(q.Last, s.StartTime)
		if d == dirAway || silent*100 < s.DurationNS*o.VictimPercent || s.StartTime-q.Last > o.VictimGaps*q.MedianNS {
			continue
		}
		l = append(l, Victim{Part: q.part, Flow: q.Flow, QuietNS: q.First - q.Last, Open: q.Open, Likely: d == dirUnknown})
	}
	sort.SliceStable(l, func(a, b int) bool { return l[a].QuietNS > l[b].QuietNS })
	return l
}

// sameDevice tells whether two rows are the same sender, seen at two taps.
func sameDevice(a, b *Key) bool {
	return a.Priority == b.Priority && a.MAC == b.MAC && a.MAC != wire.MAC{}
}
