package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivo/tview"
)

// move handles the keys that move the cursor.
func (g *grid[R]) move(k key) bool {
	page := max(g.area.h-g.head(), 1)
	switch k {
	case "j", "down":
		g.cursor++
	case "k", "up":
		g.cursor--
	case "g", "home":
		g.cursor = 0
	case "G", "end":
		g.cursor = g.length() - 1
	case "ctrl-f", "pgdn":
		g.cursor += page
	case "ctrl-b", "pgup":
		g.cursor -= page
	case "ctrl-d":
		g.cursor += max(page/2, 1)
	case "ctrl-u":
		g.cursor -= max(page/2, 1)
	case "h", "left":
		g.moveColumn(-1)
	case "l", "right":
		g.moveColumn(1)
	default:
		return false
	}
	g.clamp()
	return true
}

func (g *grid[R]) moveColumn(step int) {
	if len(g.shown) == 0 {
		g.layout(1 << 16)
	}
	at := slices.Index(g.shown, g.col) + step
	g.col = g.shown[min(max(at, 0), len(g.shown)-1)]
}

// sortKey handles s S < >; it tells whether the order is to be made anew.
func (g *grid[R]) sortKey(k key) bool {
	if g.fixed {
		return false
	}
	switch k {
	case "s":
		g.setSort(g.col)
	case "S":
		if g.sortCol < 0 {
			g.setSort(g.col)
		}
		g.desc = !g.desc
	case "<":
		g.setSort(g.nextColumn(g.sortCol, -1))
	case ">":
		g.setSort(g.nextColumn(g.sortCol, 1))
	}
	return true
}

// nextColumn goes round all columns that are not hidden by choice, also
// those that have no room: sorting by one shows it.
func (g *grid[R]) nextColumn(i, step int) int {
	n := len(g.cols)
	for range n {
		i = ((i+step)%n + n) % n
		if !g.hidden[i] {
			return i
		}
	}
	return 0
}

func (g *grid[R]) setSort(i int) {
	g.sortCol, g.col = i, i
	g.desc = !g.cols[i].up
}

// sortBy sorts by the column with the title.
func (g *grid[R]) sortBy(title string) bool {
	for i := range g.cols {
		if !g.fixed && strings.EqualFold(g.cols[i].title, title) {
			g.hidden[i] = false
			g.setSort(i)
			return true
		}
	}
	return false
}

// sortText names the order for the status.
func (g *grid[R]) sortText() string {
	if g.sortCol < 0 {
		return ""
	}
	arrow := "▲"
	if g.desc {
		arrow = "▼"
	}
	return "sort " + g.cols[g.sortCol].title + arrow
}

// columnChoices are the columns to tick.
func (g *grid[R]) columnChoices() []choice {
	var out []choice
	for i := range g.cols {
		out = append(out, choice{label: g.cols[i].title, value: g.cols[i].help, on: !g.hidden[i] && slices.Contains(g.shown, i),
			do: func(*ui) {
				on := !g.hidden[i] && slices.Contains(g.shown, i)
				g.hidden[i], g.forced[i] = on, !on
				g.layout(g.area.w - 1)
			}})
	}
	return out
}

// hit is the outcome of a search.
type hit uint8

const (
	hitNone  hit = iota
	hitFound     // the cursor is on it
	hitMore      // not found yet: the cursor is on the last row looked at
)

// searchBudget is how long a search may hold up the drawing; n goes on.
const searchBudget = 150 * time.Millisecond

// search moves to the next row that contains the text in any column, with
// letters compared without case.
func (g *grid[R]) search(text string, dir int, fromHere bool) hit {
	n := g.length()
	want := strings.ToLower(text)
	first := 1
	if fromHere {
		first = 0
	}
	start := time.Now()
	from := g.cursor
	for d := first; d < n+first; d++ {
		i := ((from+dir*d)%n + n) % n
		if g.rowContains(g.list.At(i), want) {
			g.cursor = i
			return hitFound
		}
		if d%64 == 63 && time.Since(start) > searchBudget {
			g.cursor = i
			return hitMore
		}
	}
	return hitNone
}

func (g *grid[R]) rowContains(r R, want string) bool {
	for i := range g.cols {
		if !g.hidden[i] && strings.Contains(strings.ToLower(g.cols[i].text(r)), want) {
			return true
		}
	}
	return false
}

// cellTerm is the filter that selects what is like the cell.
func (g *grid[R]) cellTerm() string {
	r, ok := g.current()
	if !ok || g.cols[g.col].term == nil {
		return ""
	}
	return g.cols[g.col].term(r)
}

// copies are the cell and the row.
func (g *grid[R]) copies() []choice {
	r, ok := g.current()
	if !ok {
		return nil
	}
	var row []string
	for _, i := range g.shown {
		if t := strings.TrimSpace(clean(g.cols[i].text(r))); t != "" {
			row = append(row, t)
		}
	}
	return []choice{
		{label: "cell", value: strings.TrimSpace(clean(g.cols[g.col].text(r)))},
		{label: "row", value: strings.Join(row, "  ")},
	}
}

// sheet is the table for an export: the columns shown, all rows.
func (g *grid[R]) sheet(name string) *sheet {
	s := &sheet{name: name, rows: g.length()}
	shown := slices.Clone(g.shown)
	for _, i := range shown {
		title := g.cols[i].title
		if title == "" {
			title = fmt.Sprintf("column %d", i+1)
		}
		s.columns = append(s.columns, title)
	}
	s.row = func(i int) []string {
		r := g.list.At(i)
		out := make([]string, len(shown))
		for k, c := range shown {
			out[k] = strings.TrimSpace(clean(g.cols[c].text(r)))
		}
		return out
	}
	return s
}

// mouse selects the row that was clicked, sorts by a title, scrolls; opened
// tells of a double click.
func (g *grid[R]) mouse(a tview.MouseAction, x, y int) (used, opened, sorted bool) {
	r := g.area
	if x < r.x || x >= r.x+r.w || y < r.y || y >= r.y+r.h {
		return false, false, false
	}
	switch a {
	case tview.MouseScrollUp:
		return g.move("up"), false, false
	case tview.MouseScrollDown:
		return g.move("down"), false, false
	}
	col := g.columnAt(x - r.x)
	line := y - r.y
	if line < g.head() {
		if col < 0 || g.fixed || a != tview.MouseLeftClick {
			return true, false, false
		}
		if col == g.sortCol {
			g.desc = !g.desc
		} else {
			g.setSort(col)
		}
		return true, false, true
	}
	i := g.offset + line - g.head()
	if i >= g.length() {
		return true, false, false
	}
	g.cursor = i
	if col >= 0 {
		g.col = col
	}
	return true, a == tview.MouseLeftDoubleClick, false
}

func (g *grid[R]) columnAt(x int) int {
	at := 1
	for _, i := range g.shown {
		if x >= at && x <= at+g.widths[i] {
			return i
		}
		at += g.widths[i] + 1
	}
	return -1
}
