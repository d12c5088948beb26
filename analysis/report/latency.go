package report

import (
	"strings"

	"rdmascope/analysis"
)

type latencyKind struct {
	name, field string
	block       *analysis.Latency
}

func latencyKinds(f *analysis.Flow) []latencyKind {
	l := &f.Latency
	return []latencyKind{
		{"message", "latency.message", l.Message},
		{"ack", "latency.ack", l.Ack},
		{"read first", "latency.read_first", l.ReadFirst},
		{"read last", "latency.read_last", l.ReadLast},
		{"atomic", "latency.atomic", l.Atomic},
	}
}

// writeLatency shows the samples of the connections listed above, under the
// same numbers.
func writeLatency(p *printer, s *analysis.Snapshot, order []int, o Options) {
	t := table{Indent: 1, columns: []column{
		{title: "#", right: true},
		{title: "FROM→TO", own: true},
		{title: "WHAT"},
		{title: "SAMPLES", right: true},
		{title: "MIN", right: true, early: true},
		{title: "p50", right: true},
		{title: "p99", right: true},
		{title: "p99.9", right: true, early: true},
		{title: "MAX", right: true},
		{title: "RECOVERED", right: true, drop: 3},
	}}
	for n, i := range order[:o.rows(len(order))] {
		c := &s.Connections[i]
		for j := range c.Flows {
			f := &c.Flows[j]
			for _, k := range latencyKinds(f) {
				if k.block != nil {
					t.add(latencyRow(n+1, f, k)...)
				}
			}
		}
	}
	if totalsOf(s).flowing == 0 {
		return // nothing to time
	}
	p.section("LATENCY", "tap → responder → tap, for the connections above")
	if len(t.rows) == 0 {
		p.paragraph(1, plain, unknown+" no sample: "+noLatencyReason(s))
		return
	}
	t.write(p)
}

func latencyRow(rank int, f *analysis.Flow, k latencyKind) []cell {
	b := k.block
	return []cell{
		text(count(int64(rank))),
		text(f.SrcIP + "→" + f.DstIP),
		text(k.name),
		text(count(b.Count)),
		text(duration(b.MinNS)),
		text(duration(b.P50NS)),
		text(duration(b.P99NS)),
		text(duration(b.P999NS)),
		text(duration(b.MaxNS)),
		alarming(&b.Recovered, warning),
	}
}

func noLatencyReason(s *analysis.Snapshot) string {
	t := totalsOf(s)
	var why []string
	for _, field := range []string{"latency", "latency.ack", "latency.message", "latency.read_first", "latency.read_last", "latency.atomic"} {
		for _, r := range t.reasons[field] {
			why = addReason(why, r)
		}
	}
	if len(why) == 0 {
		return "no operation with its answer in the capture, or the two directions could not be paired"
	}
	return strings.Join(why, "; ")
}
