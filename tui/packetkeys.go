package tui

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

func (p *packetsPage) key(u *ui, k key) bool {
	if p.list == nil {
		return false
	}
	switch k {
	case "tab":
		p.focus = (p.focus + 1) % packetPanes
	case "shift-tab":
		p.focus = (p.focus + packetPanes - 1) % packetPanes
	case "\\":
		p.max = !p.max
	case "|":
		p.layout = (p.layout + 1) % 3
	case "esc":
		return p.escape(u)
	case ".", ",":
		p.nextNak(u, k)
	case "t":
		p.nextResent(u, 1)
	case "T":
		p.nextResent(u, -1)
	case "n", "N":
		if u.search != "" {
			return false
		}
		p.nextOf(u, slices.Sorted(maps.Keys(p.marks)), k == "n", "packet of a finding")
	case "o":
		p.openFinding(u)
	default:
		return p.paneKey(k)
	}
	return true
}

// escape stops what runs, then takes off what limits, then leaves.
func (p *packetsPage) escape(u *ui) bool {
	switch {
	case p.seek != nil && !p.seek.done:
		p.seek.stop()
		p.seek = nil
	case p.max:
		p.max = false
	case p.focus != paneList:
		p.focus = paneList
	case p.expr != "":
		_ = p.setFilter(u, "")
	default:
		return false
	}
	return true
}

// leave ends what looks for packets in the background.
func (p *packetsPage) leave() {
	p.scan.stop()
	p.seek.stop()
}

func (p *packetsPage) paneKey(k key) bool {
	used := false
	switch p.focus {
	case paneList:
		if k == "enter" {
			p.focus = paneTree
			return true
		}
		used = p.g.move(k)
		p.cache.begin()
		p.syncTree()
	default:
		if k == "enter" {
			p.fold()
			return true
		}
		used = p.tree.move(k)
	}
	return used
}

// nextOf moves to the next of a sorted list of packets.
func (p *packetsPage) nextOf(u *ui, list []int64, forward bool, what string) {
	here := p.number()
	i, found := slices.BinarySearch(list, here)
	if forward {
		if found {
			i++
		}
	} else {
		i--
	}
	if i < 0 || i >= len(list) {
		u.say("no more " + what + " that way")
		return
	}
	p.goPacket(u, list[i])
}

// number is the packet under the cursor, 0 for none.
func (p *packetsPage) number() int64 {
	if p.list == nil || p.g.cursor >= p.list.Len() {
		return 0
	}
	return p.list.number(p.g.cursor)
}

// goPacket moves to a packet; in a list that lacks it, to the next one.
func (p *packetsPage) goPacket(u *ui, n int64) {
	if p.list.Len() == 0 {
		return
	}
	p.g.cursor = min(max(p.list.index(n), 0), p.list.Len()-1)
	if p.number() != n {
		u.say("packet " + count(n) + " is not in this list: the next one is shown")
	}
	p.cache.begin()
	p.syncTree()
}

// nextNak searches for the next NAK in the background.
func (p *packetsPage) nextNak(u *ui, k key) {
	dir := 1
	if k == "," {
		dir = -1
	}
	match := isNak
	if p.match != nil && !p.list.all {
		limit := p.match
		match = func(q *wire.Packet) bool { return isNak(q) && limit(q) }
	}
	p.seek.stop()
	p.seek = u.scanNext(p.number(), dir, match, func(n int64) {
		if n == 0 {
			u.say("no more NAK that way")
			return
		}
		p.goPacket(u, n)
		p.showField("infiniband.aeth")
	})
}

func (p *packetsPage) openFinding(u *ui) {
	if f := p.marks[p.number()]; f != nil {
		u.open(newFindingPage(f))
		return
	}
	u.say("this packet is no finding's evidence")
}

func (p *packetsPage) hints(*ui) []hint {
	if p.focus == paneTree {
		return []hint{{"enter", "fold"}, {"esc", "list"}, {"F", "filter by field"}, {"y", "copy"}, {"\\", "maximise"}, {"tab", "pane"}}
	}
	return []hint{{"enter", "decode"}, {". ,", "next, last NAK"}, {"n N", "finding"}, {"t T", "resent"}, {"f", "filter"}, {":123", "jump"}, {"/", "search"},
		{"y", "copy"}, {"w", "save"}, {"|", "layout"}, {"\\", "maximise"}, {"o", "its finding"}, {"m '", "mark, jump"}}
}

func (p *packetsPage) search(_ *ui, text string, dir int, here bool) hit {
	if p.list == nil {
		return hitNone
	}
	if p.focus == paneTree {
		return p.tree.search(text, dir, here)
	}
	p.cache.spent = -searchBudget // a search may take its own time
	h := p.g.search(text, dir, here)
	p.cache.begin()
	p.syncTree()
	return h
}

