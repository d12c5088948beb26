package tui

import (
	"maps"
	"slices"
	"strings"

	"github.com/rivo/tview"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// hostMetric is what the matrix shows.
type hostMetric struct {
	name  string
	get   func(hostCell) int64
	write func(int64) string
}

var hostMetrics = []hostMetric{
	{"bytes", func(c hostCell) int64 { return c.bytes }, byteSize},
	{"packets", func(c hostCell) int64 { return c.packets }, short},
	{"resent", func(c hostCell) int64 { return c.resent }, short},
	{"latency p99", func(c hostCell) int64 { return c.p99 }, duration},
}

// hostsPage is the matrix of who talks to whom.
type hostsPage struct {
	row, col, left, scroll int
	metric                 int

	*hostMatrix
	have   *analysis.Snapshot
	making *analysis.Snapshot // in the background
	area   region
	fit    int // columns drawn last
}

func newHostsPage() *hostsPage { return &hostsPage{hostMatrix: &hostMatrix{}} }

func (p *hostsPage) crumb(*ui) string { return "Hosts" }

func (p *hostsPage) status(*ui) string {
	return plural(int64(len(p.hosts)), "host") + "   " + hostMetrics[p.metric].name + " from row to column"
}

// sync takes the matrix of the snapshot; that of many connections is made in
// the background, and the old one is shown meanwhile.
func (p *hostsPage) sync(u *ui) {
	if p.have == u.snap || p.making != nil {
		return
	}
	s := u.snap
	if len(s.Connections) < bigList || u.host.post == nil {
		p.take(s, newHostMatrix(s))
		return
	}
	p.making = s
	u.background(func() func() {
		m := newHostMatrix(s)
		return func() {
			p.making = nil
			p.take(s, m)
		}
	})
}

// take swaps the matrix; the cursor stays on its pair.
func (p *hostsPage) take(s *analysis.Snapshot, m *hostMatrix) {
	here, there := p.pair()
	p.have, p.hostMatrix = s, m
	p.row, p.col = max(slices.Index(p.hosts, here), 0), max(slices.Index(p.hosts, there), 0)
	if here == "" && len(p.hosts) > 1 {
		p.col = 1 // the diagonal tells nothing
	}
}

func (p *hostsPage) forget() { p.have = nil }

const hostLabel, hostWidth = 22, 9

func (p *hostsPage) draw(u *ui, r region) {
	if len(p.hosts) == 0 {
		why := "no RDMA host seen so far"
		if p.making != nil {
			why = "adding up …"
		}
		r.print(3, 1, plain, why)
		return
	}
	panel := min(max(r.h/3, 5), 12)
	p.drawMatrix(r.rows(0, r.h-panel))
	p.drawPanel(u, r.rows(r.h-panel, panel))
}

func (p *hostsPage) drawMatrix(r region) {
	p.area = r
	p.fit = min(max((r.w-hostLabel-2)/hostWidth, 1), len(p.hosts))
	rows := max(r.h-1, 1)
	p.row, p.col = min(max(p.row, 0), len(p.hosts)-1), min(max(p.col, 0), len(p.hosts)-1)
	p.left = max(min(p.left, p.col), p.col-p.fit+1)
	p.scroll = max(min(p.scroll, p.row), p.row-rows+1)
	m := hostMetrics[p.metric]
	top := max(p.tops[p.metric], 1)
	r.print(1, 0, tableHead, "from ↓  to →")
	for k := range p.fit {
		h := p.hosts[p.left+k]
		r.print(hostLabel+k*hostWidth, 0, tableHead, pad(elideLeft(clean(h), hostWidth-1), hostWidth-1, true))
	}
	for y := 0; y < rows && p.scroll+y < len(p.hosts); y++ {
		src := p.hosts[p.scroll+y]
		r.print(1, y+1, plain, elide(clean(src), hostLabel-2))
		for k := range p.fit {
			p.drawCell(r, hostLabel+k*hostWidth, y+1, p.cells[hostPairKey{src, p.hosts[p.left+k]}], m, top)
		}
	}
	y := p.row - p.scroll + 1
	r.print(0, y, selected, "▸")
	r.restyle(1, y, hostLabel-2, selected)
	r.restyle(hostLabel+(p.col-p.left)*hostWidth, y, hostWidth-1, cell)
}

func (p *hostsPage) drawCell(r region, x, y int, c hostCell, m hostMetric, top int64) {
	if !c.known {
		r.print(x, y, faint, pad("·", hostWidth-1, true))
		return
	}
	v := m.get(c)
	share := float64(v) / float64(top)
	r.put(x, y, plot.Shade(share, r.t.level), r.t.hot(share))
	r.printStyle(x+1, y, r.t.hot(share), pad(cut(m.write(v), hostWidth-2), hostWidth-2, true))
}

// elideLeft keeps the end of a text: hosts of one network differ there.
func elideLeft(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	return "…" + cutLeft(s, columns(s)-w+1)
}

func (p *hostsPage) pair() (src, dst string) {
	if p.row >= len(p.hosts) || p.col >= len(p.hosts) {
		return "", ""
	}
	return p.hosts[p.row], p.hosts[p.col]
}

// drawPanel tells about the pair, and what the sender's NIC would count.
func (p *hostsPage) drawPanel(u *ui, r region) {
	src, dst := p.pair()
	r.title(src+" → "+dst, "", false)
	c := p.cells[hostPairKey{src, dst}]
	line := numbers{}
	if c.known {
		line.add("bytes", byteSize(c.bytes), plain)
		line.add("packets", count(c.packets), plain)
		line.bad("resent", &c.resent, warning)
		if c.p99 > 0 {
			line.add("worst p99", duration(c.p99), plain)
		}
	} else {
		line = numbers{{faint, "nothing was sent this way"}}
	}
	r.spans(1, 1, line...)
	for i := range u.snap.Hosts {
		if h := &u.snap.Hosts[i]; h.IP == src {
			drawHost(r.rows(2, r.h-2), h)
		}
	}
}

func drawHost(r region, h *analysis.Host) {
	n := numbers{{heading, clean(h.IP)}}
	n.add("connections", count(h.Connections), plain)
	n.add("sent", count(h.SentPackets)+" ("+byteSize(h.SentBytes)+")", plain)
	n.add("received", count(h.ReceivedPackets)+" ("+byteSize(h.ReceivedBytes)+")", plain)
	for _, m := range h.MACs {
		n.add("MAC", clean(m), plain)
	}
	y, x := 0, 1
	for _, l := range foldNumbers([][]span{n}, r.w-2) {
		r.spans(1, y, l...)
		y++
	}
	for _, name := range slices.Sorted(maps.Keys(h.Counters)) {
		c := h.Counters[name]
		text := clean(name) + " " + orUnknown(c.Value, count)
		if c.Exactness == "lower_bound" && c.Value != nil {
			text = clean(name) + " ≥" + count(*c.Value)
		}
		if x+columns(text)+2 > r.w {
			x, y = 1, y+1
		}
		l := plain
		if value(c.Value) == 0 {
			l = faint
		}
		x = r.print(x, y, l, text) + 2
	}
}

func (p *hostsPage) key(u *ui, k key) bool {
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
		p.row = 0
	case "G", "end":
		p.row = len(p.hosts) - 1
	case "ctrl-f", "pgdn":
		p.row += max(p.area.h-1, 1)
	case "ctrl-b", "pgup":
		p.row -= max(p.area.h-1, 1)
	case "ctrl-d":
		p.row += max(p.area.h/2, 1)
	case "ctrl-u":
		p.row -= max(p.area.h/2, 1)
	case "x":
		p.metric = (p.metric + 1) % len(hostMetrics)
	case "enter":
		if src, dst := p.pair(); src != "" {
			f := newFlowsPage()
			f.g.recall(u.recalled("flows"))
			f.hosts = hostPair{src, dst}
			u.open(f)
		}
	default:
		return false
	}
	p.row, p.col = min(max(p.row, 0), max(len(p.hosts)-1, 0)), min(max(p.col, 0), max(len(p.hosts)-1, 0))
	return true
}

