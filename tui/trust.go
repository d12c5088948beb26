package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// trustLine is one thing that limits a capture's worth as evidence.
type trustLine struct {
	look look // good, warning, critical, or faint for "not judged"
	name string
	text string
}

func (t trustLine) glyph() string {
	switch t.look {
	case good:
		return "✔"
	case faint:
		return unknown
	case notice:
		return "●"
	case critical:
		return "✖"
	}
	return "▲"
}

// trustLines say how far the capture can be trusted, what matters first.
func trustLines(s *analysis.Snapshot) []trustLine {
	c := &s.Capture
	out := []trustLine{gradeLine(c)}
	zero := func(name string, n int64, noun, meaning string) {
		if n == 0 {
			out = append(out, trustLine{good, name, "none"})
			return
		}
		out = append(out, trustLine{warning, name, plural(n, noun) + ": " + meaning})
	}
	out = append(out, cutLine(s))
	if c.UnseenPackets != nil {
		zero("unseen", *c.UnseenPackets, "packet", "delivered, but the capture lacks them")
	} else {
		out = append(out, trustLine{faint, "unseen", "not judged"})
	}
	out = append(out, oneWayLine(s), clockLine(c))
	zero("snap length", c.SnaplenCutPackets, "packet", "cut short: headers analysed, iCRC not checked")
	zero("malformed", c.MalformedPackets, "packet", "contradict their own headers")
	if c.UntrustedPackets > 0 {
		out = append(out, trustLine{warning, "untrusted", plural(c.UntrustedPackets, "packet") + ": corrupt, to queue pairs not known; in no connection"})
	}
	if c.DuplicatePackets != nil && *c.DuplicatePackets > 0 {
		out = append(out, trustLine{notice, "copies", plural(*c.DuplicatePackets, "packet") + ": seen twice, left out of the judgement"})
	}
	out = append(out, pauseLine(s))
	if c.UnknownPackets > 0 {
		out = append(out, trustLine{warning, "not decoded", plural(c.UnknownPackets, "packet") + " with values no rule knows"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Evictions)) {
		if n := c.Evictions[name]; n > 0 {
			out = append(out, trustLine{warning, "evicted", count(n) + " of the full table " + name})
		}
	}
	return out
}

func gradeLine(c *analysis.Capture) trustLine {
	l := map[string]look{analysis.GradeGood: good, analysis.GradeLimited: warning, analysis.GradePoor: critical}[c.Grade]
	if c.Grade == "" {
		return trustLine{faint, "evidence", "not graded yet"}
	}
	text := c.Grade
	if len(c.GradeReasons) > 0 {
		text += ": " + strings.Join(c.GradeReasons, "; ")
	}
	return trustLine{l, "evidence", text}
}

// dropLines tell what the recorder missed.
func (u *ui) dropLines() []trustLine {
	if u.isLive() {
		return liveTrust(&u.session)
	}
	return []trustLine{dropLine(&u.snap.Capture)}
}

func dropLine(c *analysis.Capture) trustLine {
	const name = "dropped"
	switch {
	case c.KernelDroppedPackets == nil:
		return trustLine{faint, name, "the file does not tell"}
	case *c.KernelDroppedPackets == 0:
		return trustLine{good, name, "none, as the recorder tells"}
	}
	return trustLine{warning, name, plural(*c.KernelDroppedPackets, "packet") + " by the recorder"}
}

func cutLine(s *analysis.Snapshot) trustLine {
	for i := range s.Inputs {
		if in := &s.Inputs[i]; in.Error != "" {
			return trustLine{warning, "cut short", string(in.Error)}
		}
	}
	return trustLine{good, "cut short", "no"}
}

func clockLine(c *analysis.Capture) trustLine {
	switch {
	case c.Packets > 0 && !c.StartTime.Known():
		return trustLine{warning, "clock", "the file carries no timestamps"}
	case c.BackwardTimestamps > 0:
		return trustLine{warning, "clock", plural(c.BackwardTimestamps, "timestamp") + " ran backwards"}
	}
	return trustLine{good, "clock", "monotonic"}
}

// oneWayLine tells where one direction is missing.
func oneWayLine(s *analysis.Snapshot) trustLine {
	n, of := s.OneWay()
	switch {
	case of == 0:
		return trustLine{faint, "one-way", "no reliable connection"}
	case n == 0:
		return trustLine{good, "one-way", "none of " + plural(of, "connection")}
	}
	return trustLine{warning, "one-way", fmt.Sprintf("%s of %s: no loss, no latency there", count(n), plural(of, "connection"))}
}

func pauseLine(s *analysis.Snapshot) trustLine {
	if !s.Capture.PFCVisible {
		return trustLine{faint, "pauses", "not visible at this capture point"}
	}
	return trustLine{good, "pauses", "visible"}
}

// drawTrust draws as many lines as fit, what is wrong before what is well.
func drawTrust(r region, u *ui, lines []trustLine) {
	lines = slices.Clone(lines)
	if u.snap.Capture.Packets == 0 {
		if !u.isLive() {
			r.print(1, 0, faint, noneYet(u)+": no packet was read")
			return
		}
		lines = u.dropLines() // of a capture without packets that is all there is to say
	}
	cols := 1
	if r.w >= 100 {
		cols = 2
	}
	if room := r.h * cols; len(lines) > room {
		slices.SortStableFunc(lines[1:], func(a, b trustLine) int { return trustOrder(a) - trustOrder(b) })
		lines = lines[:room]
	}
	w := r.w / cols
	rows := (len(lines) + cols - 1) / cols
	for i, l := range lines {
		x := 1 + i/rows*w
		at := region{r.s, r.t, r.x + x, r.y + i%rows, w - 2, 1}
		at.print(0, 0, l.look, l.glyph())
		at.print(2, 0, plain, l.name)
		text := faint
		if l.look == warning || l.look == critical {
			text = plain
		}
		at.print(15, 0, text, cut(clean(l.text), at.w-15))
	}
}

func trustOrder(t trustLine) int {
	switch t.look {
	case critical:
		return 0
	case warning:
		return 1
	case notice, faint:
		return 2
	}
	return 3
}
