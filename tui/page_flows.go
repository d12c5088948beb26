package tui

import (
	"fmt"
	"strings"

	"github.com/rivo/tview"
)

// flowsPage is the table of all connections.
type flowsPage struct {
	g     *grid[connRow]
	hosts hostPair // limits it, when opened from the host matrix

	expr  string
	match FlowMatch

	have    connQuery // what the list shown answers
	making  connQuery // what is made in the background
	working bool
}

func newFlowsPage() *flowsPage {
	p := &flowsPage{g: newGrid(connColumns(), nil)}
	p.g.col = 1
	return p
}

func (p *flowsPage) crumb(*ui) string { return p.hosts.a + "→" + p.hosts.b }

func (p *flowsPage) status(u *ui) string {
	shown, all := int64(p.g.length()), u.snap.ConnectionsTotal
	text := plural(all, "connection")
	if shown != all {
		text = count(shown) + " of " + text
	}
	if n := u.snap.ConnectionsOmitted; n > 0 {
		text += fmt.Sprintf(", %s not kept", count(n))
	}
	if s := p.g.sortText(); s != "" {
		text += "   " + s
	} else {
		text += "   worst first"
	}
	if p.working {
		text += " …"
	}
	return text
}

// query is what the page wants to show.
func (p *flowsPage) query(u *ui) connQuery {
	q := connQuery{s: u.snap, col: p.g.sortCol, desc: p.g.desc, filter: p.expr, hosts: p.hosts}
	if !u.window.all() {
		q.from, q.to = u.window.span(u.snap)
	}
	return q
}

func (p *flowsPage) sync(u *ui) {
	q := p.query(u)
	if p.g.list != nil && q == p.have || p.working && q == p.making {
		return
	}
	cols, blame, match, w := p.g.cols, u.blame, p.match, u.window
	if len(u.snap.Connections) < bigList || u.host.post == nil {
		p.take(q, q.build(cols, blame, match, w))
		return
	}
	if p.working { // one at a time; the next starts when this one is there
		return
	}
	p.working, p.making = true, q
	u.background(func() func() {
		l := q.build(cols, blame, match, w)
		return func() {
			p.working = false
			p.take(q, l)
		}
	})
}

func (p *flowsPage) forget() {
	p.g.forget()
	p.have = connQuery{}
}

func (p *flowsPage) take(q connQuery, l *connList) {
	p.have = q
	p.g.setList(l)
}

func (p *flowsPage) draw(u *ui, r region) {
	y := 0
	if p.expr != "" {
		x := r.print(1, 0, faint, "filter: ")
		r.print(x, 0, good, cut(clean(p.expr), r.w-x-1))
		y = 1
	}
	panel := 4
	if r.h >= 30 {
		panel = 6
	}
	p.g.draw(r.rows(y, r.h-y-panel), true)
	if p.g.length() == 0 {
		p.drawEmpty(u, r.rows(y+2, r.h-y-panel-2))
	}
	if row, ok := p.g.current(); ok {
		drawConnSummary(r.rows(r.h-panel, panel), row)
	}
}

// drawEmpty says why there is nothing: an empty table alone looks broken.
func (p *flowsPage) drawEmpty(u *ui, r region) {
	why := "no connection in what was read so far"
	switch {
	case p.working:
		why = "sorting …"
	case p.expr != "":
		why = "no connection matches the filter: f edits it"
	case !u.window.all() && len(u.snap.Connections) > 0:
		why = "no connection was active in this window: r r… shows all again"
	case u.progress.Done:
		why = "no connection in this capture: the overview says what is in it"
	}
	r.print(3, 0, plain, why)
}

func (p *flowsPage) key(u *ui, k key) bool {
	switch k {
	case "enter":
		if row, ok := p.g.current(); ok {
			u.open(newConnPage(u, row.c.ID))
		}
		return true
	case "p":
		if row, ok := p.g.current(); ok {
			u.openPacketsOf(row.c)
		}
		return true
	case "esc":
		if p.expr != "" && u.top() == page(p) {
			_ = p.setFilter(u, "")
			return true
		}
		return false
	}
	return p.g.move(k)
}

func (p *flowsPage) hints(*ui) []hint {
	return []hint{{"enter", "open"}, {"p", "packets"}, {"s", "sort"}, {"< >", "column"}, {"f", "filter"}, {"/", "search"}, {"0-5", "view"},
		{"c", "columns"}, {"y", "copy"}, {"e", "export"}, {":", "command"}}
}

func (p *flowsPage) search(_ *ui, text string, dir int, here bool) hit {
	return p.g.search(text, dir, here)
}

func (p *flowsPage) sortKey(u *ui, k key) bool {
	used := p.g.sortKey(k)
	p.sync(u)
	return used
}

func (p *flowsPage) sortBy(title string) bool { return p.g.sortBy(title) }

func (p *flowsPage) columnChoices(*ui) []choice { return p.g.columnChoices() }

func (p *flowsPage) filter() string { return p.expr }

func (p *flowsPage) checkFilter(u *ui, expr string) error {
	if strings.TrimSpace(expr) == "" {
		return nil
	}
	_, err := compileFlow(u, expr)
	return err
}

func compileFlow(u *ui, expr string) (FlowMatch, error) {
	if u.opt.FlowFilter == nil {
		return nil, errNoFilter
	}
	return u.opt.FlowFilter.CompileFlow(expr)
}

func (p *flowsPage) setFilter(u *ui, expr string) error {
	if expr == "" {
		p.expr, p.match = "", nil
		return nil
	}
	m, err := compileFlow(u, expr)
	if err != nil {
		return err
	}
	p.expr, p.match = expr, m
	return nil
}

func (p *flowsPage) filterNames(u *ui) []Name {
	if u.opt.FlowFilter == nil {
		return nil
	}
	return u.opt.FlowFilter.FlowNames()
}

func (p *flowsPage) cellTerm(*ui) string { return p.g.cellTerm() }

func (p *flowsPage) copies(u *ui) []choice {
	out := p.g.copies()
	if row, ok := p.g.current(); ok {
		f := connFilter(row.c)
		out = append(out, choice{label: "display filter", value: f}, choice{label: "tshark command", value: u.tshark(f)},
			choice{label: "connection id", value: row.c.ID})
	}
	return out
}

func (p *flowsPage) export(*ui) *sheet { return p.g.sheet("flows") }

func (p *flowsPage) place() string { return p.g.id() }

func (p *flowsPage) gotoPlace(_ *ui, id string) bool {
	if p.g.list == nil { // it is being made
		p.g.keep = id
		return true
	}
	return id == "" || p.g.selectID(id)
}

func (p *flowsPage) jump(_ *ui, n int64) bool {
	if n > int64(p.g.length()) {
		return false
	}
	p.g.cursor = int(n - 1)
	return true
}

func (p *flowsPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	used, opened, _ := p.g.mouse(a, x, y)
	if opened {
		p.key(u, "enter")
	}
	return used
}
