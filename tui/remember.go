package tui

import (
	"reflect"
	"slices"
	"strings"
)

// Remembered is what of the view outlives the browser: how a user likes it, and
// nothing about any capture.
type Remembered struct {
	Theme  string                     `toml:"theme,omitempty"`
	Tables map[string]RememberedTable `toml:"tables,omitempty"`
}

// RememberedTable is how one table is shown. Columns go by their titles: they
// stay when columns are added in between.
type RememberedTable struct {
	Sort       string   `toml:"sort,omitempty"` // "": the table's own order
	Descending bool     `toml:"descending,omitempty"`
	Hidden     []string `toml:"hidden,omitempty"`
	Shown      []string `toml:"shown,omitempty"` // also where it is narrow
}

// rememberer is a page with a table whose look outlives the browser.
type rememberer interface {
	remembered() (table string, look RememberedTable)
}

// recalled gives how a table was left.
func (u *ui) recalled(table string) RememberedTable { return u.memory.Tables[table] }

// remember saves what the last key changed of the view, in the background. A
// key that changes nothing costs a comparison.
func (u *ui) remember() {
	if u.opt.Remember == nil {
		return
	}
	next := Remembered{Theme: u.memory.Theme, Tables: map[string]RememberedTable{}}
	for name, t := range u.memory.Tables {
		next.Tables[name] = t
	}
	if u.chosenTheme != "" {
		next.Theme = u.chosenTheme
	}
	if p, ok := u.top().(rememberer); ok {
		name, look := p.remembered()
		next.Tables[name] = look
		if reflect.DeepEqual(look, RememberedTable{}) {
			delete(next.Tables, name)
		}
	}
	if next.Theme == u.memory.Theme && sameTables(next.Tables, u.memory.Tables) {
		return
	}
	u.memory = next
	u.saving = append(u.saving, next)
	u.saveRemembered()
}

func sameTables(a, b map[string]RememberedTable) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// saveRemembered writes one at a time, so that the last one stays.
func (u *ui) saveRemembered() {
	if u.busySaving || len(u.saving) == 0 {
		return
	}
	u.busySaving = true
	newest := u.saving[len(u.saving)-1]
	u.saving = nil
	save := u.opt.Remember
	u.background(func() func() {
		err := save(newest)
		return func() {
			u.busySaving = false
			if err != nil {
				u.warn("not remembered for the next time: " + err.Error())
			}
			u.saveRemembered()
		}
	})
}

// remembered is how the table is shown, as far as the user chose it.
func (g *grid[R]) remembered() RememberedTable {
	var t RememberedTable
	if g.sortCol >= 0 && !g.fixed {
		t.Sort, t.Descending = g.cols[g.sortCol].title, g.desc
	}
	for i := range g.cols {
		switch {
		case g.hidden[i]:
			t.Hidden = append(t.Hidden, g.cols[i].title)
		case g.forced[i]:
			t.Shown = append(t.Shown, g.cols[i].title)
		}
	}
	return t
}

// recall shows the table as it was left. Titles that there are no more are
// passed over, and a table is never left without a column.
func (g *grid[R]) recall(t RememberedTable) {
	for i := range g.cols {
		title := g.cols[i].title
		g.hidden[i], g.forced[i] = slices.Contains(t.Hidden, title), slices.Contains(t.Shown, title)
		if !g.fixed && t.Sort != "" && strings.EqualFold(t.Sort, title) {
			g.sortCol, g.col, g.desc = i, i, t.Descending
		}
	}
	if !slices.Contains(g.hidden, false) {
		clear(g.hidden)
	}
	if g.sortCol >= 0 {
		g.hidden[g.sortCol] = false
	}
}

func (p *flowsPage) remembered() (string, RememberedTable) { return "flows", p.g.remembered() }

func (p *findingsPage) remembered() (string, RememberedTable) { return "findings", p.g.remembered() }

func (p *connPage) remembered() (string, RememberedTable) { return "events", p.events.remembered() }

func (p *packetsPage) remembered() (string, RememberedTable) {
	if p.g == nil {
		return "packets", RememberedTable{}
	}
	return "packets", p.g.remembered()
}
