package tui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"rdmascope/tui/plot"
)

// region is a rectangle of the screen. Nothing drawn into it leaves it, and
// every text is cleaned here.
type region struct {
	s          tcell.Screen
	t          *theme
	x, y, w, h int
}

// rows is the part of r from line y on, h lines high.
func (r region) rows(y, h int) region {
	y = min(max(y, 0), r.h)
	return region{r.s, r.t, r.x, r.y + y, r.w, max(min(h, r.h-y), 0)}
}

func (r region) put(x, y int, ru rune, st tcell.Style) {
	if x < 0 || y < 0 || x >= r.w || y >= r.h {
		return
	}
	r.s.SetContent(r.x+x, r.y+y, r.t.glyph(ru), nil, st)
}

// print writes a text and returns the column behind it.
func (r region) print(x, y int, l look, text string) int {
	return r.printStyle(x, y, r.t.style(l), text)
}

func (r region) printStyle(x, y int, st tcell.Style, text string) int {
	if y < 0 || y >= r.h {
		return x
	}
	g := uniseg.NewGraphemes(r.t.glyphs(clean(text)))
	for g.Next() {
		w := g.Width()
		if w == 0 {
			continue
		}
		if x+w > r.w {
			return x
		}
		if x >= 0 {
			runes := g.Runes()
			r.s.SetContent(r.x+x, r.y+y, runes[0], runes[1:], st)
		}
		x += w
	}
	return x
}

// printRight ends a text in the last column and returns where it began.
func (r region) printRight(y int, l look, text string) int {
	text = clean(text)
	x := max(r.w-columns(text), 0)
	r.print(x, y, l, text)
	return x
}

// span is a piece of text of one look.
type span struct {
	look look
	text string
}

func (r region) spans(x, y int, list ...span) int {
	for _, s := range list {
		x = r.print(x, y, s.look, s.text)
	}
	return x
}

func spanColumns(list []span) (n int) {
	for _, s := range list {
		n += columns(clean(s.text))
	}
	return n
}

// title draws a section's rule with its name and what belongs to it.
func (r region) title(name, aside string, focus bool) {
	if r.h == 0 {
		return
	}
	r.print(0, 0, faint, strings.Repeat("─", r.w))
	l := plain
	if focus {
		l = heading
	}
	x := r.print(2, 0, l, " "+cut(clean(name), r.w-4)+" ")
	if aside != "" && x+4 < r.w {
		r.print(x, 0, faint, cut("— "+clean(aside), r.w-x-1)+" ")
	}
}

// canvas paints a plot; class turns its classes into looks.
func (r region) canvas(c *plot.Canvas, class func(plot.Class) look) {
	for y := range min(c.H, r.h) {
		for x := range min(c.W, r.w) {
			if ru, k := c.Cell(x, y, r.t.level); ru != 0 {
				r.put(x, y, ru, r.t.style(class(k)))
			}
		}
	}
}

// restyle changes the look of cells that are drawn already.
func (r region) restyle(x, y, w int, l look) {
	for i := max(x, 0); i < min(x+w, r.w) && y >= 0 && y < r.h; i++ {
		text, _, width := r.s.Get(r.x+i, r.y+y)
		if runes := []rune(text); len(runes) > 0 {
			r.s.SetContent(r.x+i, r.y+y, runes[0], runes[1:], r.t.style(l))
		}
		i += max(width-1, 0)
	}
}
