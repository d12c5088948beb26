package tui

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// column is one column of a table of R.
type column[R any] struct {
	title string
	help  string
	width int // fixed: a width that follows the visible rows would jump about
	grow  int // may be this much wider where there is room
	right bool
	prose bool // cut at the end instead of in the middle
	rank  int  // columns with the highest rank go first where it gets narrow
	text  func(R) string
	look  func(R) look          // nil: plain
	num   func(R) (int64, bool) // what it sorts by; nil: its text
	term  func(R) string        // filter that selects the same; nil: none
	up    bool                  // sorted ascending at first: names, times
}

// rows is what a grid shows.
type rows[R any] interface {
	Len() int
	At(i int) R
	ID(i int) string // the same row has it in any order and any snapshot
}

// grid is a virtual table: it asks only for the rows that are visible. Its
// fields are view state; drawing changes none of it but the scroll offset,
// which follows the cursor and the height.
type grid[R any] struct {
	cols   []column[R]
	list   rows[R]
	cursor int
	offset int
	keep   string // row to come back to, while there is no list
	col    int    // column under the cursor, index into cols

	sortCol int // -1: the list's own order
	desc    bool
	hidden  []bool
	forced  []bool // shown though narrow
	fixed   bool   // order can't be changed
	heads   bool   // titles are drawn

	table  *tview.Table
	theme  *theme
	focus  bool
	shown  []int
	widths []int
	area   region
}

func newGrid[R any](cols []column[R], list rows[R]) *grid[R] {
	g := &grid[R]{cols: cols, list: list, sortCol: -1, hidden: make([]bool, len(cols)), forced: make([]bool, len(cols)), heads: true}
	g.table = tview.NewTable().SetContent(gridContent[R]{g: g}).SetSelectable(true, false).SetSeparator(' ')
	g.table.SetBordersColor(tcell.ColorDefault).SetBackgroundColor(tcell.ColorDefault)
	return g
}

// length is the number of rows.
func (g *grid[R]) length() int {
	if g.list == nil {
		return 0
	}
	return g.list.Len()
}

// current is the row under the cursor.
func (g *grid[R]) current() (r R, ok bool) {
	if g.cursor < 0 || g.cursor >= g.length() {
		return r, false
	}
	return g.list.At(g.cursor), true
}

// id names the row under the cursor, "" for none.
func (g *grid[R]) id() string {
	if g.cursor < 0 || g.cursor >= g.length() {
		return ""
	}
	return g.list.ID(g.cursor)
}

// setList swaps the rows; the cursor stays on its row, wherever that went.
func (g *grid[R]) setList(list rows[R]) {
	id := g.id()
	if id == "" {
		id = g.keep
	}
	onScreen := g.cursor - g.offset
	g.list, g.keep = list, ""
	if id != "" && g.selectID(id) {
		g.offset = max(g.cursor-onScreen, 0)
	}
	g.clamp()
}

// forget lets the rows go, but not which one the cursor was on.
func (g *grid[R]) forget() {
	if id := g.id(); id != "" {
		g.keep = id
	}
	g.list = nil
}

// selectID moves the cursor to the row with the id. It looks around the old
// place first: most updates move a row by little.
func (g *grid[R]) selectID(id string) bool {
	n := g.length()
	for d := range n {
		if i := g.cursor - d; i >= 0 && i < n && g.list.ID(i) == id {
			g.cursor = i
			return true
		}
		if i := g.cursor + d; d > 0 && i >= 0 && i < n && g.list.ID(i) == id {
			g.cursor = i
			return true
		}
		if g.cursor-d < 0 && g.cursor+d >= n {
			break
		}
	}
	return false
}

func (g *grid[R]) clamp() {
	g.cursor = min(max(g.cursor, 0), max(g.length()-1, 0))
}

// head is how many lines the titles take.
func (g *grid[R]) head() int {
	if g.heads {
		return 1
	}
	return 0
}

// layout chooses the columns for a width: all that fit, the least important
// left out first; the column that sorts and the one under the cursor stay.
func (g *grid[R]) layout(w int) {
	g.shown, g.widths = g.shown[:0], make([]int, len(g.cols))
	total := 0
	for i, c := range g.cols {
		if !g.hidden[i] {
			g.shown = append(g.shown, i)
			g.widths[i] = c.width
			total += c.width + 1
		}
	}
	for total-1 > w && len(g.shown) > 1 {
		worst := -1
		for k, i := range g.shown {
			if i == g.sortCol || g.forced[i] {
				continue
			}
			if worst < 0 || g.cols[i].rank >= g.cols[g.shown[worst]].rank {
				worst = k
			}
		}
		if worst < 0 {
			break
		}
		total -= g.cols[g.shown[worst]].width + 1
		g.shown = slices.Delete(g.shown, worst, worst+1)
	}
	g.grow(w - total + 1)
	if !slices.Contains(g.shown, g.col) && len(g.shown) > 0 {
		g.col = g.shown[0]
	}
}

