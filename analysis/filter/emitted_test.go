package filter_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

// TestEmittedFilters wants every filter that a report prints to be one of ours
// too, and to select the packets that the finding names where it names one
// flow's or frames.
func TestEmittedFilters(t *testing.T) {
	compiled := 0
	for _, path := range captures(t) {
		if testing.Short() && compiled > 3 {
			break
		}
		snap := snapshot(t, filepath.Base(path))
		type wanted struct {
			f       *filter.PacketFilter
			numbers map[int64]bool
			any     bool
		}
		var list []*wanted
		for i := range snap.Findings {
			for _, expr := range []string{string(snap.Findings[i].Filters.Wireshark), string(snap.Findings[i].Filters.Rdmascope)} {
				f, err := filter.CompilePacket(expr)
				if !assert.NoError(t, err, "%s: %s", path, snap.Findings[i].Rule) || expr == "" {
					continue
				}
				f.SetFindings(snap.Findings)
				compiled++
				w := &wanted{f: f, numbers: map[int64]bool{}}
				for _, n := range snap.Findings[i].Packets {
					w.numbers[n] = true
				}
				list = append(list, w)
			}
		}
		packets(t, path, func(p *wire.Packet) {
			for _, w := range list {
				if w.numbers[p.Number] && w.f.Match(p) {
					w.any = true
				}
			}
		})
		for _, w := range list {
			assert.True(t, w.any || len(w.numbers) == 0, "%s: %s selects none of the packets named", path, w.f)
		}
	}
	require.Positive(t, compiled)
	t.Logf("%d filters", compiled)
}

func BenchmarkFlowFilter(b *testing.B) {
	snap := snapshot(b, "rxe_exact_single_loss.pcap.gz")
	c := &snap.Connections[0]
	for _, expr := range []string{"flow.retransmitted_packets > 0", "flow.retransmitted_packets >= 0 && ip.dst == 10.77.0.0/16"} {
		f, err := filter.CompileFlow(expr)
		require.NoError(b, err)
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Match(c, &c.Flows[0])
			}
		})
	}
}
