package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rivo/tview"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// Panes of the packet page.
const (
	paneList = iota
	paneTree
	paneHex
	packetPanes
)

// packetsPage is the packets: list, decode tree, octets.
type packetsPage struct {
	cache *packetCache
	list  *packetList
	g     *grid[packetRow]
	tree  *grid[treeRow]
	folds map[string]bool

	name  string                  // what it is limited to, "" for all
	given []int64                 // to these, or
	only  func(*wire.Packet) bool // to those that it selects
	expr  string                  // display filter, within that
	match func(*wire.Packet) bool // both together; nil: no need to look
	scan  *scan
	seek  *scan // of n, N, . and ,

	focus  int
	max    bool
	layout int // 0 all three, 1 list alone, 2 packet alone
	goTo   int64
	shown  int64 // packet whose tree is built
	marks  map[int64]*analysis.Finding
	resent map[int64]bool
	have   *analysis.Snapshot
}

// newPacketsPage shows all packets; pages share one cache.
func newPacketsPage(u *ui) *packetsPage {
	p := &packetsPage{folds: map[string]bool{}}
	if u.opt.Packets == nil {
		return p
	}
	if root, ok := u.roots[viewPackets].(*packetsPage); ok {
		p.cache = root.cache
	} else {
		p.cache = newPacketCache(u.opt.Packets)
	}
	p.list = &packetList{cache: p.cache, all: true, first: 1}
	p.g = newGrid(packetColumns(func() analysis.Time { return p.start(u) }, func(n int64) (string, look) { return p.mark(u, n) },
		func(n int64) string { return markWords(u.packetMarks(n)) }), rows[packetRow](p.list))
	p.g.col = 6
	p.g.fixed = true
	p.g.recall(u.recalled("packets"))
	p.tree = newGrid(treeColumns(), rows[treeRow](treeRows(nil)))
	p.tree.heads, p.tree.fixed = false, true
	return p
}

// start is the capture's first moment; before there is a snapshot, that of the
// oldest packet there is.
func (p *packetsPage) start(u *ui) analysis.Time {
	if t := u.snap.Capture.StartTime; t.Known() {
		return t
	}
	if e := p.cache.get(p.list.first); e != nil && e.p != nil {
		return analysis.Time(e.p.Time)
	}
	return 0
}

func (p *packetsPage) mark(u *ui, n int64) (string, look) {
	again := ""
	if p.isResent(u, n) {
		again = "↻"
	}
	if f := p.marks[n]; f != nil {
		return f.ID + again, severityLook(f.Severity)
	}
	return again, warning
}

func (p *packetsPage) crumb(*ui) string {
	if p.name == "" {
		return "Packets"
	}
	return "Packets " + p.name
}

func (p *packetsPage) status(u *ui) string {
	if p.list == nil {
		return ""
	}
	total, complete := u.opt.Packets.Count()
	text := plural(total, "packet")
	if !complete {
		text += " so far"
	}
	if !p.list.all {
		text = count(int64(len(p.list.list))) + " of " + text
	} else if n := int64(p.list.Len()); n < total && p.list.first > 1 {
		text = "newest " + count(n) + " of " + text
	}
	switch s := p.scan; {
	case s == nil:
	case errors.Is(s.err, context.Canceled):
		text += ", stopped at " + count(s.at)
	case s.err != nil:
		text += ", stopped: " + s.err.Error()
	case s.full:
		text += ", stopped at " + count(s.at)
	case !s.done:
		text += ", looking at " + count(s.at) + " …"
	}
	if p.seek != nil && !p.seek.done {
		text += "   searching … esc stops"
	}
	return text
}

func (p *packetsPage) sync(u *ui) {
	if p.list == nil {
		return
	}
	p.cache.begin()
	total, _ := u.opt.Packets.Count()
	fitPackets(p.g.cols, total, &u.snap.Capture)
	p.follow(u, total)
	p.scanOn(u, total)
	if p.goTo > 0 && p.list.Len() > 0 {
		p.g.cursor = min(max(p.list.index(p.goTo), 0), p.list.Len()-1)
		if !p.list.all || p.goTo <= p.list.total {
			p.goTo = 0
		}
	}
	p.g.clamp()
	if p.have != u.snap {
		p.have = u.snap
		p.marks, p.resent = packetMarks(u.snap)
	}
	p.syncTree()
}

