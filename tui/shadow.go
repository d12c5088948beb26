package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// shadow is a screen that passes on changed cells only. tview fills the whole
// screen before it draws, and tcell (2.8 to 2.13) marks a cell as dirty at each
// of the two writes even when it ends as it was; so without this every key
// sends the whole screen again, 4 kB at 120×40, which is what makes a browser
// unusable over a slow ssh.
type shadow struct {
	tcell.Screen
	w, h        int
	back, front []shadowCell
	style       tcell.Style
	cursor      [2]int
	shown       [2]int
	stale       bool // front tells nothing: everything is to be sent
	begun       bool
}

type shadowCell struct {
	text  string // a grapheme; "" is the right half of a wide one
	style tcell.Style
}

// noCursor is where a hidden cursor is.
var noCursor = [2]int{-1, -1}

func newShadow(s tcell.Screen) *shadow {
	return &shadow{Screen: s, cursor: noCursor, shown: noCursor, stale: true}
}

// Init begins once. tview initialises a screen that it is given, but drops
// the error, so Run does it before; and tcell, initialised twice, takes its
// cells for 80×24 and never returns from Show on a bigger terminal.
func (s *shadow) Init() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.Screen.Init()
}

// fit follows the size of the terminal; tview asks for the size before it
// draws, so cells needn't.
func (s *shadow) fit() {
	w, h := s.Screen.Size()
	if w == s.w && h == s.h && s.back != nil {
		return
	}
	s.w, s.h, s.stale = w, h, true
	s.back, s.front = make([]shadowCell, w*h), make([]shadowCell, w*h)
	s.fill(" ")
}

func (s *shadow) fill(text string) {
	for i := range s.back {
		s.back[i] = shadowCell{text, s.style}
	}
}

func (s *shadow) SetStyle(st tcell.Style) {
	s.style = st
	s.Screen.SetStyle(st)
}

func (s *shadow) Size() (int, int) { s.fit(); return s.w, s.h }

func (s *shadow) Clear() { s.fit(); s.fill(" ") }

func (s *shadow) Fill(r rune, st tcell.Style) {
	s.fit()
	for i := range s.back {
		s.back[i] = shadowCell{string(r), st}
	}
}

func (s *shadow) SetContent(x, y int, r rune, combining []rune, st tcell.Style) {
	if x < 0 || y < 0 || x >= s.w || y >= s.h {
		return
	}
	if r < ' ' {
		r = ' '
	}
	text := asciiText(r)
	if len(combining) > 0 || text == "" {
		text = string(r) + string(combining)
	}
	s.back[y*s.w+x] = shadowCell{text, canonical(text, st)}
}

// canonical gives cells that look the same the same style, so that tcell
// needn't change it between them: tview writes ColorReset where others write
// the default, and the colour of a blank is not visible.
func canonical(text string, st tcell.Style) tcell.Style {
	fg, bg, attr := st.Decompose()
	if bg == tcell.ColorReset {
		bg = tcell.ColorDefault
		st = st.Background(bg)
	}
	switch {
	case text == " " && attr&(tcell.AttrReverse|tcell.AttrStrikeThrough) == 0 && st.GetUnderlineStyle() == tcell.UnderlineStyleNone:
		return tcell.StyleDefault.Background(bg)
	case fg == tcell.ColorReset:
		return st.Foreground(tcell.ColorDefault)
	}
	return st
}

// blendsWith tells whether a blank of style st may be sent with the style of
// its neighbour.
func blendsWith(st, neighbour tcell.Style) bool {
	_, bg, attr := neighbour.Decompose()
	return st == tcell.StyleDefault.Background(bg) && attr&(tcell.AttrReverse|tcell.AttrStrikeThrough) == 0 &&
		neighbour.GetUnderlineStyle() == tcell.UnderlineStyleNone
}

var asciiTexts = func() (t [128]string) {
	for i := range t {
		t[i] = string(rune(i))
	}
	return t
}()

// asciiText avoids an allocation for the most frequent characters.
func asciiText(r rune) string {
	if r < 128 {
		return asciiTexts[r]
	}
	return ""
}

func (s *shadow) SetCell(x, y int, st tcell.Style, ch ...rune) {
	if len(ch) > 0 {
		s.SetContent(x, y, ch[0], ch[1:], st)
	}
}

