package tui

import (
	"fmt"

	"rdmascope/analysis"
)

// drawPanel tells about the cell and the lane under the cursor.
func (p *pfcPage) drawPanel(u *ui, r region, l *lane) {
	from, to := p.cellSpan(u)
	r.title(fmt.Sprintf("cursor: priority %s, %s", l.prio, clock(from, decimals(int64(to-from)*100))), "", false)
	ns, frames, _ := l.within(from, to)
	line := numbers{}
	share := percent(float64(ns)/float64(max(int64(to-from), 1))) + " paused"
	if ns == 0 && l.rough && l.source != nil {
		share = "not known"
	}
	line.add("this cell", share, plain)
	if !l.rough {
		line.add("pauses with", plural(frames, "frame"), plain)
	}
	r.spans(1, 1, line...)
	y := 2
	if s := l.source; s != nil {
		r.spans(1, y, sourceNumbers(s)...)
		y++
	}
	if l.rough && l.source != nil {
		r.print(1, y, faint, "only storms are drawn: when else it paused was not kept for this input")
		y++
	}
	for _, t := range stormLines(u.snap, l) {
		r.print(1, y, t.look, cut(clean(t.text), r.w-2))
		y++
	}
	if speed := speedText(u.snap); speed != "" && y < r.h {
		r.print(1, y, faint, cut(speed, r.w-2))
	}
}

func sourceNumbers(s *analysis.PFCSource) []span {
	n := numbers{}
	n.add("whole capture: XOFF", count(s.XOFFFrames), plain)
	n.add("XON", count(s.XONFrames), plain)
	n.add("paused", orUnknown(s.PausedNS, duration), plain)
	n.add("longest", orUnknown(s.LongestPauseNS, duration), plain)
	if s.MalformedFrames > 0 {
		n.add("malformed", count(s.MalformedFrames), warning)
	}
	return n
}

// stormLines are the storms of a lane with their victims.
func stormLines(s *analysis.Snapshot, l *lane) []span {
	var out []span
	for i := range s.PFC.Storms {
		t := &s.PFC.Storms[i]
		if t.Interface != l.iface || t.EthSrc != l.eth || t.Priority != l.prio {
			continue
		}
		text := fmt.Sprintf("✖ %s from %s for %s, %s, %s silent", t.Kind, clock(t.StartTime, 3), duration(t.DurationNS),
			plural(t.Frames, "frame"), plural(int64(len(t.Victims)), "connection"))
		for k, v := range t.Victims {
			if k == 2 {
				break
			}
			if c := connectionByID(s, v.ConnectionID); c != nil {
				text += "  " + connName(c)
			}
		}
		out = append(out, span{critical, text})
	}
	return out
}

func speedText(s *analysis.Snapshot) string {
	switch {
	case s.PFC.LinkSpeedBps == nil:
		return ""
	case s.PFC.LinkSpeedFrom == "assumed":
		return "pause times counted at " + bitRate(*s.PFC.LinkSpeedBps) + ", assumed: if wrong, all are wrong in proportion (--link-speed)"
	}
	return "pause times counted at " + bitRate(*s.PFC.LinkSpeedBps) + ", from " + string(s.PFC.LinkSpeedFrom)
}
