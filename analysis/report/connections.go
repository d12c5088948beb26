package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// writeConnections shows the worst connections, one row each.
func writeConnections(p *printer, s *analysis.Snapshot, order []int, o Options) {
	if len(order) == 0 {
		if dataPackets(s) == 0 {
			return // CHECKED says why
		}
		p.section("CONNECTIONS", "")
		p.paragraph(1, plain, "none: "+"no packet could be given to a queue pair")
		return
	}
	order = order[:o.rows(len(order))]
	p.section("CONNECTIONS, WORST FIRST", listed(len(order), s.ConnectionsTotal, "connection"))
	t := table{Indent: 1, columns: []column{
		{title: "#", right: true},
		{title: ""},
		{title: "A→B", own: true},
		{title: "QPs A↔B"},
		{title: "OPERATIONS", min: 10, drop: 1},
		{title: "PACKETS", right: true},
		{title: "BYTES", right: true, early: true},
	}}
	t.columns = append(t.columns, lossColumns(s)...)
	blame := blamed(s)
	for n, i := range order {
		t.add(connectionRow(n+1, &s.Connections[i], blame)...)
	}
	t.write(p)
	if totalsOf(s).lost.sum > 0 {
		p.paragraph(1, faint, "LOST: before/after the tap, as far as proved; there may be more.")
	}
}

// lossColumns are the columns of what went wrong, with why they are missing.
// GAPS are all that UC shows of it, where nothing is resent.
func lossColumns(s *analysis.Snapshot) []column {
	t := totalsOf(s)
	roce := t.roce > 0
	return []column{
		{title: "GAPS", right: true, drop: 3, hide: t.gaps.known == 0},
		{title: "RESENT", right: true, note: t.why("retransmitted_packets")},
		{title: "LOST", right: true, note: t.why("lost_upstream_packets")},
		{title: "NAK", right: true, hide: !roce, note: t.why("naks")},
		{title: "RNR", right: true, hide: !roce, note: t.why("rnr_naks")},
	}
}

func connectionRow(rank int, c *analysis.Connection, blame map[string]*analysis.Finding) []cell {
	packets, bytes := int64(0), int64(0)
	for i := range c.Flows {
		packets += c.Flows[i].Packets
		bytes += c.Flows[i].WireBytes
	}
	resent := sum(c, func(f *analysis.Flow) *int64 { return f.Retransmitted })
	gaps := sum(c, func(f *analysis.Flow) *int64 { return f.PSNGaps })
	naks := sum(c, naksOf)
	rnr := sum(c, func(f *analysis.Flow) *int64 { return f.RNRNaks })
	return []cell{
		text(count(int64(rank))),
		connectionMark(c, blame),
		text(ip(c.A.IP) + "→" + ip(c.B.IP)),
		text(endName(c, &c.A) + "↔" + endName(c, &c.B)),
		text(strings.TrimPrefix(serviceName(c)+" "+operations(c), unknown+" ")),
		text(count(packets)),
		text(byteSize(bytes)),
		alarming(gaps, warning),
		alarming(resent, warning),
		lostCell(c),
		alarming(naks, critical),
		alarming(rnr, warning),
	}
}

// connectionMark names the worst finding about the connection.
func connectionMark(c *analysis.Connection, blame map[string]*analysis.Finding) cell {
	if f := blame[c.ID]; f != nil {
		st, word := severityLook(f.Severity)
		glyph, _, _ := strings.Cut(word, " ")
		return cell{st, glyph + " " + f.ID}
	}
	if rejected(c) {
		return cell{warning, "▲ rej"}
	}
	return text("")
}

// alarming colours a figure that should be 0.
func alarming(v *int64, st style) cell {
	if value(v) == 0 {
		st = plain
	}
	return cell{st, countOr(v)}
}

// lostCell is losses before / after the tap.
func lostCell(c *analysis.Connection) cell {
	up := sum(c, func(f *analysis.Flow) *int64 { return f.LostUpstream })
	down := sum(c, func(f *analysis.Flow) *int64 { return f.LostDownstream })
	if up == nil && down == nil {
		return text(unknown)
	}
	if value(up)+value(down) == 0 && up != nil && down != nil {
		return text("0")
	}
	return cell{warning, countOr(up) + "/" + countOr(down)}
}

func ip(a analysis.Text) string {
	if a == "" {
		return unknown
	}
	return string(a)
}

// endName is the QPN, or the TCP port of iWARP.
func endName(c *analysis.Connection, e *analysis.Endpoint) string {
	if c.Transport == "iwarp" {
		if e.Port == nil {
			return unknown
		}
		return fmt.Sprintf(":%d", *e.Port)
	}
	return qpn(e.QPN)
}

func serviceName(c *analysis.Connection) string {
	name := strings.ToUpper(string(c.Service))
	if name == "" {
		name = unknown
	}
	switch c.Transport {
	case "iwarp":
		return "iWARP"
	case "rocev1":
		return name + " v1"
	case "infiniband":
		return name + " IB"
	}
	return name
}

// operations names what was asked for, the most frequent first.
func operations(c *analysis.Connection) string {
	tally := map[string]int64{}
	for i := range c.Flows {
		for name, n := range c.Flows[i].Opcodes {
			if op := operation(name); op != "" {
				tally[op] += n
			}
		}
	}
	names := make([]string, 0, len(tally))
	for op := range tally {
		names = append(names, op)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(tally[b], tally[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return unknown
	}
	return strings.Join(names, " ")
}

// operation maps an opcode name to the operation that it asks for; answers
// are part of their request and give "".
func operation(opcode string) string {
	name := strings.ToLower(opcode)
	for _, answer := range []string{"acknowledge", "response", "cnp", "resync"} {
		if strings.Contains(name, answer) {
			return ""
		}
	}
	for _, o := range []struct{ word, op string }{
		{"atomic write", "ATOMIC WRITE"}, {"cmpswap", "ATOMIC"}, {"cmp", "ATOMIC"}, {"fetch", "ATOMIC"}, {"atomic", "ATOMIC"},
		{"write", "WRITE"}, {"read", "READ"}, {"send", "SEND"}, {"flush", "FLUSH"},
		{"terminate", "TERMINATE"}, {"immediate", "IMMEDIATE"},
	} {
		if strings.Contains(name, o.word) {
			return o.op
		}
	}
	return ""
}

// listed says how much of a list is shown.
func listed(shown int, total int64, noun string) string {
	if int64(shown) >= total {
		return plural(total, noun)
	}
	return fmt.Sprintf("%s of %s; all: --top 0", count(int64(shown)), plural(total, noun))
}
