package tui

import (
	"strconv"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// packetRow is a line of the packet list; e is nil while it is fetched.
type packetRow struct {
	n int64
	e *packetEntry
}

// packetList is packets by number: all of them, or those of a list.
type packetList struct {
	cache *packetCache
	all   bool
	first int64 // of all: the oldest that is kept
	total int64 // of all: the newest
	list  []int64
}

func (l *packetList) Len() int {
	if l.all {
		return int(max(l.total-l.first+1, 0))
	}
	return len(l.list)
}

func (l *packetList) number(i int) int64 {
	if l.all {
		return int64(i) + l.first
	}
	return l.list[i]
}

func (l *packetList) At(i int) packetRow {
	n := l.number(i)
	return packetRow{n, l.cache.get(n)}
}

func (l *packetList) ID(i int) string { return strconv.FormatInt(l.number(i), 10) }

// index is where packet n stands, or would.
func (l *packetList) index(n int64) int {
	if l.all {
		return int(n - l.first)
	}
	lo, hi := 0, len(l.list)
	for lo < hi {
		if mid := (lo + hi) / 2; l.list[mid] < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// field reads something of a packet that may not be there yet.
func field(get func(*wire.Packet) string) func(packetRow) string {
	return func(r packetRow) string {
		switch {
		case r.e == nil:
			return "…"
		case r.e.p == nil:
			return unknown
		}
		return get(r.e.p)
	}
}

func sourceText(p *wire.Packet) string {
	switch {
	case p.Has(wire.FlagNet):
		return p.Src.String()
	case p.Has(wire.FlagEth):
		return p.EthSrc.String()
	}
	return unknown
}

func destText(p *wire.Packet) string {
	switch {
	case p.Has(wire.FlagNet):
		return p.Dst.String()
	case p.Has(wire.FlagEth):
		return p.EthDst.String()
	}
	return unknown
}

// Columns of the packet list whose width goes with the capture.
const columnNumber, columnTime = 1, 2

// fitPackets makes room for the greatest number and time of the capture, and
// no more: the room belongs to what the packets say. It never takes room back,
// so that nothing jumps about while more is read.
func fitPackets(cols []column[packetRow], total int64, c *analysis.Capture) {
	number, moment := &cols[columnNumber], &cols[columnTime]
	number.width = max(number.width, len(count(total)))
	moment.width = max(moment.width, len(since(c.EndTime, c.StartTime)))
}

// packetColumns are the columns of the packet list; start gives the zero of
// the time column, mark what is found about a packet, words what the analysis
// says of it.
func packetColumns(start func() analysis.Time, mark func(int64) (string, look), words func(int64) string) []column[packetRow] {
	return []column[packetRow]{
		{title: "!", help: "finding that it proves, ↻ sent again", width: 4, rank: 1,
			text: func(r packetRow) string { s, _ := mark(r.n); return s },
			look: func(r packetRow) look { _, l := mark(r.n); return l }},
		{title: "No.", help: "number in the capture", width: 5, right: true, rank: 0, text: func(r packetRow) string { return count(r.n) }},
		{title: "Time", help: "seconds since the first packet", width: 11, right: true, rank: 2,
			text: field(func(p *wire.Packet) string { return since(analysis.Time(p.Time), start()) })},
		{title: "Source", width: 15, grow: 10, rank: 3, text: field(sourceText),
			term: func(r packetRow) string { return addrTerm(r, "src") }},
		{title: "Dest", width: 15, grow: 10, rank: 3, text: field(destText),
			term: func(r packetRow) string { return addrTerm(r, "dst") }},
		{title: "Len", help: "frame length on the wire", width: 5, right: true, rank: 6,
			text: field(func(p *wire.Packet) string { return strconv.Itoa(int(p.Wire)) }),
			term: func(r packetRow) string {
				return packetTerm(r, "frame.len", func(p *wire.Packet) int64 { return int64(p.Wire) })
			}},
		{title: "Info", width: 22, grow: 60, prose: true, rank: 0, look: infoLook,
			text: func(r packetRow) string { return words(r.n) + infoText(r) },
			term: func(r packetRow) string {
				if r.e == nil || r.e.p == nil || !r.e.p.Has(wire.FlagBTH) {
					return ""
				}
				return packetTerm(r, "infiniband.bth.opcode", func(p *wire.Packet) int64 { return int64(p.RoCE.BTH.Opcode) })
			}},
	}
}

func infoText(r packetRow) string {
	switch {
	case r.e == nil:
		return "…"
	case r.e.p == nil && r.e.err != nil:
		return "cannot be read: " + r.e.err.Error()
	}
	if p := r.e.p; isNak(p) { // first, for on a narrow screen the end is cut
		return "✖ " + p.RoCE.AETH.Syndrome.String() + "  " + r.e.summary
	}
	return r.e.summary
}

// infoLook colours what asks for attention.
func infoLook(r packetRow) look {
	switch {
	case r.e == nil || r.e.p == nil:
		return faint
	case isNak(r.e.p):
		return critical
	case r.e.p.Stop.Reason != wire.ReasonNone:
		return warning
	case r.e.p.Has(wire.FlagNet) && r.e.p.ECN() == 3, r.e.p.Kind == wire.KindPFC, r.e.p.Kind == wire.KindPause:
		return notice
	}
	return plain
}

func addrTerm(r packetRow, dir string) string {
	if r.e == nil || r.e.p == nil {
		return ""
	}
	p := r.e.p
	text := sourceText(p)
	if dir == "dst" {
		text = destText(p)
	}
	switch {
	case !p.Has(wire.FlagNet):
		return "eth." + dir + " == " + text
	case p.IPVersion == 4:
		return "ip." + dir + " == " + text
	case p.IPVersion == 6:
		return "ipv6." + dir + " == " + text
	}
	return ""
}

func packetTerm(r packetRow, name string, get func(*wire.Packet) int64) string {
	if r.e == nil || r.e.p == nil {
		return ""
	}
	return name + " == " + strconv.FormatInt(get(r.e.p), 10)
}
