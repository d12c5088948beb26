package report

import (
	"fmt"
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
	blame := s.Blamed()
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

// listed says how much of a list is shown.
func listed(shown int, total int64, noun string) string {
	if int64(shown) >= total {
		return plural(total, noun)
	}
	return fmt.Sprintf("%s of %s; all: --top 0", count(int64(shown)), plural(total, noun))
}
