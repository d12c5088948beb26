package report

import "rdmascope/analysis"

// writeStorage shows storage operations, where there are any.
func writeStorage(p *printer, s *analysis.Snapshot, o Options) {
	io := s.Storage.IO
	if len(io) == 0 {
		return
	}
	show := io[:o.rows(len(io))]
	p.section("STORAGE", listed(len(show), int64(len(io)), "row"))
	t := table{Indent: 1, columns: []column{
		{title: "CONNECTION", min: 9},
		{title: "OPERATION"},
		{title: "COUNT", right: true},
		{title: "OPEN", right: true},
		{title: "ERRORS", right: true},
		{title: "BYTES", right: true, drop: 1},
		{title: "p50", right: true},
		{title: "p99", right: true},
		{title: "MAX", right: true},
	}}
	for i := range show {
		r := &show[i]
		errors, p50, p99, worst, bytes := int64(0), unknown, unknown, unknown, unknown
		for _, n := range r.Errors {
			errors += n
		}
		if r.Completion != nil {
			p50, p99, worst = duration(r.Completion.P50NS), duration(r.Completion.P99NS), duration(r.Completion.MaxNS)
		}
		if r.Bytes != nil {
			bytes = byteSize(*r.Bytes)
		}
		t.add(text(r.ConnectionID), text(r.Protocol+" "+r.Operation), text(count(r.Count)),
			alarming(&r.Unanswered, warning), alarming(&errors, critical), text(bytes), text(p50), text(p99), text(worst))
	}
	t.write(p)
}
