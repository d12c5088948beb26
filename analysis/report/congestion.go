package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// marked is a flow that congestion touched.
type marked struct {
	c *analysis.Connection
	f *analysis.Flow
}

// writeCongestion shows the flows that were marked CE or throttled by CNPs.
func writeCongestion(p *printer, s *analysis.Snapshot, o Options) {
	var flows []marked
	for i := range s.Connections {
		c := &s.Connections[i]
		for k := range c.Flows {
			if f := &c.Flows[k]; f.ECNCE > 0 || value(f.CNP) > 0 {
				flows = append(flows, marked{c, f})
			}
		}
	}
	if len(flows) == 0 {
		return
	}
	slices.SortStableFunc(flows, func(a, b marked) int {
		return cmp.Or(cmp.Compare(b.f.ECNCE, a.f.ECNCE), cmp.Compare(value(b.f.CNP), value(a.f.CNP)))
	})
	p.section("CONGESTION (ECN, CNP)", "CE marks on a flow, the CNPs that came back for them, what its sender did")
	show := flows[:o.rows(len(flows))]
	if len(show) < len(flows) {
		p.paragraph(1, faint, listed(len(show), int64(len(flows)), "flow"))
	}
	t := table{Indent: 1, columns: []column{
		{title: "FROM→TO", own: true},
		{title: "TO QP", right: true},
		{title: "CE", right: true},
		{title: "", right: true},
		{title: "CNPs", right: true},
		{title: "CE→CNP p50", right: true},
		{title: "MAX", right: true, drop: 2},
		{title: "CNP GAP", right: true},
		{title: "PACED BY", early: true, note: "too few CNPs of different queue pairs to tell what they are paced by"},
		{title: "RATE CUT", right: true},
		{title: "RISES AGAIN", right: true, drop: 1},
	}}
	for _, m := range show {
		t.add(congestionRow(m.f)...)
	}
	t.write(p)
}

func congestionRow(f *analysis.Flow) []cell {
	p50, most := unknown, unknown
	if b := f.CEToCNP; b != nil {
		p50, most = duration(b.P50NS), duration(b.MaxNS)
	}
	ce := plain
	if f.ECNCE > 0 && f.CNP != nil && *f.CNP == 0 {
		ce = warning
	}
	scope := unknown
	if f.CNPScope != "" {
		scope = strings.ReplaceAll(string(f.CNPScope), "_", " ")
	}
	return []cell{
		text(f.SrcIP + "→" + f.DstIP),
		text(qpn(f.DestQP)),
		{ce, count(f.ECNCE)},
		{ce, share(f.ECNCE, max(f.Packets, 1))},
		text(countOr(f.CNP)),
		text(p50),
		text(most),
		text(durationOr(f.CNPGapMinNS)),
		text(scope),
		text(percentOr(f.RateReduction)),
		text(rising(f)),
	}
}

// rising is how steeply a rate comes back after a CNP.
func rising(f *analysis.Flow) string {
	if f.RateRecovery == nil {
		return unknown
	}
	return bitRate(*f.RateRecovery) + "/ms"
}

// writePauseVerdicts tells what others' watchdogs would have said, who sent into
// a pause, and how pauses travelled.
func writePauseVerdicts(p *printer, s *analysis.Snapshot, o Options) {
	w := &s.PFC.Watchdogs
	storm := slices.ContainsFunc(s.PFC.Storms, func(x analysis.PFCStorm) bool { return x.Kind == "storm" })
	if w.PFCWD != nil && (storm || value(w.PFCWD)+value(w.NIC)+value(w.MLX5) > 0) {
		p.paragraph(1, plain, fmt.Sprintf("watchdogs would have spoken: SONiC pfcwd %s, a NIC's (100 ms) %s, mlx5's stall warning (6.8 s) %s",
			countOr(w.PFCWD), countOr(w.NIC), countOr(w.MLX5)))
	}
	for i := range s.PFC.Violations[:o.rows(len(s.PFC.Violations))] {
		v := &s.PFC.Violations[i]
		p.labelled(1, "▲ ", warning, fmt.Sprintf("%s of priority %s sent to %s (%s) while it paused them, from packet %s on",
			plural(v.Packets, "packet"), v.Priority, v.EthSrc, v.Interface, countOr(v.FirstPacket)))
	}
	n := len(s.PFC.Spreads)
	for i := range s.PFC.Spreads[:o.rows(n)] {
		c := &s.PFC.Spreads[i]
		var hops []string
		for k := range c.Path {
			h := &c.Path[k]
			hops = append(hops, fmt.Sprintf("%s (+%s)", h.Interface, duration(int64(h.StartTime-c.StartTime))))
		}
		p.labelled(1, "→ ", faint, fmt.Sprintf("%s  priority %s spread: %s", clock(c.StartTime, s.Capture.StartTime), c.Path[0].Priority, strings.Join(hops, " → ")))
	}
	if more := n - o.rows(n); more > 0 {
		p.paragraph(1, faint, listed(o.rows(n), int64(n), "spread"))
	}
}