func (p *hostsPage) hints(*ui) []hint {
	return []hint{{"hjkl", "move"}, {"enter", "their connections"}, {"x", "what is shown"}, {"/", "search"}, {"0-5", "view"}, {"y", "copy"}, {"e", "export"}, {":", "command"}}
}

func (p *hostsPage) search(_ *ui, text string, dir int, here bool) hit {
	n := len(p.hosts)
	first := 1
	if here {
		first = 0
	}
	for d := first; d < n+first; d++ {
		i := ((p.row+dir*d)%n + n) % n
		if containsFold(p.hosts[i], text) {
			p.row = i
			return hitFound
		}
	}
	return hitNone
}

func (p *hostsPage) copies(u *ui) []choice {
	src, dst := p.pair()
	if src == "" {
		return nil
	}
	f := "ip.src == " + src + " && ip.dst == " + dst
	return []choice{{label: "from", value: src}, {label: "to", value: dst}, {label: "display filter", value: f}, {label: "tshark command", value: u.tshark(f)}}
}

func (p *hostsPage) export(*ui) *sheet {
	pairs, cells := p.pairs(), p.cells
	s := &sheet{name: "hosts", columns: []string{"from", "to"}, rows: len(pairs)}
	for _, m := range hostMetrics {
		s.columns = append(s.columns, m.name)
	}
	s.row = func(i int) []string {
		out := []string{pairs[i].src, pairs[i].dst}
		for _, m := range hostMetrics {
			out = append(out, count(m.get(cells[pairs[i]])))
		}
		return out
	}
	return s
}

func (p *hostsPage) place() string { a, b := p.pair(); return a + "|" + b }

func (p *hostsPage) gotoPlace(_ *ui, place string) bool {
	src, dst, _ := strings.Cut(place, "|")
	row, col := slices.Index(p.hosts, src), slices.Index(p.hosts, dst)
	if row < 0 || col < 0 {
		return place == "|"
	}
	p.row, p.col = row, col
	return true
}

func (p *hostsPage) jump(_ *ui, n int64) bool {
	if n > int64(len(p.hosts)) {
		return false
	}
	p.row = int(n - 1)
	return true
}

func (p *hostsPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	switch a {
	case tview.MouseScrollUp:
		return p.key(u, "up")
	case tview.MouseScrollDown:
		return p.key(u, "down")
	}
	row := y - p.area.y - 1 + p.scroll
	if y <= p.area.y || y >= p.area.y+p.area.h || row >= len(p.hosts) {
		return false
	}
	p.row = row
	if k := (x - hostLabel) / hostWidth; x >= hostLabel && k < p.fit {
		p.col = p.left + k
	}
	if a == tview.MouseLeftDoubleClick {
		p.key(u, "enter")
	}
	return true
}
