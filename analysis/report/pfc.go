package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// pauseFilter selects 802.3x PAUSE and 802.1Qbb PFC frames.
const pauseFilter = "macc.opcode == 0x0001 || macc.opcode == 0x0101"

// writePFC shows who paused whom for how long.
func writePFC(p *printer, s *analysis.Snapshot, o Options) {
	p.section("PAUSES (PFC, 802.3x)", "")
	if !s.Capture.PFCVisible {
		p.paragraph(1, plain, "PFC not observable in this capture: there is no MAC control frame in it. NICs take pause frames off before the host sees them and mirror ports rarely copy them, so this says nothing about whether there were pauses. The switch's and the NIC's pause counters know.")
		return
	}
	if len(s.PFC.Sources) == 0 {
		line := "MAC control frames were seen, none of them a pause."
		if n := pauseFrames(s); n > 0 {
			line = unknown + " " + plural(n, "pause frame") + " seen; for how long they paused was not measured"
		}
		p.paragraph(1, plain, line)
		return
	}
	writeStorms(p, s)
	sources := slices.Clone(s.PFC.Sources)
	slices.SortStableFunc(sources, func(a, b analysis.PFCSource) int {
		return cmp.Or(cmp.Compare(value(b.PausedNS), value(a.PausedNS)), cmp.Compare(b.XOFFFrames, a.XOFFFrames))
	})
	show := sources[:o.rows(len(sources))]
	if len(show) < len(sources) {
		p.paragraph(1, faint, listed(len(show), int64(len(sources)), "row"))
	}
	malformed := slices.ContainsFunc(show, func(r analysis.PFCSource) bool { return r.MalformedFrames > 0 })
	t := table{Indent: 1, columns: []column{
		{title: "PAUSED BY", own: true},
		{title: "SEEN ON", min: 8, drop: 2},
		{title: "DIR", early: true, note: "the file does not tell directions"},
		{title: "PRIO", right: true},
		{title: "PAUSED", right: true},
		{title: "", early: true}, // a bar
		{title: "TIME", right: true},
		{title: "LONGEST", right: true},
		{title: "XOFF", right: true},
		{title: "XON", right: true},
		{title: "MALFORMED", right: true, hide: !malformed},
	}}
	for i := range show {
		t.add(pauseRow(&show[i])...)
	}
	t.write(p)
	writePauseVerdicts(p, s, o)
	p.paragraph(1, faint, speedNote(&s.PFC))
	p.command(1, "see   ", tsharkOn(s), pauseFilter)
}

func pauseRow(r *analysis.PFCSource) []cell {
	st, drawn := plain, "" // an empty bar would say "not paused"
	if r.PausedRatio != nil {
		drawn = bar(float64(*r.PausedRatio), 10)
		if *r.PausedRatio >= 0.1 {
			st = warning
		}
	}
	return []cell{
		text(r.EthSrc),
		text(r.Interface),
		text(direction(r.Direction)),
		text(r.Priority.String()),
		{st, percentOr(r.PausedRatio)},
		{st, drawn},
		text(durationOr(r.PausedNS)),
		text(durationOr(r.LongestPauseNS)),
		text(count(r.XOFFFrames)),
		text(count(r.XONFrames)),
		alarming(&r.MalformedFrames, warning),
	}
}

// pauseFrames counts frames of flow control, well-formed or not.
func pauseFrames(s *analysis.Snapshot) int64 {
	return s.Protocols.PFC.Packets + s.Protocols.Pause.Packets
}

// direction is as seen by whoever recorded.
func direction(d analysis.Text) string {
	switch d {
	case "inbound":
		return "in"
	case "outbound":
		return "out"
	}
	return unknown
}

// bar draws a share; what is not 0 shows at least one block.
func bar(ratio float64, width int) string {
	n := int(ratio*float64(width) + 0.5)
	if n == 0 && ratio > 0 {
		n = 1
	}
	n = min(max(n, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}

func speedNote(f *analysis.PFC) string {
	if f.LinkSpeedBps == nil {
		return unknown + " time needs the link speed: it differs between these sources or is not known; see link_speed_bps in the JSON, or set --link-speed"
	}
	from := map[analysis.Text]string{
		"flag":    "as set by --link-speed",
		"pcapng":  "as the file tells",
		"assumed": "ASSUMED: if wrong, all pause times are wrong in proportion; set --link-speed",
	}[f.LinkSpeedFrom]
	return strings.TrimSpace(fmt.Sprintf("pause quanta counted at %s %s", bitRate(*f.LinkSpeedBps), from))
}

func writeStorms(p *printer, s *analysis.Snapshot) {
	for i := range s.PFC.Storms {
		r := &s.PFC.Storms[i]
		line := fmt.Sprintf("%s on priority %s by %s (%s) from %s for %s, %s, %s silenced",
			r.Kind, r.Priority, r.EthSrc, r.Interface, clock(r.StartTime, s.Capture.StartTime), duration(r.DurationNS),
			plural(r.Frames, "frame"), plural(int64(len(r.Victims)), "connection"))
		if r.Flaps > 0 {
			line += fmt.Sprintf(", came back %s until %s", plural(r.Flaps, "time"), clock(r.LastTime, s.Capture.StartTime))
		}
		if r.Open {
			line += ", still going at the end of the capture"
		}
		if r.Root {
			line += ": where it began"
		}
		p.labelled(1, "▲ ", warning, line)
	}
}
