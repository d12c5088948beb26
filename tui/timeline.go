package tui

import (
	"strings"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// timelineRows is how many rows the timeline takes with its axis when each
// series has so many: its series, and where the findings are, which the
// snapshot always tells.
func timelineRows(t *Timeline, each int) int {
	n := 2
	if t != nil {
		for i := range t.Series {
			n += seriesRows(&t.Series[i], each)
		}
	}
	return n
}

// seriesRows is one for a series that is nothing throughout, however much room
// there is.
func seriesRows(s *Series, each int) int {
	for _, v := range s.Values {
		if v > 0 {
			return each
		}
	}
	return 1
}

const timelineLabel = 15 // columns left of the axis

// drawTimeline draws the window over the width: each series as bars, each
// finding at its time.
func drawTimeline(u *ui, r region, cursor int, focus bool) {
	from, to := u.window.span(u.snap)
	w := r.w - timelineLabel - 2
	if w < 10 || r.h < 2 {
		return
	}
	if !from.Known() || to <= from {
		r.print(1, 0, faint, "no times yet")
		return
	}
	y := 0
	t := timelineOf(u)
	if t != nil {
		each := 1
		for timelineRows(t, each+1) <= r.h {
			each++
			if timelineRows(t, each+1) == timelineRows(t, each) {
				break // nothing but empty series
			}
		}
		for i := range t.Series {
			if n := seriesRows(&t.Series[i], each); y+n <= r.h-2 {
				drawSeries(r.rows(y, n), t, &t.Series[i], from, to, w)
				y += n
			}
		}
	}
	drawFindingStrip(u, r.rows(y, 1), from, to, w)
	y++
	drawTimeAxis(r.rows(y, 1), u.snap, from, to, w)
	if focus {
		for line := range y {
			r.restyle(timelineLabel+1+cursor, line, 1, cell)
		}
		at := plot.Axis{Min: int64(from), Max: int64(to), N: w}.Value(cursor)
		r.printRight(y, heading, clock(analysis.Time(at), decimals(int64(to-from))+1)+" ")
	}
}

func timelineOf(u *ui) *Timeline {
	if u.opt.Details == nil {
		return nil
	}
	return u.opt.Details.Timeline(u.snap)
}

func drawSeries(r region, t *Timeline, s *Series, from, to analysis.Time, w int) {
	bin := max(t.BinNS, 1)
	a := float64(from-t.Start) / float64(bin)
	b := float64(to-t.Start) / float64(bin)
	values := plot.Rebin(s.Values, a, b, w)
	top := int64(0)
	for _, v := range values {
		top = max(top, v)
	}
	if s.Unit == UnitPerMille {
		top = 1000
	}
	label := s.Name
	scale := seriesScale(s.Unit, top)
	r.print(1, 0, plain, cut(clean(label), timelineLabel-2))
	if n := columns(label) + columns(scale) + 2; n < timelineLabel {
		r.print(timelineLabel-1-columns(scale), 0, faint, scale)
	}
	l := barLook
	if s.Unit == UnitPerMille {
		l = pauseShade
	}
	for y := range r.h {
		r.print(timelineLabel, y, faint, "│")
		for x, ru := range plot.Spark(slice(values, top, r.h, r.h-1-y), 1000, r.t.level) {
			at := l
			if ru == '·' {
				at = faint
			}
			r.put(timelineLabel+1+x, y, ru, r.t.style(at))
		}
	}
}

// slice is what of each value lies in the nth of h layers, in thousandths of
// the layer.
func slice(values []int64, top int64, h, n int) []int64 {
	if top <= 0 {
		return values
	}
	out := make([]int64, len(values))
	for i, v := range values {
		if v < 0 {
			out[i] = v
			continue
		}
		full := float64(v) / float64(top) * float64(h) * 1000
		out[i] = int64(min(max(full-float64(n)*1000, 0), 1000))
		if n == 0 && v > 0 {
			out[i] = max(out[i], 1)
		}
	}
	return out
}

func seriesScale(u Unit, top int64) string {
	switch u {
	case UnitBits:
		return strings.ReplaceAll(strings.TrimSuffix(bitRate(top), "b/s"), " ", "")
	case UnitPerMille:
		return "%"
	}
	return short(top)
}

// drawFindingStrip marks when findings were, the worst on top.
func drawFindingStrip(u *ui, r region, from, to analysis.Time, w int) {
	r.print(1, 0, plain, "findings")
	r.print(timelineLabel, 0, faint, "│")
	axis := plot.Axis{Min: int64(from), Max: int64(to), N: w}
	rank := make([]analysis.Severity, w)
	for i := range u.snap.Findings {
		f := &u.snap.Findings[i]
		if !f.FirstTime.Known() {
			continue
		}
		last := max(f.LastTime, f.FirstTime)
		for x := max(axis.At(int64(f.FirstTime)), 0); x <= min(axis.At(int64(last)), w-1); x++ {
			if f.Severity.Rank() > rank[x].Rank() {
				rank[x] = f.Severity
			}
		}
	}
	for x, s := range rank {
		if s != "" {
			r.print(timelineLabel+1+x, 0, severityLook(s), severityGlyph(s))
		} else {
			r.print(timelineLabel+1+x, 0, faint, "·")
		}
	}
}

// drawTimeAxis writes the ends and the middle of a time axis.
func drawTimeAxis(r region, s *analysis.Snapshot, from, to analysis.Time, w int) {
	n := decimals(int64(to - from))
	r.print(timelineLabel, 0, faint, "└")
	r.print(timelineLabel+1, 0, faint, clock(from, n))
	end := clock(to, n)
	r.print(timelineLabel+1+w-columns(end), 0, faint, end)
	if mid := clock(from+(to-from)/2, n); w > 4*columns(mid) {
		r.print(timelineLabel+1+(w-columns(mid))/2, 0, faint, mid)
	}
}
