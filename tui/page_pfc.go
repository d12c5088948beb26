package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/tview"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// pfcPage shows who paused whom: port × priority × time.
type pfcPage struct {
	row, col int // cursor: lane, cell
	scroll   int
	all      bool // all eight priorities

	ports []port
	have  *analysis.Snapshot
	with  bool // all, as built
	w     int  // cells drawn last
	top   int  // screen line of the first row
	where []int
}

func newPFCPage() *pfcPage { return &pfcPage{} }

func (p *pfcPage) crumb(*ui) string { return "PFC" }

const pfcLabel, pfcRight = 9, 21 // columns left and right of the heat

func (p *pfcPage) status(u *ui) string {
	from, to := u.window.span(u.snap)
	if len(p.ports) == 0 || p.w == 0 || to <= from {
		return ""
	}
	return "paused share per " + duration(int64(to-from)/int64(p.w)) + " cell  ·0 ░▒▓█100 %"
}

func (p *pfcPage) sync(u *ui) {
	if p.have == u.snap && p.with == p.all {
		return
	}
	place := p.place()
	p.have, p.with = u.snap, p.all
	p.ports = pausePorts(u, p.all)
	if place == "" || !p.gotoPlace(u, place) {
		p.row, p.col = 0, -1
	}
}

func (p *pfcPage) forget() { p.have = nil }

// begin puts the cursor on the first pause of whoever paused longest.
func (p *pfcPage) begin(u *ui, lanes []*lane) {
	p.row, p.col = 0, 0
	for i, l := range lanes {
		if l.source != nil && (lanes[p.row].source == nil || value(l.source.PausedNS) > value(lanes[p.row].source.PausedNS)) {
			p.row = i
		}
	}
	from, to := u.window.span(u.snap)
	p.col = max(slices.IndexFunc(lanes[p.row].shares(from, to, p.w), func(s float64) bool { return s > 0 }), 0)
}

func (p *pfcPage) lanes() []*lane {
	var out []*lane
	for i := range p.ports {
		for k := range p.ports[i].lanes {
			out = append(out, &p.ports[i].lanes[k])
		}
	}
	return out
}

func (p *pfcPage) draw(u *ui, r region) {
	lanes := p.lanes()
	if len(lanes) == 0 {
		p.drawNone(u, r)
		return
	}
	p.w = max(r.w-pfcLabel-pfcRight, 10)
	if p.col < 0 {
		p.begin(u, lanes)
	}
	p.row, p.col = min(max(p.row, 0), len(lanes)-1), min(max(p.col, 0), p.w-1)
	panel := min(max(r.h/3, 5), 9)
	p.drawLanes(u, r.rows(0, r.h-panel))
	p.drawPanel(u, r.rows(r.h-panel, panel), lanes[p.row])
}

func (p *pfcPage) drawNone(u *ui, r region) {
	switch {
	case u.snap.Capture.PFCVisible:
		r.print(3, 1, good, "✔ MAC control frames were seen, none of them a pause")
	case u.progress.Done || u.snap.Capture.Packets > 0:
		for y, l := range wrap("No pause frame was seen: there is no MAC control frame in this capture. NICs take pause frames off before the host sees them and "+
			"mirror ports rarely copy them, so this says nothing about whether there were pauses. The switch's and the NIC's pause counters know.", min(r.w-6, 90)) {
			r.print(3, 1+y, plain, l)
		}
	default:
		r.print(3, 1, faint, "nothing read yet")
	}
}

