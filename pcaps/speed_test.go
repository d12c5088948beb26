package pcaps

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bulk is a capture of n packets cut at 128 bytes.
func bulk(t testing.TB, format string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewPcapWriter(&b, 1, 128)
	if format == FormatPcapng {
		b.Reset()
		w, err = NewPcapngWriter(&b, []Interface{{Link: 1, SnapLen: 128}})
	}
	require.NoError(t, err)
	frame := make([]byte, 128)
	for i := range n {
		frame[40], frame[41], frame[42] = byte(i), byte(i>>8), byte(i>>16)
		require.NoError(t, w.Write(Record{Time: 1_700_000_000e9 + int64(i)*100, Wire: 1082, Link: 1}, frame, ""))
	}
	require.NoError(t, w.Flush())
	return b.Bytes()
}

// Reading allocates when it starts and nothing per block.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	const n = 100_000
	pcap, ng := bulk(t, FormatPcap, n), bulk(t, FormatPcapng, n)
	for name, paths := range map[string][]string{
		"pcap":           files(t, pcap),
		"pcapng":         files(t, ng),
		"gzip":           files(t, gzipped(t, pcap)),
		"ring":           files(t, pcap, bulk(t, FormatPcap, 10)),
		"merged":         files(t, pcap, pcap),
		"merged formats": files(t, pcap, ng),
	} {
		t.Run(name, func(t *testing.T) {
			f := openAll(t, paths...)
			buf, recs, err := f.ReadBlock(nil, nil)
			require.NoError(t, err)
			for range 4 { // buffers change hands until all have grown
				buf, recs, err = f.ReadBlock(buf[:0], recs[:0])
				require.NoError(t, err)
			}
			allocs := testing.AllocsPerRun(10, func() {
				buf, recs, err = f.ReadBlock(buf[:0], recs[:0])
				require.NoError(t, err)
			})
			assert.Zero(t, allocs)
		})
	}
}

func benchRead(b *testing.B, packets int, datas ...[]byte) {
	paths := files(b, datas...)
	var buf []byte
	var recs []Record
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		f, err := Open(paths, Options{})
		require.NoError(b, err)
		n = 0
		for {
			if buf, recs, err = f.ReadBlock(buf[:0], recs[:0]); err == io.EOF {
				break
			}
			n += len(recs)
		}
		require.NoError(b, f.Close())
	}
	require.Equal(b, packets, n)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/packet")
}

const benchPackets = 500_000

func BenchmarkPcap(b *testing.B) { benchRead(b, benchPackets, bulk(b, FormatPcap, benchPackets)) }

func BenchmarkPcapng(b *testing.B) { benchRead(b, benchPackets, bulk(b, FormatPcapng, benchPackets)) }

func BenchmarkGzip(b *testing.B) {
	benchRead(b, benchPackets, gzipped(b, bulk(b, FormatPcap, benchPackets)))
}

func BenchmarkZstd(b *testing.B) {
	benchRead(b, benchPackets, zstded(b, bulk(b, FormatPcap, benchPackets)))
}

func BenchmarkMergeInterleaved(b *testing.B) {
	data := bulk(b, FormatPcap, benchPackets)
	benchRead(b, 2*benchPackets, data, data)
}