func (s *shadow) Put(x, y int, text string, st tcell.Style) (string, int) {
	first, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	if first == "" {
		return "", 0
	}
	runes := []rune(first)
	s.SetContent(x, y, runes[0], runes[1:], st)
	return rest, width
}

func (s *shadow) PutStr(x, y int, text string) { s.PutStrStyled(x, y, text, s.style) }

func (s *shadow) PutStrStyled(x, y int, text string, st tcell.Style) {
	for text != "" && x < s.w {
		rest, width := s.Put(x, y, text, st)
		if rest == text {
			return
		}
		text = rest
		x += width
	}
}

func (s *shadow) Get(x, y int) (string, tcell.Style, int) {
	if x < 0 || y < 0 || x >= s.w || y >= s.h {
		return "", tcell.StyleDefault, 1
	}
	c := s.back[y*s.w+x]
	return c.text, c.style, max(columns(c.text), 1)
}

func (s *shadow) GetContent(x, y int) (rune, []rune, tcell.Style, int) {
	text, st, w := s.Get(x, y)
	runes := []rune(text)
	if len(runes) == 0 {
		return ' ', nil, st, w
	}
	return runes[0], runes[1:], st, w
}

func (s *shadow) ShowCursor(x, y int) { s.cursor = [2]int{x, y} }

func (s *shadow) HideCursor() { s.cursor = noCursor }

// Show sends what differs from the last Show, and nothing at all when nothing
// does.
func (s *shadow) Show() {
	s.fit()
	changed := s.stale
	for y := range s.h {
		if s.showLine(y) {
			changed = true
		}
	}
	s.stale = false
	if s.cursor != s.shown {
		s.Screen.ShowCursor(s.cursor[0], s.cursor[1])
		s.shown, changed = s.cursor, true
	}
	if changed {
		s.Screen.Show()
	}
}

// smallGap is how many unchanged cells are cheaper to send again than to
// jump over, which takes about so many bytes.
const smallGap = 7

// showLine passes on the changed cells of a line.
func (s *shadow) showLine(y int) (changed bool) {
	row, old := s.back[y*s.w:(y+1)*s.w], s.front[y*s.w:(y+1)*s.w]
	last := -1 << 30 // column sent last
	var pen tcell.Style
	for x := 0; x < s.w; x++ {
		wide := columns(row[x].text) > 1 && x+1 < s.w
		if wide { // what was drawn behind a wide rune is not visible
			row[x+1] = shadowCell{"", row[x].style}
		}
		if s.stale || row[x] != old[x] || wide && old[x+1].text != "" {
			if gap := x - last - 1; gap > 0 && gap <= smallGap && s.bridge(y, last+1, x, pen) {
				last = x - 1
			}
			c := row[x]
			if last == x-1 && c.text == " " && blendsWith(c.style, pen) {
				c.style = pen
			}
			s.send(x, y, c)
			pen, last, changed = c.style, x, true
		}
		old[x] = row[x]
		if wide {
			x++
			old[x] = row[x]
			last = x
		}
	}
	return changed
}

// bridge sends the unchanged cells from column a up to b again, if that needs
// no other style.
func (s *shadow) bridge(y, a, b int, pen tcell.Style) bool {
	row := s.back[y*s.w : (y+1)*s.w]
	for _, c := range row[a:b] {
		if columns(c.text) != 1 || c.style != pen && (c.text != " " || !blendsWith(c.style, pen)) {
			return false
		}
	}
	for x := a; x < b; x++ {
		other := 'x' // tcell sends what it takes for changed
		if row[x].text == "x" {
			other = 'y'
		}
		s.Screen.SetContent(x, y, other, nil, pen)
		s.send(x, y, shadowCell{row[x].text, pen})
	}
	return true
}

func (s *shadow) send(x, y int, c shadowCell) {
	if c.text == "" {
		c.text = " "
	}
	runes := []rune(c.text)
	s.Screen.SetContent(x, y, runes[0], runes[1:], c.style)
}

// Sync repaints everything.
func (s *shadow) Sync() {
	s.stale = true
	s.Show()
	s.Screen.Sync()
}

// Resume comes back to a terminal that others wrote on.
func (s *shadow) Resume() error {
	s.stale = true
	return s.Screen.Resume()
}
