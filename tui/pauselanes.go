package tui

import (
	"cmp"
	"slices"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// lane is one row of the pause heat map.
type lane struct {
	iface, eth string
	prio       analysis.Priority
	source     *analysis.PFCSource // nil for a priority that was never paused
	spans      []PauseSpan
	rough      bool // spans are the storms alone: when else it paused is not known
}

// notKnown is the share of a cell of a lane whose single pauses were not
// kept; it must not look like "not paused".
const notKnown = -1

// port is the lanes of one sender.
type port struct {
	iface, eth string
	lanes      []lane
}

// pausePorts groups the senders of pauses; all adds the priorities that
// were never paused, so that the eye finds a priority at its place.
func pausePorts(u *ui, all bool) []port {
	var kept []PauseLane
	if u.opt.Details != nil {
		kept = u.opt.Details.Pauses(u.snap)
	}
	var out []port
	for i := range u.snap.PFC.Sources {
		s := &u.snap.PFC.Sources[i]
		l := lane{iface: s.Interface, eth: s.EthSrc, prio: s.Priority, source: s}
		l.spans, l.rough = spansOf(u.snap, kept, &l)
		at := slices.IndexFunc(out, func(p port) bool { return p.iface == s.Interface && p.eth == s.EthSrc })
		if at < 0 {
			out = append(out, port{iface: s.Interface, eth: s.EthSrc})
			at = len(out) - 1
		}
		out[at].lanes = append(out[at].lanes, l)
	}
	for i := range out {
		if all {
			out[i].fill()
		}
		slices.SortStableFunc(out[i].lanes, func(a, b lane) int { return cmp.Compare(a.prio, b.prio) })
	}
	slices.SortStableFunc(out, func(a, b port) int { return cmp.Compare(b.paused(), a.paused()) })
	return out
}

// spansOf finds a lane's intervals; where none were kept its storms stand in.
func spansOf(s *analysis.Snapshot, kept []PauseLane, l *lane) (spans []PauseSpan, rough bool) {
	for i := range kept {
		if k := &kept[i]; k.Interface == l.iface && k.EthSrc == l.eth && k.Priority == l.prio {
			return k.Spans, false
		}
	}
	for i := range s.PFC.Storms {
		t := &s.PFC.Storms[i]
		if t.Interface == l.iface && t.EthSrc == l.eth && t.Priority == l.prio {
			spans = append(spans, PauseSpan{Start: t.StartTime, NS: t.DurationNS, Frames: t.Frames})
		}
	}
	return spans, true
}

func (p *port) fill() {
	for prio := range analysis.Priority(8) {
		if !slices.ContainsFunc(p.lanes, func(l lane) bool { return l.prio == prio }) {
			p.lanes = append(p.lanes, lane{iface: p.iface, eth: p.eth, prio: prio})
		}
	}
}

func (p *port) paused() (ns int64) {
	for i := range p.lanes {
		if s := p.lanes[i].source; s != nil {
			ns = max(ns, value(s.PausedNS))
		}
	}
	return ns
}

// shares is how much of each of n cells between from and to a lane was
// paused.
func (l *lane) shares(from, to analysis.Time, n int) []float64 {
	out := make([]float64, n)
	if to <= from || n == 0 {
		return out
	}
	width := float64(to-from) / float64(n)
	for _, s := range l.spans {
		a := (float64(s.Start) - float64(from)) / width
		b := a + float64(s.NS)/width
		for i := max(int(a), 0); i < n && float64(i) < b; i++ {
			out[i] += max(min(b, float64(i+1))-max(a, float64(i)), 0)
		}
	}
	for i := range out {
		out[i] = min(out[i], 1)
		if l.rough && l.source != nil && out[i] == 0 {
			out[i] = notKnown
		}
	}
	return out
}

// within sums up a lane's spans that touch an interval.
func (l *lane) within(from, to analysis.Time) (ns, frames, packet int64) {
	for _, s := range l.spans {
		a, b := max(s.Start, from), min(s.Start+analysis.Time(s.NS), to)
		if b > a {
			ns += int64(b - a)
			frames += s.Frames
			if packet == 0 {
				packet = s.Packet
			}
		}
	}
	return ns, frames, packet
}

// drawHeat draws a lane's cells.
func (r region) drawHeat(x, y int, shares []float64) {
	for i, s := range shares {
		if s == notKnown {
			continue
		}
		st := r.t.hot(s)
		if s == 0 {
			st = r.t.style(faint)
		}
		r.put(x+i, y, plot.Shade(s, r.t.level), st)
	}
}
