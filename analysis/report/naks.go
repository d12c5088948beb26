package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// nakCode is one AETH NAK code, with what it means to who has to act.
type nakCode struct {
	title string
	get   func(*analysis.Naks) int64
	hint  string
}

var nakCodes = []nakCode{
	{"SEQUENCE", func(n *analysis.Naks) int64 { return n.PSNSequenceError },
		"the responder saw a gap: packets were lost or reordered before it. Look for drops on the path (switch discards, PFC not working on this priority)."},
	{"INV REQUEST", func(n *analysis.Naks) int64 { return n.InvalidRequest },
		"the responder refused the request as such: wrong opcode, length beyond the receive buffer, or more READs than it serves. The queue pair is in error now."},
	{"ACCESS", func(n *analysis.Naks) int64 { return n.RemoteAccessError },
		"wrong R_Key, address outside the region, or no such permission: a bug of the application, not of the network. The queue pair is in error now."},
	{"OPERATIONAL", func(n *analysis.Naks) int64 { return n.RemoteOperationalError },
		"the responder failed by itself: look at its kernel log and NIC. The queue pair is in error now."},
	{"INV RD", func(n *analysis.Naks) int64 { return n.InvalidRDRequest },
		"invalid RD request: wrong Q_Key or EE context."},
}

// Display filters for the answers that refuse (AETH syndrome bits 6:5).
const (
	nakFilter = "infiniband.aeth.syndrome.opcode == 3"
	rnrFilter = "infiniband.aeth.syndrome.opcode == 1"
)

const rnrHint = "the responder had no receive buffer posted: its application is too slow or posts too few receives. Not a network fault."

// writeNaks shows the flows that were answered by NAKs, by code.
func writeNaks(p *printer, s *analysis.Snapshot, order []int, o Options) {
	t := table{Indent: 1, columns: []column{
		{title: "#", right: true},
		{title: "ANSWERS TO", own: true},
		{title: "DEST QP"},
	}}
	for _, c := range nakCodes {
		t.columns = append(t.columns, column{title: c.title, right: true})
	}
	t.columns = append(t.columns, column{title: "RNR", right: true}, column{title: "RNR TIMER", drop: 1, min: 12})
	var sums analysis.Naks
	rnr, rows := int64(0), 0
	for n, i := range order {
		for j := range s.Connections[i].Flows {
			f := &s.Connections[i].Flows[j]
			if nakTotal(f) == 0 {
				continue
			}
			addNaks(&sums, f.Naks)
			rnr += value(f.RNRNaks)
			if rows++; rows <= o.rows(rows) {
				t.add(nakRow(n+1, f)...)
			}
		}
	}
	if rows == 0 {
		return
	}
	p.section("NAKs BY CODE", listed(len(t.rows), int64(rows), "flow"))
	t.keepUsed(3, len(nakCodes))
	t.write(p)
	for _, c := range nakCodes {
		if n := c.get(&sums); n > 0 {
			p.labelled(1, fmt.Sprintf("%s (%s): ", c.title, count(n)), plain, c.hint)
		}
	}
	label := "see   "
	if rnr > 0 {
		p.labelled(1, fmt.Sprintf("RNR (%s): ", count(rnr)), plain, rnrHint)
	}
	if sums.Total() > 0 {
		p.command(1, label, tsharkOn(s), nakFilter)
		label = spaces(len(label))
	}
	if rnr > 0 {
		p.command(1, label, tsharkOn(s), rnrFilter)
	}
}

// keepUsed removes those of n columns from the first that hold only zeros:
// a code that never came needs no column.
func (t *table) keepUsed(first, n int) {
	for i := first + n - 1; i >= first; i-- {
		if slices.ContainsFunc(t.rows, func(r []cell) bool { return r[i].text != "0" && r[i].text != unknown }) {
			continue
		}
		t.columns = slices.Delete(t.columns, i, i+1)
		for k := range t.rows {
			t.rows[k] = slices.Delete(t.rows[k], i, i+1)
		}
	}
}

func nakTotal(f *analysis.Flow) int64 {
	n := value(f.RNRNaks)
	if f.Naks != nil {
		n += f.Naks.Total()
	}
	return n
}

func addNaks(sums, n *analysis.Naks) {
	if n == nil {
		return
	}
	sums.PSNSequenceError += n.PSNSequenceError
	sums.InvalidRequest += n.InvalidRequest
	sums.RemoteAccessError += n.RemoteAccessError
	sums.RemoteOperationalError += n.RemoteOperationalError
	sums.InvalidRDRequest += n.InvalidRDRequest
}

func nakRow(rank int, f *analysis.Flow) []cell {
	row := []cell{
		text(count(int64(rank))),
		text(f.SrcIP + "→" + f.DstIP),
		text(qpn(f.DestQP)),
	}
	for _, c := range nakCodes {
		if f.Naks == nil {
			row = append(row, text(unknown))
			continue
		}
		row = append(row, alarming(analysis.Int(c.get(f.Naks)), critical))
	}
	return append(row, alarming(f.RNRNaks, warning), text(rnrTimers(f.RNRTimers)))
}

// rnrTimer is how long the requester must wait at least, by timer code
// (IBTA vol 1, table 45), in ns. It stands here so that a face depends on the
// snapshot alone; a test holds it against decode/roce.
var rnrTimer = [32]int64{
	655_360_000, 10_000, 20_000, 30_000, 40_000, 60_000, 80_000, 120_000,
	160_000, 240_000, 320_000, 480_000, 640_000, 960_000, 1_280_000, 1_920_000,
	2_560_000, 3_840_000, 5_120_000, 7_680_000, 10_240_000, 15_360_000, 20_480_000, 30_720_000,
	40_960_000, 61_440_000, 81_920_000, 122_880_000, 163_840_000, 245_760_000, 327_680_000, 491_520_000,
}

func rnrTimers(m analysis.ByNumber) string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(m)) {
		wait := fmt.Sprintf("code %d", code)
		if code >= 0 && code < len(rnrTimer) {
			wait = duration(rnrTimer[code])
		}
		parts = append(parts, count(m[code])+" × "+wait)
	}
	return strings.Join(parts, ", ")
}
