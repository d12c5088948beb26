package tui

import "rdmascope/analysis"

// window is the part of the capture's time that is looked at. All pages
// follow it, and say so beside the breadcrumbs: what it hides must not look
// as if it were not there.
type window struct {
	from, to analysis.Time // both 0: all
	rolling  int64         // ns before the end; 0: fixed
	idle     int64         // ns for which a capture had no packet, in whole seconds: its end is that much later
}

// rolls are the steps of the rolling window.
var rolls = []struct {
	ns   int64
	name string
}{{0, "all"}, {10e9, "last 10 s"}, {60e9, "last 1 min"}, {600e9, "last 10 min"}}

// roll goes to the next step and names it.
func (w *window) roll() string {
	next := 1
	for i, r := range rolls {
		if w.rolling == r.ns && w.from == 0 {
			next = (i + 1) % len(rolls)
		}
	}
	*w = window{rolling: rolls[next].ns}
	return rolls[next].name
}

// all tells that nothing is hidden.
func (w window) all() bool { return w.from == 0 && w.to == 0 && w.rolling == 0 }

// span is the window's two ends in this snapshot.
func (w window) span(s *analysis.Snapshot) (from, to analysis.Time) {
	from, to = s.Capture.StartTime, s.Capture.EndTime
	switch {
	case w.rolling > 0:
		to += analysis.Time(w.idle)
		return max(from, to-analysis.Time(w.rolling)), to
	case w.from != 0 || w.to != 0:
		return w.from, w.to
	}
	return from, to
}

// minWindow is the shortest window in ns; below it a plot shows nothing.
const minWindow = 1000

// zoom scales the window around its middle, within the capture.
func (w *window) zoom(s *analysis.Snapshot, factor float64) {
	from, to := w.span(s)
	w.zoomAt(s, factor, from+(to-from)/2)
}

// zoomAt scales the window around a moment, which stays in its place.
func (w *window) zoomAt(s *analysis.Snapshot, factor float64, at analysis.Time) {
	from, to := w.span(s)
	if to <= from {
		return
	}
	length := max(int64(float64(to-from)*factor), minWindow)
	before := int64(float64(at-from) * factor)
	w.set(s, at-analysis.Time(before), at-analysis.Time(before)+analysis.Time(length))
}

// shift moves the window by a share of its length.
func (w *window) shift(s *analysis.Snapshot, share float64) {
	if w.all() {
		return
	}
	from, to := w.span(s)
	d := analysis.Time(float64(to-from) * share)
	d = max(d, s.Capture.StartTime-from)
	d = min(d, s.Capture.EndTime-to)
	w.set(s, from+d, to+d)
}

func (w *window) set(s *analysis.Snapshot, from, to analysis.Time) {
	from, to = max(from, s.Capture.StartTime), min(to, s.Capture.EndTime)
	if from <= s.Capture.StartTime && to >= s.Capture.EndTime {
		*w = window{}
		return
	}
	*w = window{from: from, to: to}
}

// shows tells whether something that lasted from first to last is in the
// window. What has no time is always shown.
func (w window) shows(s *analysis.Snapshot, first, last analysis.Time) bool {
	if w.all() || !first.Known() {
		return true
	}
	from, to := w.span(s)
	return max(last, first) >= from && first <= to
}

// text names the window, "" when all is shown.
func (w window) text(s *analysis.Snapshot) string {
	if w.all() {
		return ""
	}
	for _, r := range rolls {
		if w.rolling > 0 && w.rolling == r.ns {
			return r.name
		}
	}
	from, to := w.span(s)
	return "window " + clock(from, decimals(int64(to-from))) + " +" + duration(int64(to-from))
}

// decimals is how many decimals of the second tell moments apart when the
// whole screen lasts so long.
func decimals(ns int64) int {
	switch {
	case ns >= 100e9:
		return 0
	case ns >= 1e9:
		return 2
	case ns >= 1e6:
		return 5
	}
	return 8
}
