package report

import (
	"fmt"

	"rdmascope/analysis"
)

// cmCounts counts connections that were attempted, and those rejected.
func cmCounts(s *analysis.Snapshot) (attempts, rejects int64) {
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.CM == nil {
			continue
		}
		attempts++
		if rejected(c) {
			rejects++
		}
	}
	return attempts, rejects
}

// rejectFilter selects CM REJ messages.
const rejectFilter = "infiniband.cm.rej.reason"

// writeCM shows how connections came about, and every rejection in words.
func writeCM(p *printer, s *analysis.Snapshot, o Options) {
	attempts, rejects := cmCounts(s)
	if attempts == 0 {
		return // CHECKED says so
	}
	p.section("CONNECTION MANAGEMENT", plural(s.Protocols.CM.Packets, "CM packet"))
	retried, silent := int64(0), int64(0)
	t := table{Indent: 1, columns: []column{
		{title: "FROM→TO", own: true},
		{title: "SERVICE"},
		{title: "REASON", right: true},
		{title: "IN WORDS", min: 20},
	}}
	rows := 0
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.CM == nil {
			continue
		}
		retried += c.CM.Retried
		if c.CM.Requests > 0 && c.CM.Replies == 0 && !rejected(c) {
			silent++
		}
		if !rejected(c) {
			continue
		}
		if rows++; rows <= o.rows(rows) {
			t.add(rejectRow(c)...)
		}
	}
	line := fmt.Sprintf("%s attempted · %s rejected · %s never answered · %s",
		plural(attempts, "connection"), count(rejects), count(silent), plural(retried, "message")+" sent again")
	st := plain
	if rejects+silent > 0 {
		st = warning
		line = "▲ " + line
	}
	p.paragraph(1, st, line)
	if rows > len(t.rows) {
		p.paragraph(1, faint, listed(len(t.rows), int64(rows), "rejection"))
	}
	t.write(p)
	if rows > 0 {
		p.command(1, "see   ", tsharkOn(s), rejectFilter)
	}
	if silent > 0 {
		p.paragraph(1, plain, "never answered: is the peer up, is its listener on this port, does the reply take another way than past this tap?")
	}
}

func rejectRow(c *analysis.Connection) []cell {
	service := unknown
	switch {
	case c.CM.Port != nil:
		service = fmt.Sprintf("port %d", *c.CM.Port)
	case c.CM.ServiceID != "":
		service = string(c.CM.ServiceID)
	}
	words := string(c.CM.RejectText)
	if words == "" {
		words = unknown
	}
	reason := unknown
	if c.CM.RejectReason != nil {
		reason = count(*c.CM.RejectReason)
	}
	return []cell{
		text(ip(c.A.IP) + "→" + ip(c.B.IP)),
		text(service),
		text(reason),
		{warning, words},
	}
}