// packetMarks are the packets that findings and recoveries name.
func packetMarks(s *analysis.Snapshot) (map[int64]*analysis.Finding, map[int64]bool) {
	marks, resent := map[int64]*analysis.Finding{}, map[int64]bool{}
	for i := len(s.Findings) - 1; i >= 0; i-- { // the most important one stays
		for _, n := range evidence(&s.Findings[i]) {
			marks[n] = &s.Findings[i]
		}
	}
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			for _, r := range s.Connections[i].Flows[k].Recoveries {
				if r.FirstPacket != nil {
					resent[*r.FirstPacket] = true
				}
			}
		}
	}
	return marks, resent
}

func (p *packetsPage) forget() { p.have = nil }

func (p *packetsPage) syncTree() {
	r, ok := p.g.current()
	if !ok || r.e == nil || r.e.p == nil {
		if !ok || r.e != nil {
			p.shown = 0
			p.tree.setList(treeRows(nil))
		}
		return
	}
	if r.e.tree == nil {
		r.e.tree = wire.Tree(r.e.p)
	}
	p.shown = r.n
	field := p.tree.id()
	list := unfold(r.e.tree, p.folds)
	p.tree.setList(list)
	if field == "" || p.tree.id() != field { // else begin at what is unfolded: the transport
		p.tree.cursor = max(slices.IndexFunc(list, func(t treeRow) bool { return t.depth == 0 && t.open && len(t.node.Children) > 0 }), 0)
	}
}

// showField puts the tree's cursor on the first field whose name begins so.
func (p *packetsPage) showField(name string) {
	list, _ := p.tree.list.(treeRows)
	if i := slices.IndexFunc(list, func(t treeRow) bool { return strings.HasPrefix(t.node.Name, name) && t.depth > 0 }); i >= 0 {
		p.tree.cursor = i
	}
}

func (p *packetsPage) draw(u *ui, r region) {
	if p.list == nil {
		why := u.opt.WhyNoPacket
		if why == "" {
			why = "it cannot be read at any place"
		}
		for y, l := range wrap(clean("The packet view is not available for this input: "+why), r.w-6) {
			r.print(3, 1+y, plain, l)
		}
		return
	}
	y := 0
	if p.expr != "" {
		x := r.print(1, 0, faint, "display: ")
		r.print(x, 0, good, cut(clean(p.expr), r.w-x-1))
		y = 1
	}
	body := r.rows(y, r.h-y)
	list, tree, hex := p.heights(body.h)
	if list > 0 {
		p.drawList(u, body.rows(0, list))
	}
	if tree > 0 {
		p.drawTree(body.rows(list, tree))
	}
	if hex > 0 {
		p.drawOctets(body.rows(list+tree, hex))
	}
	p.cache.end(u)
}

func (p *packetsPage) heights(h int) (list, tree, hex int) {
	if p.max {
		switch p.focus {
		case paneList:
			return h, 0, 0
		case paneTree:
			return 0, h, 0
		}
		return 0, 0, h
	}
	switch p.layout {
	case 1:
		return h, 0, 0
	case 2:
		hex = h / 3
		return 0, h - hex, hex
	}
	hex = max(h/5, 4)
	list = max(h/3, 5)
	return list, h - list - hex, hex
}

func (p *packetsPage) drawList(u *ui, r region) {
	p.g.draw(r, p.focus == paneList)
	if p.list.Len() == 0 {
		why := noneYet(u)
		switch {
		case p.scan != nil && !p.scan.done:
			why = "looking …"
		case !p.list.all:
			why = "no packet matches"
		}
		r.print(3, 2, plain, why)
	}
}

func (p *packetsPage) drawTree(r region) {
	title := "Decode"
	if p.shown > 0 {
		title += " of packet " + count(p.shown)
	}
	r.title(title, "enter folds", p.focus == paneTree)
	p.tree.draw(r.rows(1, r.h-1), p.focus == paneTree)
}

