package tui

import (
	"slices"

	"github.com/rivo/tview"

	"rdmascope/analysis"
)

// Panes of a connection's page, in the order of tab.
const (
	panePlot = iota
	paneLatency
	paneNumbers
	paneEvents
	connPanes
)

// connPage is one connection in depth.
type connPage struct {
	id      string
	c       *analysis.Connection // nil when the snapshot has it no more
	detail  *ConnDetail
	why     string // there is no detail
	events  *grid[Event]
	plot    seqPlot
	focus   int
	max     bool
	kind    int // of the latency histograms
	scroll  int // of the numbers
	w       int // columns for the numbers, as drawn last
	have    *analysis.Snapshot
	arrived uint64
}

func newConnPage(u *ui, id string) *connPage {
	g := newGrid(eventColumns(), nil)
	g.recall(u.recalled("events"))
	return &connPage{id: id, events: g, focus: paneEvents, plot: seqPlot{x: 1 << 20}}
}

func (p *connPage) crumb(*ui) string {
	if p.c == nil {
		return p.id
	}
	return connName(p.c)
}

func (p *connPage) status(*ui) string {
	if p.c == nil {
		return ""
	}
	return pairedWords(p.c)
}

func (p *connPage) sync(u *ui) {
	if p.have == u.snap && p.arrived == u.arrived {
		return
	}
	p.have, p.arrived = u.snap, u.arrived
	if c := connectionByID(u.snap, p.id); c != nil {
		p.c = c
	}
	if p.c == nil {
		return
	}
	p.detail, p.why = nil, "this input keeps no plot of single connections"
	if u.opt.Details != nil {
		p.detail, p.why = u.opt.Details.Connection(u.snap, p.c)
	}
	first := p.events.list == nil
	list := p.sorted(connEvents(u, p.c, p.detail))
	p.events.setList(list)
	if first { // the cursor begins where the trouble does
		if i := slices.IndexFunc(list, func(e Event) bool { return e.Bad && e.Packet > 0 }); i > 0 {
			p.events.cursor = i
		}
	}
	if p.detail != nil && p.plot.canvas == nil && !hasFlow(p.detail, 0) {
		p.plot.flow = 1
	}
}

func hasFlow(d *ConnDetail, flow uint8) bool {
	for i := range d.Points {
		if d.Points[i].Flow == flow {
			return true
		}
	}
	return false
}

// heights shares out the lines among the panes; the one with the focus is
// never left out.
func (p *connPage) heights(h int) [connPanes]int {
	want := [connPanes]int{panePlot: 3, paneLatency: 2 + p.latencyRows(), paneNumbers: 1 + len(foldNumbers(connNumbers(p.c), p.w)), paneEvents: 2 + max(p.events.length(), 1)}
	least := [connPanes]int{panePlot: 2, paneLatency: 4, paneNumbers: 5, paneEvents: 4}
	if p.detail != nil && len(p.detail.Points) > 0 {
		want[panePlot], least[panePlot] = h, 7
	}
	var out [connPanes]int
	left := h
	order := []int{p.focus, paneNumbers, panePlot, paneEvents, paneLatency}
	for _, pane := range order {
		spare := 0
		if pane == paneLatency && pane != p.focus {
			spare = 4 // a plot to read is worth more than a second table
		}
		if out[pane] == 0 && left >= least[pane]+spare {
			out[pane] = min(least[pane], want[pane])
			left -= out[pane]
		}
	}
	for _, share := range []struct{ pane, most int }{{paneLatency, 9}, {paneEvents, 8}, {panePlot, 14}, {paneNumbers, 9}, {panePlot, h}, {paneEvents, h}, {paneLatency, h}} {
		if out[share.pane] == 0 {
			continue
		}
		give := min(left, max(min(want[share.pane], share.most)-out[share.pane], 0))
		out[share.pane] += give
		left -= give
	}
	out[p.focus] += left
	return out
}

func (p *connPage) latencyRows() int {
	n := 0
	if h := p.histogram(); h != nil {
		n = len(withGaps(octaves(h.Buckets)))
	}
	return max(n, len(narrowLatency(p.c)), 1)
}

func (p *connPage) draw(u *ui, r region) {
	if p.c == nil {
		r.print(3, 1, plain, "this connection is not in the snapshot: it was left out, or evicted")
		return
	}
	p.w = r.w - 2
	if p.max {
		p.drawPane(u, r, p.focus)
		return
	}
	heights := p.heights(r.h)
	y := 0
	for pane, h := range heights {
		if h > 0 {
			p.drawPane(u, r.rows(y, h), pane)
			y += h
		}
	}
}

