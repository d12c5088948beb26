package report

import (
	"fmt"
	"io"
	"strings"

	"rdmascope/analysis"
)

// Text writes the report that people read: verdict first, then findings with
// their evidence, what was checked, the tables, and the state of the capture.
func Text(w io.Writer, s *analysis.Snapshot, o Options) error {
	p := newPrinter(w, o)
	writeVerdict(p, s)
	writeFindings(p, s, o)
	if !hasRDMA(s) {
		writeNoRDMA(p, s)
	} else {
		writeChecks(p, s)
		order := worstFirst(s)
		writeConnections(p, s, order, o)
		writeLatency(p, s, order, o)
		writeNaks(p, s, order, o)
		writeCongestion(p, s, o)
		writeConformance(p, s, o)
		writeCM(p, s, o)
	}
	writeOverTime(p, s, o)
	writePFC(p, s, o)
	writeFit(p, s)
	writeStorage(p, s, o)
	writeProtocols(p, s)
	writeCapture(p, s)
	return p.flush()
}

// writeVerdict writes the answer, and the figures that it rests on.
func writeVerdict(p *printer, s *analysis.Snapshot) {
	st, word := severityLook(s.Verdict.Severity)
	headline := clean(s.Verdict.Headline)
	if headline == "" {
		headline = defaultHeadline(s)
	}
	if id := string(s.Verdict.FindingID); id != "" && !strings.Contains(headline, id) {
		headline = strings.TrimSuffix(headline, ".") + ". Start at " + id + "."
	}
	label := word + "  "
	for i, l := range wrap(headline, p.width-columns(label)) {
		if i == 0 {
			p.line(span{st, label}, span{heading, l})
			continue
		}
		p.line(span{text: spaces(columns(label))}, span{heading, l})
	}

	c := &s.Capture
	figures := fmt.Sprintf("%s │ %s", severityCounts(s), plural(c.Packets, "packet"))
	if c.DurationNS != nil {
		figures += " · " + duration(*c.DurationNS)
	}
	figures += " · " + byteSize(c.WireBytes)
	lossStyle, loss := captureLoss(c)
	if columns(figures)+3+columns(loss) <= p.width {
		p.line(span{text: figures + " │ "}, span{lossStyle, loss})
		return
	}
	p.line(span{text: figures})
	p.paragraph(0, lossStyle, loss)
}

func defaultHeadline(s *analysis.Snapshot) string {
	switch {
	case s.Capture.Packets == 0:
		return "The capture holds no packet."
	case !hasRDMA(s):
		return fmt.Sprintf("No RDMA in %s.", plural(s.Capture.Packets, "packet"))
	case len(s.Findings) > 0:
		return s.Findings[0].Title
	}
	return fmt.Sprintf("No findings in %s (%s).", plural(s.Capture.Packets, "packet"), plural(s.ConnectionsTotal, "connection"))
}

func severityCounts(s *analysis.Snapshot) string {
	var parts []string
	for _, sev := range []analysis.Severity{analysis.SeverityCritical, analysis.SeverityWarning, analysis.SeverityNotice} {
		n := int64(0)
		for i := range s.Findings {
			if s.Findings[i].Severity == sev {
				n++
			}
		}
		switch {
		case n == 0:
		case sev != analysis.SeverityCritical:
			parts = append(parts, plural(n, string(sev)))
		default:
			parts = append(parts, count(n)+" "+string(sev))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, " · ")
}

// captureLoss says in a few words whether the capture itself lost packets.
func captureLoss(c *analysis.Capture) (style, string) {
	unseen, dropped := value(c.UnseenPackets), value(c.KernelDroppedPackets)
	switch {
	case unseen > 0 && dropped > 0:
		return warning, fmt.Sprintf("▲ capture lost packets: %s told by the recorder, %s proved", count(dropped), count(unseen))
	case dropped > 0:
		return warning, fmt.Sprintf("▲ capture lost packets: the recorder dropped %s", count(dropped))
	case unseen > 0:
		return warning, fmt.Sprintf("▲ capture lost packets: at least %s unseen", count(unseen))
	case c.KernelDroppedPackets != nil || c.UnseenPackets != nil:
		return plain, "capture loss: none seen"
	}
	return plain, "capture loss: not told by the file"
}