// grow gives room that is left to the columns that want it, to prose first: it
// is what is cut otherwise.
func (g *grid[R]) grow(left int) {
	for _, i := range g.shown {
		if c := &g.cols[i]; c.prose && left > 0 {
			n := min(left, c.grow)
			g.widths[i] += n
			left -= n
		}
	}
	for left > 0 {
		before := left
		for _, i := range g.shown {
			if left > 0 && g.widths[i] < g.cols[i].width+g.cols[i].grow {
				g.widths[i]++
				left--
			}
		}
		if left == before {
			return
		}
	}
}

// draw draws the table through tview.
func (g *grid[R]) draw(r region, focus bool) {
	g.area, g.theme, g.focus = r, r.t, focus
	if r.h <= g.head() || r.w <= 0 {
		return
	}
	g.clamp()
	g.layout(r.w - 1)
	page := r.h - g.head()
	g.offset = min(g.offset, g.cursor)
	g.offset = max(g.offset, g.cursor-page+1)
	g.offset = max(min(g.offset, g.length()-page), 0)
	g.table.SetFixed(g.head(), 0).SetRect(r.x+1, r.y, r.w-1, r.h)
	g.table.SetSelectedStyle(r.t.style(g.cursorLook()))
	g.table.SetOffset(g.offset, 0).Select(g.cursor+g.head(), 0)
	g.table.SetSelectable(g.length() > 0, false)
	g.table.Draw(r.s)
	g.drawCursor(r)
}

func (g *grid[R]) cursorLook() look {
	if g.focus {
		return selected
	}
	return resting
}

// drawCursor marks the row, and the cell, under the cursor.
func (g *grid[R]) drawCursor(r region) {
	y := g.cursor - g.offset + g.head()
	if g.length() == 0 || y >= r.h || y < g.head() {
		return
	}
	if g.focus {
		r.print(0, y, selected, "▸")
	}
	if !g.focus || len(g.shown) < 2 {
		return
	}
	x := 1
	for _, i := range g.shown {
		if i == g.col {
			r.restyle(x, y, min(g.widths[i], r.w-x), cell)
			return
		}
		x += g.widths[i] + 1
	}
}

// gridContent is a grid as tview asks for it.
type gridContent[R any] struct {
	tview.TableContentReadOnly
	g *grid[R]
}

func (c gridContent[R]) GetRowCount() int    { return c.g.length() + c.g.head() }
func (c gridContent[R]) GetColumnCount() int { return len(c.g.shown) }

// GetCell makes the cell; its text has its column's width, so that columns
// never move.
func (c gridContent[R]) GetCell(row, col int) *tview.TableCell {
	g := c.g
	if col >= len(g.shown) {
		return nil
	}
	i := g.shown[col]
	k := &g.cols[i]
	w := g.widths[i]
	if row < g.head() {
		return g.headCell(i, w)
	}
	row -= g.head()
	if row >= g.length() {
		return nil
	}
	r := g.list.At(row)
	l := plain
	if k.look != nil {
		l = k.look(r)
	}
	text := clean(k.text(r))
	if k.prose {
		text = cut(text, w)
	} else {
		text = elide(text, w)
	}
	text = g.theme.glyphs(pad(text, w, k.right))
	return &tview.TableCell{Text: tview.Escape(text), Style: styled(g.theme.style(l)), MaxWidth: w}
}

func (g *grid[R]) headCell(i, w int) *tview.TableCell {
	k := &g.cols[i]
	title, l := k.title, tableHead
	if i == g.sortCol {
		l = sortHead
		arrow := "▲"
		if g.desc {
			arrow = "▼"
		}
		if columns(title)+1 > w {
			title = cut(title, w-1)
		}
		title += arrow
	}
	text := g.theme.glyphs(pad(cut(title, w), w, k.right))
	return &tview.TableCell{Text: tview.Escape(text), Style: styled(g.theme.style(l)), NotSelectable: true, MaxWidth: w}
}

// styled avoids tview's meaning of StyleDefault ("use the old colour
// fields", which default to white on black).
func styled(st tcell.Style) tcell.Style {
	if st == tcell.StyleDefault {
		return st.Foreground(tcell.ColorReset)
	}
	return st
}
