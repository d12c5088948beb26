package tui

import (
	"rdmascope/analysis"
)

// connList is the connections of one snapshot in one order. It is made anew
// when the snapshot, the order, the filter or the window changes, and never
// changed: while a big one is made, the old one is shown.
type connList struct {
	s     *analysis.Snapshot
	blame map[string]*analysis.Finding
	order []int32
}

func (l *connList) Len() int { return len(l.order) }

func (l *connList) At(i int) connRow { return l.row(l.order[i]) }

func (l *connList) row(i int32) connRow {
	c := &l.s.Connections[i]
	return connRow{c, l.blame[c.ID]}
}

func (l *connList) ID(i int) string { return l.s.Connections[l.order[i]].ID }

// connQuery is what a connList answers.
type connQuery struct {
	s        *analysis.Snapshot
	col      int // -1: worst first
	desc     bool
	filter   string
	hosts    hostPair
	from, to analysis.Time
}

// hostPair limits the list to connections between two addresses; empty ones
// mean any.
type hostPair struct{ a, b string }

func (p hostPair) has(c *analysis.Connection) bool {
	if p.a == "" && p.b == "" {
		return true
	}
	for i := range c.Flows {
		f := &c.Flows[i]
		if (p.a == "" || f.SrcIP == p.a || f.DstIP == p.a) && (p.b == "" || f.DstIP == p.b || f.SrcIP == p.b) {
			return true
		}
	}
	return false
}

// bigList is from how many connections on a list is made in the background:
// below it takes less than a frame.
const bigList = 20_000

// build makes the list that q asks for.
func (q connQuery) build(cols []column[connRow], blame map[string]*analysis.Finding, match FlowMatch, w window) *connList {
	l := &connList{s: q.s, blame: blame}
	for i := range q.s.Connections {
		c := &q.s.Connections[i]
		if q.hosts.has(c) && (w.all() || w.shows(q.s, c.FirstTime, c.LastTime)) && matches(match, q.s, c) {
			l.order = append(l.order, int32(i))
		}
	}
	col, desc := q.col, q.desc
	if col < 0 {
		col, desc = 0, true // the first column ranks by trouble
	}
	sortRows(l.order, l.row, &cols[col], desc)
	return l
}

func matches(match FlowMatch, s *analysis.Snapshot, c *analysis.Connection) bool {
	if match == nil {
		return true
	}
	if len(c.Flows) == 0 {
		return match(s, c, nil)
	}
	for i := range c.Flows {
		if match(s, c, &c.Flows[i]) {
			return true
		}
	}
	return false
}