func (p *connPage) drawPane(u *ui, r region, pane int) {
	focus := pane == p.focus
	body := r.rows(1, r.h-1)
	switch pane {
	case panePlot:
		p.drawPlot(u, r, focus)
	case paneLatency:
		p.drawLatency(r, focus)
	case paneNumbers:
		r.title("Numbers", "", focus)
		lines := foldNumbers(connNumbers(p.c), p.w)
		p.scroll = min(max(p.scroll, 0), max(len(lines)-body.h, 0))
		for y := 0; y < body.h && y+p.scroll < len(lines); y++ {
			body.spans(1, y, lines[y+p.scroll]...)
		}
		if more := len(lines) - body.h - p.scroll; more > 0 {
			r.printRight(0, faint, " "+plural(int64(more), "more line")+": tab, \\ ")
		}
	case paneEvents:
		r.title("Events", "enter: packet", focus)
		if p.events.length() == 0 {
			body.print(1, 0, faint, "none: nothing was resent, refused or cut off")
			return
		}
		p.events.draw(body, focus)
	}
}

func (p *connPage) drawPlot(u *ui, r region, focus bool) {
	body := r.rows(1, r.h-1)
	if p.detail == nil || len(p.detail.Points) == 0 {
		why := p.why
		if why == "" {
			why = "no packet with a sequence number was kept"
		}
		r.title("Sequence over time", "", focus)
		body.print(1, 0, faint, "not available: "+cut(clean(why), r.w-18))
		return
	}
	name := p.detail.SequenceName
	if name == "" {
		name = "PSN"
	}
	direction := "A→B"
	if p.plot.flow == 1 {
		direction = "B→A"
	}
	over := " over time"
	if p.plot.byPacket {
		over = " over packets"
	}
	aside := "· data  ▪ resent  ✖ NAK  ▲ RNR  ▒ paused"
	if p.detail.PointsNote != "" {
		aside += "  (" + p.detail.PointsNote + ")"
	}
	r.title(name+over+" "+direction, aside, focus)
	p.plot.draw(u, body, p.detail, focus)
}

// histogram is the one shown, nil when there are none.
func (p *connPage) histogram() *Histogram {
	if p.detail == nil || len(p.detail.Histograms) == 0 {
		return nil
	}
	return &p.detail.Histograms[p.kind%len(p.detail.Histograms)]
}

func (p *connPage) drawLatency(r region, focus bool) {
	body := r.rows(1, r.h-1)
	if h := p.histogram(); h != nil {
		n := int64(0)
		for _, b := range h.Buckets {
			n += b.Count
		}
		r.title("Latency: "+h.Name, "log scale, n = "+count(n)+", x: next kind", focus)
		drawHistogram(body, h, p.blockOf(h))
		return
	}
	r.title("Latency", "from the tap to the responder and back", focus)
	lines := latencyTable(p.c)
	if r.w < 100 || len(lines) > body.h {
		lines = narrowLatency(p.c)
	}
	if len(lines) == 0 {
		body.print(1, 0, faint, "no sample: "+latencyReason(p.c))
	}
	for y, l := range lines {
		at := plain
		if y == 0 && r.w >= 100 && len(lines) == len(latencyTable(p.c)) {
			at = tableHead
		}
		body.print(1, y, at, cut(l, r.w-2))
	}
}

// blockOf is the snapshot's block that a histogram spreads out.
func (p *connPage) blockOf(h *Histogram) *analysis.Latency {
	if int(h.Flow) >= len(p.c.Flows) {
		return nil
	}
	for _, k := range latencyKinds(&p.c.Flows[h.Flow]) {
		if k.name == h.Name {
			return k.block
		}
	}
	return nil
}

func latencyReason(c *analysis.Connection) string {
	for i := range c.Flows {
		if why := c.Flows[i].Reasons["latency"]; why != "" {
			return clean(why)
		}
	}
	if len(c.Flows) < 2 {
		return "only one direction was seen"
	}
	return "no request with its answer was seen"
}

func (p *connPage) mouse(_ *ui, a tview.MouseAction, x, y int) bool {
	used, _, _ := p.events.mouse(a, x, y)
	if used {
		p.focus = paneEvents
	}
	return used
}
