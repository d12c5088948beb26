package tui

import (
	"cmp"
	"maps"
	"slices"

	"rdmascope/analysis"
)

// hostCell is what one host sent another.
type hostCell struct {
	bytes, packets, resent, p99 int64
	known                       bool
}

// hostPairKey is from and to.
type hostPairKey struct{ src, dst string }

// hostMatrix is the flows of a snapshot added up by their two hosts. It is made
// at once and never changed.
type hostMatrix struct {
	hosts []string // most bytes first
	cells map[hostPairKey]hostCell
	tops  []int64 // greatest value of each metric
}

func newHostMatrix(s *analysis.Snapshot) *hostMatrix {
	m := &hostMatrix{cells: map[hostPairKey]hostCell{}, tops: make([]int64, len(hostMetrics))}
	sum := map[string]int64{}
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			f := &s.Connections[i].Flows[k]
			c := m.cells[hostPairKey{f.SrcIP, f.DstIP}]
			c.known = true
			c.bytes += f.WireBytes
			c.packets += f.Packets
			c.resent += value(f.Retransmitted)
			for _, b := range latencyKinds(f) {
				c.p99 = max(c.p99, b.block.P99NS)
			}
			m.cells[hostPairKey{f.SrcIP, f.DstIP}] = c
			sum[f.SrcIP] += f.WireBytes
			sum[f.DstIP] += f.WireBytes
		}
	}
	m.hosts = slices.SortedFunc(maps.Keys(sum), func(a, b string) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) })
	for _, c := range m.cells {
		for i, metric := range hostMetrics {
			m.tops[i] = max(m.tops[i], metric.get(c))
		}
	}
	return m
}

// pairs are those that talked, in the order of the matrix.
func (m *hostMatrix) pairs() []hostPairKey {
	at := make(map[string]int, len(m.hosts))
	for i, h := range m.hosts {
		at[h] = i
	}
	return slices.SortedFunc(maps.Keys(m.cells), func(a, b hostPairKey) int {
		return cmp.Or(cmp.Compare(at[a.src], at[b.src]), cmp.Compare(at[a.dst], at[b.dst]))
	})
}
