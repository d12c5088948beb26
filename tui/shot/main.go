// Command shot turns the text of a terminal, with its colours, into an SVG:
// the pictures in the README are made from real screens with it.
//
//	tmux new-session -d -s t -x 120 -y 40 'rdmascope tui FILE'; sleep 2
//	tmux capture-pane -t t -e -p | go run ./tui/shot > screen.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes of a character cell, in SVG units.
const (
	cellWidth  = 8.4
	cellHeight = 17
	margin     = 12
)

const (
	background = "#1d1f21"
	foreground = "#d0d0d0"
)

// basic are the sixteen colours of the usual terminals.
var basic = [16]string{"#1d1f21", "#cc6666", "#b5bd68", "#f0c674", "#81a2be", "#b294bb", "#8abeb7", "#c5c8c6",
	"#808080", "#ff6666", "#d0ff70", "#ffe680", "#99c7ff", "#e0b0ff", "#a0fff0", "#ffffff"}

// pen is how the next characters look.
type pen struct {
	fg, bg                        string
	bold, dim, reverse, underline bool
}

func main() {
	if err := shoot(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}

func shoot(r io.Reader, w io.Writer) error {
	var body strings.Builder
	rows, columns := 0, 0
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	p := pen{}
	for in.Scan() {
		columns = max(columns, line(&body, &p, in.Text(), rows))
		rows++
	}
	if err := in.Err(); err != nil {
		return err
	}
	width, height := float64(columns)*cellWidth+2*margin, rows*cellHeight+2*margin
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">
<rect width="100%%" height="100%%" rx="6" fill="%s"/>
<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
%s</g>
</svg>
`, width, height, width, height, background, body.String())
	return err
}

// line writes one line of the screen and returns its width in cells. Each run
// of equal looks is one text element with its exact place and length, so that
// columns stay aligned whatever the font.
func line(out *strings.Builder, p *pen, s string, row int) int {
	column := 0
	var run strings.Builder
	start := 0
	flush := func() {
		if run.Len() > 0 {
			p.write(out, run.String(), start, row)
			run.Reset()
		}
		start = column
	}
	for s != "" {
		if codes, rest, ok := escape(s); ok {
			flush()
			p.apply(codes)
			s = rest
			continue
		}
		c, n := utf8.DecodeRuneInString(s)
		run.WriteRune(c)
		column++
		s = s[n:]
	}
	flush()
	return column
}

// escape takes a "select graphic rendition" sequence off the front of s.
func escape(s string) (codes []int, rest string, ok bool) {
	if !strings.HasPrefix(s, "\x1b[") {
		return nil, s, false
	}
	end := strings.IndexByte(s, 'm')
	if end < 0 {
		return nil, s, false
	}
	for _, f := range strings.FieldsFunc(s[2:end], func(r rune) bool { return r == ';' || r == ':' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, s, false
		}
		codes = append(codes, n)
	}
	return codes, s[end+1:], true
}

func (p *pen) apply(codes []int) {
	if len(codes) == 0 {
		*p = pen{}
	}
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; {
		case c == 0:
			*p = pen{}
		case c == 1:
			p.bold = true
		case c == 2:
			p.dim = true
		case c == 4:
			p.underline = true
		case c == 7:
			p.reverse = true
		case c == 22:
			p.bold, p.dim = false, false
		case c == 24:
			p.underline = false
		case c == 27:
			p.reverse = false
		case c >= 30 && c <= 37:
			p.fg = basic[c-30]
		case c >= 90 && c <= 97:
			p.fg = basic[c-90+8]
		case c == 39:
			p.fg = ""
		case c >= 40 && c <= 47:
			p.bg = basic[c-40]
		case c >= 100 && c <= 107:
			p.bg = basic[c-100+8]
		case c == 49:
			p.bg = ""
		case c == 38 || c == 48:
			colour, used := extended(codes[i+1:])
			if c == 38 {
				p.fg = colour
			} else {
				p.bg = colour
			}
			i += used
		}
	}
}

// extended reads 5;N (palette) or 2;R;G;B.
func extended(codes []int) (colour string, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return palette(codes[1]), 2
	case len(codes) >= 4 && codes[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", codes[1]&255, codes[2]&255, codes[3]&255), 4
	}
	return "", len(codes)
}

func palette(n int) string {
	switch {
	case n < 16:
		return basic[max(n, 0)]
	case n < 232:
		level := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(min(n, 255)-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}

func (p *pen) write(out *strings.Builder, text string, column, row int) {
	fg, bg := p.fg, p.bg
	if fg == "" {
		fg = foreground
	}
	if p.reverse {
		if bg == "" {
			bg = background
		}
		fg, bg = bg, fg
	}
	x, y, n := margin+float64(column)*cellWidth, margin+row*cellHeight, utf8.RuneCountInString(text)
	width := float64(n) * cellWidth
	if bg != "" {
		fmt.Fprintf(out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, width, cellHeight, bg)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"`, x, y+13, width, fg)
	if p.bold {
		out.WriteString(` font-weight="bold"`)
	}
	if p.dim {
		out.WriteString(` opacity="0.6"`)
	}
	if p.underline {
		out.WriteString(` text-decoration="underline"`)
	}
	fmt.Fprintf(out, ">%s</text>\n", html.EscapeString(text))
}
