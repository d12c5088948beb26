package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

const findingIndent = 3

// writeFindings shows them in the order of the report, which is of importance.
func writeFindings(p *printer, s *analysis.Snapshot, o Options) {
	show := o.rows(len(s.Findings))
	for i := range s.Findings[:show] {
		p.line()
		writeFinding(p, s, &s.Findings[i])
	}
	if rest := len(s.Findings) - show; rest > 0 {
		p.line()
		p.paragraph(0, faint, plural(int64(rest), "more finding")+" of less weight; all: --top 0")
	}
}

func writeFinding(p *printer, s *analysis.Snapshot, f *analysis.Finding) {
	writeFindingHead(p, f)
	field := func(label, value string) {
		if value != "" {
			p.labelled(findingIndent, fmt.Sprintf("%-6s", label), plain, value)
		}
	}
	field("when", findingTimes(s, f))
	field("what", findingEvidence(f))
	writeSee(p, s, f)
	field("next", string(f.Advice))
	if f.CausedBy != "" {
		field("cause", "explained by "+string(f.CausedBy))
	}
}

// writeFindingHead writes id, severity, rule, title and how sure; the title
// goes below where the line is too short, never away.
func writeFindingHead(p *printer, f *analysis.Finding) {
	st, word := severityLook(f.Severity)
	id, rule, title := clean(f.ID)+" ", clean(f.Rule), clean(f.Title)
	sure := "confidence " + clean(f.Confidence)
	head := columns(id) + columns(word) + 2 + columns(rule)
	free := p.width - head - columns(sure)
	if columns(title)+4 <= free {
		p.line(span{heading, id}, span{st, word}, span{text: "  " + rule + "  "}, span{heading, title},
			span{text: spaces(free - columns(title) - 2)}, span{faint, sure})
		return
	}
	p.line(span{heading, id}, span{st, word}, span{text: "  " + rule},
		span{text: spaces(max(2, free))}, span{faint, sure})
	p.paragraph(findingIndent, heading, title)
}

func findingTimes(s *analysis.Snapshot, f *analysis.Finding) string {
	if !f.FirstTime.Known() {
		return ""
	}
	first := clock(f.FirstTime, s.Capture.StartTime)
	if !f.LastTime.Known() || f.LastTime == f.FirstTime {
		return first + " UTC"
	}
	return fmt.Sprintf("%s → %s UTC (%s)", first, clock(f.LastTime, s.Capture.StartTime), duration(int64(f.LastTime-f.FirstTime)))
}

// findingEvidence is the rule's own sentence, else its figures.
func findingEvidence(f *analysis.Finding) string {
	if f.Meaning != "" {
		return string(f.Meaning)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.Metrics)) {
		part := name + " " + named(name, f.Metrics[name])
		if limit, ok := f.Limits[name]; ok {
			part += " (limit " + named(name, limit) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// writeSee writes packet numbers and the commands that show them.
func writeSee(p *printer, s *analysis.Snapshot, f *analysis.Finding) {
	label := "see   "
	if f.FirstPacket != nil {
		see := "packet " + count(*f.FirstPacket)
		if f.LastPacket != nil && *f.LastPacket != *f.FirstPacket {
			see = fmt.Sprintf("packets %s–%s", count(*f.FirstPacket), count(*f.LastPacket))
		}
		p.labelled(findingIndent, label, plain, see)
		label = spaces(len(label))
	}
	if f.Filters.Wireshark != "" {
		p.command(findingIndent, label, tsharkOn(s), string(f.Filters.Wireshark))
		label = spaces(len(label))
	}
	if f.Filters.Rdmascope != "" {
		p.command(findingIndent, label, "rdmascope packets "+inputName(s), string(f.Filters.Rdmascope))
	}
}

// command writes a command with its display filter. Where it doesn't fit it
// goes on as the shell lets it; the filter itself is never broken, since it
// must survive copy and paste.
func (p *printer) command(indent int, label, head, filter string) {
	head, tail := clean(head), "-Y "+shellQuote(clean(filter))
	lead := spaces(indent) + label
	if columns(lead)+columns(head)+1+columns(tail) <= p.width {
		p.line(span{faint, lead}, span{text: head + " " + tail})
		return
	}
	p.line(span{faint, lead}, span{text: head + ` \`})
	p.line(span{text: spaces(columns(lead)) + "  " + tail})
}

// tsharkOn is the beginning of a tshark command on the capture.
func tsharkOn(s *analysis.Snapshot) string { return "tshark -r " + inputName(s) }

// inputName is the file for a command line; with several, and where none was
// read, the reader chooses.
func inputName(s *analysis.Snapshot) string {
	if len(s.Inputs) == 1 && s.Inputs[0].Path != "-" && s.Inputs[0].Format != "live" {
		return shellQuote(s.Inputs[0].Path)
	}
	return "FILE"
}

// shellQuote quotes for a POSIX shell where needed.
func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,+@%", r)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