func (p *packetsPage) drawOctets(r region) {
	row, ok := p.g.current()
	if !ok || row.e == nil || row.e.p == nil {
		r.title("Octets", "", p.focus == paneHex)
		return
	}
	off, length, aside := 0, 0, ""
	if t, ok := p.tree.current(); ok {
		off, length = t.node.Off, t.node.Len
		if length > 0 {
			aside = clean(t.node.Name) + " at 0x" + hexNumber(off) + ", " + plural(int64(length), "octet")
		}
	}
	r.title("Octets", aside, p.focus == paneHex)
	drawHex(r.rows(1, r.h-1), row.e.p.Data, off, length)
}

func hexNumber(v int) string {
	const digits = "0123456789abcdef"
	if v < 16 {
		return digits[v : v+1]
	}
	return hexNumber(v/16) + digits[v%16:v%16+1]
}

func (p *packetsPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	if p.list == nil {
		return false
	}
	if used, _, _ := p.g.mouse(a, x, y); used {
		p.focus = paneList
		p.syncTree()
		return true
	}
	used, opened, _ := p.tree.mouse(a, x, y)
	if used {
		p.focus = paneTree
		if opened {
			p.fold()
		}
	}
	return used
}

// fold turns the branch under the cursor.
func (p *packetsPage) fold() {
	if t, ok := p.tree.current(); ok && len(t.node.Children) > 0 {
		p.folds[t.path] = !p.folds[t.path]
		p.syncTree()
	}
}

func (p *packetsPage) filter() string { return p.expr }

func (p *packetsPage) checkFilter(u *ui, expr string) error {
	if strings.TrimSpace(expr) == "" {
		return nil
	}
	_, err := compilePacket(u, expr)
	return err
}

func compilePacket(u *ui, expr string) (func(*wire.Packet) bool, error) {
	if u.opt.PacketFilter == nil {
		return nil, errNoFilter
	}
	return u.opt.PacketFilter.CompilePacket(expr)
}

func (p *packetsPage) setFilter(u *ui, expr string) error {
	if p.list == nil {
		return nil
	}
	if expr == "" {
		p.expr, p.match = "", p.only
		if p.only != nil {
			p.limit(u)
		} else {
			p.showAll()
		}
		return nil
	}
	m, err := compilePacket(u, expr)
	if err != nil {
		return err
	}
	p.expr, p.match = expr, p.within(m)
	p.limit(u)
	return nil
}

// within narrows a filter to what the page is limited to.
func (p *packetsPage) within(m func(*wire.Packet) bool) func(*wire.Packet) bool {
	only, given := p.only, p.given
	switch {
	case only != nil:
		return func(q *wire.Packet) bool { return only(q) && m(q) }
	case given != nil:
		return func(q *wire.Packet) bool {
			_, found := slices.BinarySearch(given, q.Number)
			return found && m(q)
		}
	}
	return m
}

func (p *packetsPage) filterNames(u *ui) []Name {
	if u.opt.PacketFilter == nil {
		return nil
	}
	return u.opt.PacketFilter.PacketNames()
}

// showAll takes a limit off; the cursor stays on its packet.
func (p *packetsPage) showAll() {
	p.scan.stop()
	p.scan = nil
	if p.given != nil {
		p.list.list = p.given
		return
	}
	if p.list.Len() > 0 && p.g.cursor < p.list.Len() {
		p.goTo = p.list.number(p.g.cursor)
	}
	p.list.all = true
}

// limit lists the packets that match, as they are found.
func (p *packetsPage) limit(u *ui) {
	p.scan.stop()
	if p.list.Len() > 0 && p.g.cursor < p.list.Len() {
		p.goTo = p.list.number(p.g.cursor)
	}
	keep := p.goTo
	p.list.all, p.list.list = false, nil
	p.g.cursor = 0
	p.scan = u.scanFrom(1, p.match, func(found []int64) {
		p.list.list = append(p.list.list, found...)
		if keep > 0 && len(p.list.list) > 0 && p.list.list[len(p.list.list)-1] >= keep {
			p.g.cursor = min(p.list.index(keep), len(p.list.list)-1)
			keep = 0
		}
	})
	p.goTo = 0
}

func (p *packetsPage) cellTerm(*ui) string {
	if p.list == nil {
		return ""
	}
	if p.focus == paneTree {
		return p.tree.cellTerm()
	}
	return p.g.cellTerm()
}
