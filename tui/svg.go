package tui

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// picture is what a screen shows.
type picture struct {
	w, h  int
	cells []shadowCell
}

// pen is a screen that only remembers what is drawn on it.
type pen struct {
	*shadow
}

func (pen) Show() {}

// capture draws the page anew, without the prompt that asked for it, and
// keeps what it looks like.
func (u *ui) capture() picture {
	real := u.host.screen()
	w, h := real.Size()
	s := newShadow(real)
	s.fit()
	p, m, n := u.prompt, u.menu, u.note
	u.prompt, u.menu, u.note = nil, nil, note{}
	u.Draw(pen{s})
	u.prompt, u.menu, u.note = p, m, n
	return picture{w, h, s.back}
}

func (p picture) text() []string {
	out := make([]string, p.h)
	for y := range p.h {
		var b strings.Builder
		for _, c := range p.cells[y*p.w : (y+1)*p.w] {
			b.WriteString(c.text)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// Size of a cell in the SVG.
const svgW, svgH = 8, 16

// screenSVG draws a screen as vectors. Braille and blocks become dots and
// rectangles, so that it looks the same whatever fonts its reader has.
func screenSVG(p picture) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13">`+"\n",
		p.w*svgW, p.h*svgH, p.w*svgW, p.h*svgH)
	b.WriteString(`<rect width="100%" height="100%" fill="#121212"/>` + "\n")
	for y := range p.h {
		for x := 0; x < p.w; {
			n := p.run(x, y)
			svgRun(&b, p.cells[y*p.w+x:y*p.w+x+n], x, y)
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// run is how many cells from x on share a style.
func (p picture) run(x, y int) int {
	row := p.cells[y*p.w : (y+1)*p.w]
	n := 1
	for x+n < p.w && row[x+n].style == row[x].style {
		n++
	}
	return n
}

func svgColors(st tcell.Style) (fg, bg string, bold, underline bool) {
	f, g, attr := st.Decompose()
	name := func(c tcell.Color, def string) string {
		if h := c.Hex(); h >= 0 {
			return fmt.Sprintf("#%06x", h)
		}
		return def
	}
	fg, bg = name(f, "#d0d0d0"), name(g, "")
	if attr&tcell.AttrReverse != 0 {
		if bg == "" {
			bg = "#121212"
		}
		fg, bg = bg, fg
	}
	if attr&tcell.AttrDim != 0 {
		fg = "#8a8a8a"
	}
	return fg, bg, attr&tcell.AttrBold != 0, st.GetUnderlineStyle() != tcell.UnderlineStyleNone
}

func svgRun(b *bytes.Buffer, cells []shadowCell, x, y int) {
	fg, bg, bold, underline := svgColors(cells[0].style)
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x*svgW, y*svgH, len(cells)*svgW, svgH, bg)
	}
	if underline {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="1" fill="%s"/>`+"\n", x*svgW, y*svgH+svgH-2, len(cells)*svgW, fg)
	}
	var text strings.Builder
	start := x
	flush := func(next int) {
		if s := text.String(); strings.TrimSpace(s) != "" {
			weight := ""
			if bold {
				weight = ` font-weight="bold"`
			}
			trimmed := strings.TrimLeft(s, " ")
			at := start + len(s) - len(trimmed)
			trimmed = strings.TrimRight(trimmed, " ")
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s"%s textLength="%d" xml:space="preserve">%s</text>`+"\n",
				at*svgW, y*svgH+12, fg, weight, columns(trimmed)*svgW, html.EscapeString(trimmed))
		}
		text.Reset()
		start = next
	}
	for i, c := range cells {
		r := firstRune(c.text)
		if shape := svgShape(r, (x+i)*svgW, y*svgH); shape != "" {
			flush(x + i + 1)
			fmt.Fprintf(b, `<g fill="%s">%s</g>`+"\n", fg, shape)
			continue
		}
		text.WriteString(c.text)
	}
	flush(0)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// svgShape draws a braille or block character; "" for all others.
func svgShape(r rune, x, y int) string {
	rect := func(fx, fy, fw, fh, opacity float64) string {
		return fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%g" opacity="%g"/>`,
			float64(x)+fx*svgW, float64(y)+fy*svgH, fw*svgW, fh*svgH, opacity)
	}
	switch {
	case r > 0x2800 && r <= 0x28FF:
		var b strings.Builder
		for i, d := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
			if (r-0x2800)>>i&1 == 1 {
				fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="1.3"/>`, x+2+d[0]*4, y+2+d[1]*4)
			}
		}
		return b.String()
	case r >= '▁' && r <= '█':
		f := float64(r-'▁'+1) / 8
		return rect(0, 1-f, 1, f, 1)
	case r > '█' && r <= '▏':
		return rect(0, 0, float64('▏'-r+1)/8, 1, 1)
	case r == '▀':
		return rect(0, 0, 1, 0.5, 1)
	case r >= '░' && r <= '▓':
		return rect(0, 0, 1, 1, float64(r-'░'+1)/4)
	case r == '─':
		return rect(0, 0.47, 1, 0.06, 1)
	case r == '│':
		return rect(0.45, 0, 0.1, 1, 1)
	}
	return ""
}
