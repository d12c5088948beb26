package report

import "rdmascope/analysis"

// writeConformance shows which rules of the transport were broken.
func writeConformance(p *printer, s *analysis.Snapshot, o Options) {
	rules := s.Conformance
	if len(rules) == 0 {
		return
	}
	show := o.rows(len(rules))
	p.section("RULES BROKEN", listed(show, int64(len(rules)), "rule"))
	t := table{Indent: 1, columns: []column{
		{title: "RULE", min: 20}, {title: "TIMES", right: true}, {title: "FIRST PACKET", right: true},
	}}
	for i := range rules[:show] {
		t.add(text(rules[i].Rule), text(count(rules[i].Count)), text(countOr(rules[i].FirstPacket)))
	}
	t.write(p)
}
