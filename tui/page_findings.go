package tui

import (
	"github.com/rivo/tview"

	"rdmascope/analysis"
)

// findingsPage lists what is wrong.
type findingsPage struct {
	g     *grid[*analysis.Finding]
	have  *analysis.Snapshot
	win   window
	col   int
	desc  bool
	ready bool
}

func newFindingsPage() *findingsPage {
	return &findingsPage{g: newGrid(findingColumns(), nil)}
}

func (p *findingsPage) crumb(*ui) string { return "Findings" }

func (p *findingsPage) status(u *ui) string {
	text := plural(int64(len(u.snap.Findings)), "finding")
	if n := p.g.length(); n != len(u.snap.Findings) {
		text = count(int64(n)) + " of " + text
	}
	if s := p.g.sortText(); s != "" {
		return text + "   " + s
	}
	return text
}

func (p *findingsPage) sync(u *ui) {
	if p.ready && p.have == u.snap && p.win == u.window && p.col == p.g.sortCol && p.desc == p.g.desc {
		return
	}
	p.ready, p.have, p.win, p.col, p.desc = true, u.snap, u.window, p.g.sortCol, p.g.desc
	list := findingsIn(u)
	if p.col >= 0 {
		order := make([]int32, len(list))
		for i := range order {
			order[i] = int32(i)
		}
		sortRows(order, func(i int32) *analysis.Finding { return list[i] }, &p.g.cols[p.col], p.desc)
		sorted := make(findingList, len(list))
		for i, k := range order {
			sorted[i] = list[k]
		}
		list = sorted
	}
	p.g.setList(list)
}

func (p *findingsPage) forget() {
	p.g.forget()
	p.ready, p.have = false, nil
}

func (p *findingsPage) draw(u *ui, r region) {
	panel := 0
	if p.g.length() > 0 {
		panel = min(max(r.h/2, 7), 14)
	}
	p.g.draw(r.rows(0, r.h-panel), true)
	if f, ok := p.g.current(); ok {
		drawFindingSummary(u, r.rows(r.h-panel, panel), f)
		return
	}
	drawNoFindings(u, r.rows(2, r.h-2))
}

// drawNoFindings says what "nothing found" covers.
func drawNoFindings(u *ui, r region) {
	if !u.progress.Done {
		r.print(3, 0, plain, "nothing found so far in "+plural(u.snap.Capture.Packets, "packet")+"; more comes")
		return
	}
	if !u.window.all() && len(u.snap.Findings) > 0 {
		r.print(3, 0, plain, "no finding in this window: r r… shows all again")
		return
	}
	r.print(3, 0, good, "✔ nothing found in "+plural(u.snap.Capture.Packets, "packet"))
	r.print(3, 1, plain, "What was looked at, and what could not be judged, is on the overview (0) under")
	r.print(3, 2, plain, "“Can you trust this capture?”")
}

// drawFindingSummary is the finding under the cursor in a few lines.
func drawFindingSummary(u *ui, r region, f *analysis.Finding) {
	r.title(f.ID, "", false)
	y := 1
	for _, l := range wrap(clean(f.Title), r.w-3) {
		r.print(1, y, heading, l)
		y++
	}
	for _, part := range []struct{ name, text string }{
		{"what", string(f.Meaning)}, {"when", findingTime(u, f)}, {"next", string(f.Advice)}, {"cause", causeText(u, f)},
	} {
		if part.text == "" {
			continue
		}
		r.print(1, y, faint, part.name)
		for _, l := range wrap(clean(part.text), r.w-8) {
			if y >= r.h {
				return
			}
			r.print(7, y, plain, l)
			y++
		}
	}
}

func findingTime(u *ui, f *analysis.Finding) string {
	if !f.FirstTime.Known() {
		return ""
	}
	d := int64(f.LastTime - f.FirstTime)
	n := decimals(max(d, 1))
	out := clock(f.FirstTime, max(n, 3))
	if d > 0 {
		out += " → " + clock(f.LastTime, max(n, 3)) + " UTC, " + duration(d)
		if whole := value(u.snap.Capture.DurationNS); whole > 0 {
			out += " (" + percent(float64(d)/float64(whole)) + " of the capture)"
		}
	} else {
		out += " UTC"
	}
	return out
}

func causeText(u *ui, f *analysis.Finding) string {
	if f.CausedBy == "" {
		return ""
	}
	if c := findingByID(u.snap, string(f.CausedBy)); c != nil {
		return "explained by " + c.ID + ": " + c.Title
	}
	return "explained by " + string(f.CausedBy)
}

func findingByID(s *analysis.Snapshot, id string) *analysis.Finding {
	for i := range s.Findings {
		if s.Findings[i].ID == id {
			return &s.Findings[i]
		}
	}
	return nil
}

func (p *findingsPage) key(u *ui, k key) bool {
	f, ok := p.g.current()
	switch {
	case k == "enter" && ok:
		u.open(newFindingPage(f))
	case k == "p" && ok:
		u.openPacketsFor(f)
	default:
		return p.g.move(k)
	}
	return true
}

func (p *findingsPage) hints(*ui) []hint {
	return []hint{{"enter", "evidence"}, {"p", "packets"}, {"s", "sort"}, {"/", "search"}, {"0-5", "view"}, {"y", "copy"}, {"e", "export"}, {":", "command"}}
}

func (p *findingsPage) search(_ *ui, text string, dir int, here bool) hit {
	return p.g.search(text, dir, here)
}
func (p *findingsPage) sortKey(_ *ui, k key) bool       { return p.g.sortKey(k) }
func (p *findingsPage) sortBy(title string) bool        { return p.g.sortBy(title) }
func (p *findingsPage) columnChoices(*ui) []choice      { return p.g.columnChoices() }
func (p *findingsPage) export(*ui) *sheet               { return p.g.sheet("findings") }
func (p *findingsPage) place() string                   { return p.g.id() }
func (p *findingsPage) gotoPlace(_ *ui, id string) bool { return id == "" || p.g.selectID(id) }

func (p *findingsPage) copies(u *ui) []choice {
	out := p.g.copies()
	if f, ok := p.g.current(); ok {
		out = append(out, findingCopies(u, f)...)
	}
	return out
}

func findingCopies(u *ui, f *analysis.Finding) []choice {
	w := string(f.Filters.Wireshark)
	out := []choice{{label: "Wireshark filter", value: w}, {label: "tshark command", value: u.tshark(w)},
		{label: "rdmascope filter", value: string(f.Filters.Rdmascope)}, {label: "advice", value: string(f.Advice)}}
	return out
}

func (p *findingsPage) packetsToSave(*ui) []packetChoice {
	if f, ok := p.g.current(); ok {
		return []packetChoice{{"evidence of " + f.ID, evidence(f)}}
	}
	return nil
}

func (p *findingsPage) jump(_ *ui, n int64) bool {
	if n > int64(p.g.length()) {
		return false
	}
	p.g.cursor = int(n - 1)
	return true
}

func (p *findingsPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	used, opened, _ := p.g.mouse(a, x, y)
	if opened {
		p.key(u, "enter")
	}
	return used
}
