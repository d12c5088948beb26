package report

import (
	"fmt"
	"io"
	"testing"

	"rdmascope/analysis"
)

func manyConnections(n int) *analysis.Snapshot {
	s := base(int64(n) * 1000)
	for i := range n {
		s.Connections = append(s.Connections, pair(fmt.Sprintf("c%07d", i), "10.0.0.1", "10.0.0.2", int64(i), int64(i)+1))
	}
	s.ConnectionsTotal = int64(n)
	return s
}

func BenchmarkJSON10000Connections(b *testing.B) {
	s := manyConnections(10_000)
	for b.Loop() {
		if err := JSON(io.Discard, s, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText100000Connections(b *testing.B) {
	s := manyConnections(100_000)
	for b.Loop() {
		if err := Text(io.Discard, s, Options{Top: DefaultTop}); err != nil {
			b.Fatal(err)
		}
	}
}
