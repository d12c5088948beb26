package report

import (
	"cmp"
	"slices"

	"rdmascope/analysis"
)

// trouble is what ranks a connection; each field only decides between equals
// in all fields before it.
type trouble struct {
	severity int   // worst finding about it
	fatal    int64 // rejected, or a NAK that ends a queue pair
	resent   int64
	naks     int64
	rnr      int64
	corrupt  int64
	slowest  int64 // ns
	packets  int64
}

func (a trouble) compare(b trouble) int {
	return cmp.Or(
		cmp.Compare(b.severity, a.severity),
		cmp.Compare(b.fatal, a.fatal),
		cmp.Compare(b.resent, a.resent),
		cmp.Compare(b.naks, a.naks),
		cmp.Compare(b.rnr, a.rnr),
		cmp.Compare(b.corrupt, a.corrupt),
		cmp.Compare(b.slowest, a.slowest),
		cmp.Compare(b.packets, a.packets),
	)
}

// worstFirst gives the indexes of the snapshot's connections, worst first.
func worstFirst(s *analysis.Snapshot) []int {
	blame := s.Blamed()
	score := make([]trouble, len(s.Connections))
	order := make([]int, len(s.Connections))
	for i := range s.Connections {
		c := &s.Connections[i]
		score[i] = troubleOf(c)
		if f := blame[c.ID]; f != nil {
			score[i].severity = f.Severity.Rank()
		}
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(score[x].compare(score[y]),
			cmp.Compare(s.Connections[x].ID, s.Connections[y].ID), cmp.Compare(x, y))
	})
	return order
}

func troubleOf(c *analysis.Connection) trouble {
	t := trouble{severity: -1}
	if rejected(c) {
		t.fatal++
	}
	for i := range c.Flows {
		f := &c.Flows[i]
		t.packets += f.Packets
		t.corrupt += f.ICRCBad
		t.rnr += value(f.RNRNaks)
		if f.Naks != nil {
			t.naks += f.Naks.PSNSequenceError
			t.fatal += f.Naks.Total() - f.Naks.PSNSequenceError
		}
		t.resent += value(f.Retransmitted) + value(f.PSNGapPackets) // UC resends nothing: what it skipped stands for it
		for _, k := range latencyKinds(f) {
			if k.block != nil {
				t.slowest = max(t.slowest, k.block.MaxNS)
			}
		}
	}
	return t
}

func rejected(c *analysis.Connection) bool {
	return c.CM != nil && (c.CM.RejectReason != nil || c.CM.RejectText != "")
}

// value is a figure for ranking only, where unknown may count as none.
func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// sum adds a figure over the flows of a connection; nil when no flow has it.
func sum(c *analysis.Connection, get func(*analysis.Flow) *int64) *int64 {
	var total *int64
	for i := range c.Flows {
		if v := get(&c.Flows[i]); v != nil {
			total = analysis.Int(value(total) + *v)
		}
	}
	return total
}