// drawLanes draws ports, lanes and the time axis, scrolled to the cursor.
func (p *pfcPage) drawLanes(u *ui, r region) {
	from, to := u.window.span(u.snap)
	type line struct {
		port *port
		lane *lane
		n    int
	}
	var lines []line
	n, cursorLine := 0, 0
	for i := range p.ports {
		lines = append(lines, line{port: &p.ports[i]})
		for k := range p.ports[i].lanes {
			if n == p.row {
				cursorLine = len(lines)
			}
			lines = append(lines, line{lane: &p.ports[i].lanes[k], n: n})
			n++
		}
	}
	room := r.h - 1
	p.scroll = max(min(p.scroll, cursorLine-1), cursorLine-room+1)
	p.scroll = max(min(p.scroll, len(lines)-room), 0)
	p.top, p.where = r.y, p.where[:0]
	y := 0
	for ; y < room && p.scroll+y < len(lines); y++ {
		l := lines[p.scroll+y]
		at := r.rows(y, 1)
		if l.port != nil {
			at.title(l.port.eth, portText(u.snap, l.port), false)
			p.where = append(p.where, -1)
			continue
		}
		p.where = append(p.where, l.n)
		p.drawLane(at, l.lane, from, to)
		if l.n == p.row {
			at.restyle(0, 0, pfcLabel-1, selected)
			at.restyle(pfcLabel+p.col, 0, 1, cell)
		}
	}
	p.drawAxis(r.rows(y, 1), from, to)
}

func (p *pfcPage) drawLane(r region, l *lane, from, to analysis.Time) {
	name := "prio " + l.prio.String()
	if l.prio == analysis.PriorityAll {
		name = "802.3x"
	}
	r.print(1, 0, plain, name)
	shares := l.shares(from, to, p.w)
	r.drawHeat(pfcLabel, 0, shares)
	if !slices.ContainsFunc(shares, func(s float64) bool { return s != notKnown }) {
		r.print(pfcLabel, 0, faint, cut("paused, but when was not kept", p.w))
	}
	x := pfcLabel + p.w
	if l.source == nil {
		r.print(x, 0, faint, pad("·", 8, true))
		return
	}
	r.print(x, 0, plain, pad(ratioOr(l.source.PausedRatio), 8, true))
	r.print(x+8, 0, faint, pad(short(l.source.XOFFFrames), 7, true)+" XOFF")
}

func (p *pfcPage) drawAxis(r region, from, to analysis.Time) {
	if !from.Known() {
		return
	}
	n := decimals(int64(to - from))
	r.print(pfcLabel, 0, faint, clock(from, n))
	end := clock(to, n)
	r.print(pfcLabel+p.w-columns(end), 0, faint, end)
}

// portText says where a sender was seen, and which hosts have its address.
func portText(s *analysis.Snapshot, p *port) string {
	out := "seen on " + p.iface
	for i := range p.lanes {
		if src := p.lanes[i].source; src != nil && src.Direction != "" {
			out += ", " + string(src.Direction)
			break
		}
	}
	for i := range s.Hosts {
		for _, m := range s.Hosts[i].MACs {
			if strings.EqualFold(m, p.eth) {
				out += ", host " + s.Hosts[i].IP
			}
		}
	}
	return out
}

// cellSpan is the time of the cell under the cursor.
func (p *pfcPage) cellSpan(u *ui) (from, to analysis.Time) {
	a, b := u.window.span(u.snap)
	width := float64(b-a) / float64(max(p.w, 1))
	return a + analysis.Time(float64(p.col)*width), a + analysis.Time(float64(p.col+1)*width)
}

func (p *pfcPage) key(u *ui, k key) bool {
	lanes := p.lanes()
	switch k {
	case "j", "down":
		p.row++
	case "k", "up":
		p.row--
	case "h", "left":
		p.col--
	case "l", "right":
		p.col++
	case "g", "home":
		p.col = 0
	case "G", "end":
		p.col = p.w - 1
	case "ctrl-f", "pgdn":
		p.col += p.w / 4
	case "ctrl-b", "pgup":
		p.col -= p.w / 4
	case "ctrl-d":
		p.row += 8
	case "ctrl-u":
		p.row -= 8
	case "a":
		p.all = !p.all
		p.sync(u)
	case "n", "N":
		p.nextPause(u, lanes, k)
	case "[", "]":
		factor := 2.0
		if k == "]" {
			factor = 0.5
		}
		from, to := p.cellSpan(u)
		u.window.zoomAt(u.snap, factor, from+(to-from)/2)
	case "enter":
		p.openCell(u, lanes)
	default:
		return false
	}
	n := len(p.lanes())
	p.row, p.col = min(max(p.row, 0), max(n-1, 0)), min(max(p.col, 0), max(p.w-1, 0))
	return true
}

