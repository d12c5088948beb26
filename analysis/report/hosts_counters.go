package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// Counters writes the hosts' figures as `ethtool -S` prints a NIC's: scripts
// that read that can read this. Which of them aren't exact is told in comments.
// host picks one by its address, "" all.
func Counters(w io.Writer, s *analysis.Snapshot, family, host string) error {
	p := newPrinter(w, Options{Width: 1 << 16}) // never wraps
	first := true
	for i := range s.Hosts {
		h := &s.Hosts[i]
		if host != "" && h.IP != host {
			continue
		}
		if !first {
			p.line()
		}
		first = false
		p.line(span{text: strings.TrimSpace("# " + h.IP + " " + strings.Join(h.MACs, " "))})
		p.line(span{text: "NIC statistics:"})
		soft := map[string][]string{}
		for _, c := range h.NICCounters(family) {
			p.line(span{text: fmt.Sprintf("     %s: %d", c.Name, *c.Value)})
			if c.Exactness != "exact" {
				soft[c.Exactness] = append(soft[c.Exactness], c.Name)
			}
		}
		for _, k := range []struct{ exactness, words string }{{"inferred", "concluded from behaviour"}, {"lower_bound", "at least"}} {
			if names := soft[k.exactness]; len(names) > 0 {
				slices.Sort(names)
				p.line(span{text: "# " + k.words + ": " + strings.Join(names, ", ")})
			}
		}
	}
	if !first {
		p.line()
	}
	for _, c := range analysis.UntellableCounters(family) {
		p.line(span{text: "# not told by a capture: " + c.Name + ": " + c.Why})
	}
	return p.flush()
}

// verdictLook gives glyph and style of a counter's verdict.
func verdictLook(v string) (string, style) {
	switch v {
	case analysis.CounterEqual:
		return "✔", good
	case analysis.CounterExpected:
		return "≠", notice
	case analysis.CounterInvisible:
		return unknown, faint
	}
	return "▲", warning
}

// CountersAgainst writes what a NIC counted beside what the wire shows, and
// why they differ.
func CountersAgainst(w io.Writer, host string, lines []analysis.CounterLine, o Options) error {
	p := newPrinter(w, o)
	p.line(span{heading, clean(host)}, span{faint, "  what the NIC counted between the two snapshots, and what passed the tap"})
	if len(lines) == 0 {
		p.paragraph(1, plain, "the snapshots hold no counters: this driver keeps none (siw doesn't)")
		return p.flush()
	}
	name, nic, wire := len("COUNTER"), len("NIC"), len("WIRE")
	for i := range lines {
		name = max(name, columns(clean(lines[i].Name)))
		nic = max(nic, len(count(lines[i].Delta)))
		wire = max(wire, columns(wireFigure(&lines[i])))
	}
	p.line(span{faint, "   " + pad("COUNTER", name, false) + "  " + pad("NIC", nic, true) + "  " + pad("WIRE", wire, true)})
	for i := range lines {
		l := &lines[i]
		glyph, st := verdictLook(l.Verdict)
		p.line(span{text: " "}, span{st, glyph}, span{text: " " + pad(clean(l.Name), name, false) + "  " +
			pad(count(l.Delta), nic, true) + "  " + pad(wireFigure(l), wire, true)})
		if l.Verdict != analysis.CounterEqual {
			p.paragraph(5, faint, l.Reason)
		}
	}
	return p.flush()
}

// wireFigure marks what isn't exact.
func wireFigure(l *analysis.CounterLine) string {
	if l.Wire == nil {
		return unknown
	}
	if l.Exactness == "lower_bound" {
		return "≥" + count(*l.Wire)
	}
	return count(*l.Wire)
}
