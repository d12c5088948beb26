package tui

import (
	"fmt"
	"strings"

	"rdmascope/analysis"
)

// drawConnSummary says of one connection what the columns had no room for.
func drawConnSummary(r region, row connRow) {
	r.title(connName(row.c), "", false)
	lines := connFacts(row.c)
	if row.f != nil {
		head := severityGlyph(row.f.Severity) + " " + row.f.ID + " " + row.f.Title
		r.print(1, 1, severityLook(row.f.Severity), cut(clean(head), r.w-2))
		lines = append([]string{""}, lines...)
	}
	for i, l := range lines {
		if l != "" {
			r.print(1, 1+i, plain, cut(clean(l), r.w-2))
		}
	}
}

// connFacts are the facts of a connection, most telling first.
func connFacts(c *analysis.Connection) []string {
	var first []string
	if rejected(c) {
		first = append(first, "rejected: "+orDash(string(c.CM.RejectText)))
	}
	first = append(first, serviceName(c), pairedWords(c))
	if v := dscpText(c); v != unknown {
		first = append(first, "DSCP "+v)
	}
	if m := greatest(c, func(f *analysis.Flow) *int64 { return f.PathMTUBytes }); m != nil {
		first = append(first, "MTU "+count(*m))
	}
	if c.CM != nil && !rejected(c) {
		first = append(first, "CM "+c.CM.State)
	}
	if c.Closed != nil {
		first = append(first, fmt.Sprintf("closed by %s %s", c.Closed.How, clock(c.Closed.When, 3)))
	}
	out := []string{strings.Join(first, "  ")}
	for i := range c.Flows {
		out = append(out, flowLine(&c.Flows[i]))
	}
	return out
}

func pairedWords(c *analysis.Connection) string {
	if len(c.Flows) == 1 && (c.Pairing.Method == "" || c.Pairing.Method == "none") {
		return "one direction only"
	}
	if c.Pairing.Method == "" || c.Pairing.Method == "none" {
		return "not paired"
	}
	return "paired by " + strings.ToUpper(c.Pairing.Method) + ", " + c.Pairing.Confidence
}

// flowLine is one direction in a line.
func flowLine(f *analysis.Flow) string {
	out := f.SrcIP + "→" + f.DstIP + "  " + plural(f.Packets, "packet") + "  " + byteSize(f.WireBytes)
	add := func(name string, v *int64) {
		if v != nil && *v > 0 {
			out += "  " + name + " " + count(*v)
		}
	}
	add("messages", f.Messages)
	add("resent", f.Retransmitted)
	add("NAK", naksOf(f))
	add("RNR", f.RNRNaks)
	if f.FirstPSN != nil && f.LastPSN != nil {
		out += fmt.Sprintf("  PSN %s…%s", psnText(*f.FirstPSN), psnText(*f.LastPSN))
	}
	return out
}