// nextPause moves to the next cell of the lane where a pause begins.
func (p *pfcPage) nextPause(u *ui, lanes []*lane, k key) {
	if len(lanes) == 0 {
		return
	}
	from, to := u.window.span(u.snap)
	shares := lanes[p.row].shares(from, to, p.w)
	step := 1
	if k == "N" {
		step = -1
	}
	for i := p.col + step; i >= 0 && i < len(shares); i += step {
		if shares[i] > 0 && (i == 0 || shares[i-1] == 0) {
			p.col = i
			return
		}
	}
	u.say("no more pauses that way")
}

// openCell goes to the packets at the cell's time.
func (p *pfcPage) openCell(u *ui, lanes []*lane) {
	if len(lanes) == 0 {
		return
	}
	from, to := p.cellSpan(u)
	if _, _, packet := lanes[p.row].within(from, to); packet > 0 {
		u.openPacket(packet)
		return
	}
	u.openPacketAt(from)
}

func (p *pfcPage) hints(*ui) []hint {
	return []hint{{"hjkl", "move"}, {"enter", "packets"}, {"n N", "next pause"}, {"a", "all priorities"}, {"[ ]", "zoom"}, {"0-5", "view"}, {"y", "copy"}, {"e", "export"}, {":", "command"}}
}

func (p *pfcPage) copies(u *ui) []choice {
	lanes := p.lanes()
	if len(lanes) == 0 {
		return nil
	}
	l := lanes[p.row]
	f := "eth.src == " + l.eth
	if l.prio != analysis.PriorityAll {
		f += fmt.Sprintf(" && macc.cbfc.enbv.c%d == 1", l.prio)
	}
	return []choice{{label: "address", value: l.eth}, {label: "display filter", value: f}, {label: "tshark command", value: u.tshark(f)}}
}

// export is the heat as numbers: one row a lane and cell.
func (p *pfcPage) export(u *ui) *sheet {
	lanes := p.lanes()
	if len(lanes) == 0 || p.w == 0 {
		return nil
	}
	from, to := u.window.span(u.snap)
	w := p.w
	axis := plot.Axis{Min: int64(from), Max: int64(to), N: w + 1}
	return &sheet{name: "pfc", columns: []string{"interface", "eth_src", "priority", "time", "paused_ratio"}, rows: len(lanes) * w,
		row: func(i int) []string {
			l := lanes[i/w]
			share := l.shares(from, to, w)[i%w]
			text := unknown
			if share != notKnown {
				text = fmt.Sprintf("%.4f", share)
			}
			return []string{l.iface, l.eth, l.prio.String(), analysis.Time(axis.Value(i % w)).String(), text}
		}}
}

func (p *pfcPage) place() string {
	lanes := p.lanes()
	if p.row >= len(lanes) {
		return ""
	}
	l := lanes[p.row]
	return l.iface + "|" + l.eth + "|" + l.prio.String()
}

func (p *pfcPage) gotoPlace(_ *ui, place string) bool {
	for i, l := range p.lanes() {
		if l.iface+"|"+l.eth+"|"+l.prio.String() == place {
			p.row = i
			return true
		}
	}
	return place == ""
}

func (p *pfcPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	switch a {
	case tview.MouseScrollUp:
		return p.key(u, "up")
	case tview.MouseScrollDown:
		return p.key(u, "down")
	}
	i := y - p.top
	if i < 0 || i >= len(p.where) || p.where[i] < 0 {
		return false
	}
	p.row = p.where[i]
	if x >= pfcLabel && x < pfcLabel+p.w {
		p.col = x - pfcLabel
	}
	if a == tview.MouseLeftDoubleClick {
		p.key(u, "enter")
	}
	return true
}
