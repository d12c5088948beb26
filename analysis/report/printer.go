package report

import (
	"bufio"
	"io"
	"strings"
)

// printer writes lines. It is the only place that emits escapes, and the
// only way for a text to get out, so what it writes is always clean.
type printer struct {
	w     *bufio.Writer
	width int
	color bool
}

func newPrinter(w io.Writer, o Options) *printer {
	return &printer{w: bufio.NewWriter(w), width: o.width(), color: o.Color}
}

// line writes one line without blanks at its end. Errors stay in the
// bufio.Writer until flush.
func (p *printer) line(spans ...span) {
	last := len(spans)
	for last > 0 && strings.TrimRight(spans[last-1].text, " ") == "" {
		last--
	}
	for i, s := range spans[:last] {
		t := clean(s.text)
		if i == last-1 {
			t = strings.TrimRight(t, " ")
		}
		if p.color && s.style != plain && strings.TrimSpace(t) != "" {
			t = ansi[s.style] + t + ansiReset
		}
		p.w.WriteString(t)
	}
	p.w.WriteByte('\n')
}

// section writes a heading with what belongs to it, after an empty line.
func (p *printer) section(title, aside string) {
	p.line()
	spans := []span{{heading, title}}
	if aside != "" {
		spans = append(spans, span{faint, "  " + aside})
	}
	p.line(spans...)
}

// paragraph writes wrapped text, indented.
func (p *printer) paragraph(indent int, st style, s string) {
	p.labelled(indent, "", st, s)
}

// labelled writes wrapped text whose first line begins with a label.
func (p *printer) labelled(indent int, label string, st style, s string) {
	lead := spaces(indent) + label
	hang := columns(lead)
	for i, l := range wrap(clean(s), p.width-hang) {
		if i > 0 {
			lead = spaces(hang)
		}
		p.line(span{faint, lead}, span{st, l})
	}
}

func (p *printer) flush() error { return p.w.Flush() }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
