package analysis

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/pcaps"
	"rdmascope/pcaps/synth"
)

// BenchmarkSnapshot takes what is known of many connections and makes a
// snapshot of it: what follows the last packet, or what a screen asks for now
// and then while packets come.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{2_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := analysed(b, synth.BenchSpec{Packets: 1000 * min(n, 2_000), Connections: n})
			for _, of := range []struct {
				name  string
				final bool
			}{{"live", false}, {"final", true}} {
				b.Run(of.name, func(b *testing.B) {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					for b.Loop() {
						m := e.newMarker(e.ask())
						for i, l := range e.lanes {
							m.parts[i] = l.result(of.final)
						}
						require.Len(b, build(e, m).Connections, n)
					}
					runtime.ReadMemStats(&after)
					per := float64(b.N * n)
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/per, "ns/conn")
					b.ReportMetric(float64(after.Mallocs-before.Mallocs)/per, "allocs/conn")
					b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/per, "B/conn")
				})
			}
		})
	}
}

// analysed is an engine that has taken all packets of a made up capture, and
// doesn't know yet that no others follow.
func analysed(b *testing.B, spec synth.BenchSpec) *Engine {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.pcap")
	file, err := os.Create(path)
	require.NoError(b, err)
	w := bufio.NewWriterSize(file, 1<<20)
	require.NoError(b, synth.WriteBench(w, spec))
	require.NoError(b, w.Flush())
	require.NoError(b, file.Close())
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(b, err)
	defer src.Close()
	e := New(src, Options{})
	e.work(0)
	require.NoError(b, e.err)
	return e
}