func (p *packetsPage) copies(u *ui) []choice {
	if p.list == nil {
		return nil
	}
	out := p.g.copies()
	r, ok := p.g.current()
	if !ok || r.e == nil || r.e.p == nil {
		return out
	}
	if t, ok := p.tree.current(); ok {
		out = append(out, choice{label: "field filter", value: treeTerm(t)}, choice{label: "field value", value: t.node.Value})
	}
	number := "frame.number == " + uintText(uint64(r.n))
	return append(out, choice{label: "packet filter", value: number}, choice{label: "tshark command", value: u.tshark(number)},
		choice{label: "octets", value: hex.EncodeToString(r.e.p.Data)})
}

func (p *packetsPage) export(*ui) *sheet {
	if p.list == nil {
		return nil
	}
	s := p.g.sheet("packets")
	row := s.row
	s.row = func(i int) []string {
		p.cache.spent = 0 // an export waits for its packets
		return row(i)
	}
	return s
}

// packetsToSave are the packets listed when they are some of all, those marked,
// and the one under the cursor.
func (p *packetsPage) packetsToSave(u *ui) []packetChoice {
	if p.list == nil || p.list.Len() == 0 {
		return nil
	}
	var out []packetChoice
	if !p.list.all {
		out = append(out, packetChoice{"the packets listed", p.list.list})
	}
	return append(out, packetChoice{"the packets marked with m", u.markedPackets()}, packetChoice{"this packet", []int64{p.number()}})
}

func (p *packetsPage) place() string {
	if p.list == nil {
		return ""
	}
	return p.g.id()
}

func (p *packetsPage) gotoPlace(u *ui, id string) bool {
	n, ok := rowNumber(id)
	if !ok || p.list == nil || p.list.Len() == 0 {
		return id == ""
	}
	p.goPacket(u, n)
	return p.number() == n
}

// jump goes to a packet by its number in the capture.
func (p *packetsPage) jump(u *ui, n int64) bool {
	if p.list == nil {
		return false
	}
	if p.list.all && n > p.list.total {
		return false
	}
	p.goPacket(u, n)
	return true
}

// openPacket shows packet n among all; esc comes back.
func (u *ui) openPacket(n int64) {
	if u.opt.Packets == nil {
		u.warn("packet " + count(n) + " cannot be shown: " + orWhy(u.opt.WhyNoPacket))
		return
	}
	if first := firstPacket(u.opt.Packets); n < first {
		u.warn("packet " + count(n) + " is not kept any more, only those from " + count(first) + " on: -w writes all to a file")
		return
	}
	p := newPacketsPage(u)
	p.name, p.goTo = count(n), n
	u.open(p)
}

func orWhy(why string) string {
	if why == "" {
		return "packet view not available for this input"
	}
	return why
}

// openPacketsOf lists a connection's packets.
func (u *ui) openPacketsOf(c *analysis.Connection) {
	if u.opt.Packets == nil {
		u.warn("packets cannot be shown: " + orWhy(u.opt.WhyNoPacket))
		return
	}
	p := newPacketsPage(u)
	p.name, p.only = "of "+connName(c), connMatch(c)
	p.match = p.only
	p.limit(u)
	u.open(p)
}

// openPacketsFor lists a finding's evidence.
func (u *ui) openPacketsFor(f *analysis.Finding) {
	list := evidence(f)
	switch {
	case u.opt.Packets == nil:
		u.warn("packets cannot be shown: " + orWhy(u.opt.WhyNoPacket))
	case len(list) == 0:
		u.say("this finding names no packets: its filter selects them (y)")
	default:
		p := newPacketsPage(u)
		p.name = "of " + f.ID
		p.given = list
		p.list.all, p.list.list = false, list
		u.open(p)
	}
}

// openPacketAt shows the first packet not before a moment, found by halving.
func (u *ui) openPacketAt(t analysis.Time) {
	src := u.opt.Packets
	if src == nil {
		u.warn("packets cannot be shown: " + orWhy(u.opt.WhyNoPacket))
		return
	}
	u.background(func() func() {
		n := packetAt(context.Background(), src, t)
		return func() { u.openPacket(n) }
	})
}

func packetAt(_ context.Context, src PacketSource, t analysis.Time) int64 {
	total, _ := src.Count()
	lo := firstPacket(src)
	hi := max(total, lo)
	for lo < hi {
		mid := lo + (hi-lo)/2
		p, err := src.Packet(mid)
		if err != nil || p == nil {
			return lo
		}
		if analysis.Time(p.Time) < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// packetGist is a packet in a few words, for links.
func packetGist(u *ui, n int64) string {
	root, ok := u.roots[viewPackets].(*packetsPage)
	if !ok || root.cache == nil {
		return ""
	}
	e := root.cache.get(n)
	if e == nil || e.p == nil {
		return ""
	}
	return "  " + sourceText(e.p) + " → " + destText(e.p) + "  " + e.summary
}
