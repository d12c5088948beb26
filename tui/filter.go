package tui

import (
	"errors"
	"strings"
)

// errNoFilter is the answer while no filter language is connected.
var errNoFilter = errors.New("filters are not available in this build")

// errorColumn is where a filter's error points.
func errorColumn(err error) (int, bool) {
	var at interface{ Column() int }
	if errors.As(err, &at) {
		return at.Column(), true
	}
	return 0, false
}

func filterErrorText(err error) string {
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return "✖ " + first
}

// askFilter edits the page's filter, with more appended.
func (u *ui) askFilter(more string) {
	f, ok := u.top().(filterer)
	if !ok {
		u.say("nothing to filter here")
		return
	}
	u.ask(prompt{
		label: "filter: ", text: []rune(f.filter() + more), history: &u.histories.filter,
		check:    func(text string) error { return f.checkFilter(u, text) },
		complete: func(text string) []string { return completeField(text, f.filterNames(u)) },
		enter:    u.applyFilter,
	})
}

func (u *ui) applyFilter(text string) {
	f, ok := u.top().(filterer)
	if !ok {
		u.say("nothing to filter here")
		return
	}
	if err := f.setFilter(u, strings.TrimSpace(text)); err != nil {
		u.warn(filterErrorText(err))
	}
}

// completeField completes the field name at the end of text.
func completeField(text string, names []Name) []string {
	i := strings.LastIndexAny(text, " ()!&|=<>,{") + 1
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n.Name, text[i:]) {
			out = append(out, text[:i]+n.Name)
		}
	}
	return out
}

// filterMenu builds a filter from the cell under the cursor.
func (u *ui) filterMenu() {
	f, ok := u.top().(filterer)
	if !ok {
		u.say("nothing to filter here")
		return
	}
	term := f.cellTerm(u)
	if term == "" {
		u.say("no filter is made of this cell: move to another column with h and l")
		return
	}
	old := f.filter()
	set := func(expr string) func(*ui) { return func(u *ui) { u.applyFilter(expr) } }
	list := []choice{
		{label: "is", value: term, do: set(term)},
		{label: "is not", value: "!(" + term + ")", do: set("!(" + term + ")")},
	}
	if old != "" {
		and, or := "("+old+") && "+term, "("+old+") || "+term
		list = append(list, choice{label: "and", value: and, do: set(and)}, choice{label: "or", value: or, do: set(or)},
			choice{label: "clear", do: set("")})
	}
	u.openMenu(menu{title: "filter by this cell", list: list})
}

// columnMenu ticks columns.
func (u *ui) columnMenu() {
	s, ok := u.top().(sortable)
	if !ok {
		u.say("no columns here")
		return
	}
	u.openMenu(menu{title: "columns (enter ticks, esc ends)", list: s.columnChoices(u), keep: true, reopen: s.columnChoices})
}
