package pcaps

import (
	"errors"
	"io"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is a small file of one format that ends at a record.
type sample struct {
	name string
	file *builder
	head int // bytes without which it is no capture
}

func samples() []sample {
	pcap := func(big bool, magic uint32) *builder {
		b := newBuilder(big).header(magic, 2, 4, 0, 1)
		for i := range uint32(4) {
			b.u32(i, i, 2+i, 100)
			if magic == magicModified {
				b.u32(1, 2)
			}
			b.raw(make([]byte, 2+i)...).end()
		}
		return b
	}
	ng := func(big bool) *builder {
		b := newBuilder(big).shb().idb(1, 0, newBuilder(big).opt(optIfName, []byte("eth0"))).idb(LinkERF, 0)
		b.epb(0, 1, 9, []byte("ninebytes"))
		b.isb(0, b.opt64(optIsbIfDrop, 3))
		b.epb(0, 2, 4, []byte("four"), b.opt(optFlags, b.body().u32(1).b))
		b.block(77, make([]byte, 40))
		b.block(blockSimple, b.body().u32(4).raw([]byte("four")...).b).end()
		b.block(blockPacketOld, b.body().u16(0, 3).u32(0, 8, 4, 6).raw([]byte("four")...).b).end()
		erf := newBuilder(false).erf(1, 1, erfTypeInfiniBand|erfMore, 0, 0, 60, make([]byte, 8), []byte("ib")).b
		b.epb(1, 3, uint32(len(erf)), erf)
		b.shb().idb(1, 0)
		return b.epb(0, 1, 9, []byte("ninebytes"))
	}
	first := erfSample().ends[0]
	return []sample{
		{"pcap", pcap(false, magicMicros), pcapHeaderLen},
		{"pcap big-endian", pcap(true, magicNanos), pcapHeaderLen},
		{"pcap modified", pcap(false, magicModified), pcapHeaderLen},
		{"pcapng", ng(false), 28},
		{"pcapng big-endian", ng(true), 28},
		{"erf", erfSample(), first},
	}
}

// Every prefix delivers exactly its whole records, and says where it ends.
func TestEveryPrefix(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			all, _ := drain(t, openBytes(t, s.file.b))
			require.Len(t, all, len(s.file.ends))
			for n := range s.file.b {
				f, err := Open([]string{Stdin}, Options{Stdin: shortReads(s.file.b[:n])})
				if n < s.head {
					var ue *UnreadableError
					require.True(t, errors.As(err, &ue), "prefix %d: %v", n, err)
					continue
				}
				require.NoError(t, err, "prefix %d", n)
				recs, _ := drain(t, f)
				whole := sort.SearchInts(s.file.ends, n+1)
				require.Len(t, recs, whole, "prefix %d", n)
				in := f.Inputs()[0]
				assert.EqualValues(t, whole, in.Packets)
				assert.Equal(t, in.Complete, in.Error == "", "prefix %d: %q", n, in.Error)
				if whole > 0 && n == s.file.ends[whole-1] {
					assert.True(t, in.Complete, "prefix %d ends at a record: %q", n, in.Error)
				}
				if s.file.ends[whole]-n < 6 { // inside the next record
					assert.Equal(t, "cut short in packet "+comma(int64(whole+1)), in.Error, "prefix %d", n)
				}
			}
		})
	}
}

// A compressed file that is cut gives the records that arrived before.
func TestEveryCompressedPrefix(t *testing.T) {
	for _, s := range samples()[:2] {
		for name, data := range map[string][]byte{"gzip": gzipped(t, s.file.b), "zstd": zstded(t, s.file.b)} {
			f := openBytes(t, data)
			whole, _ := drain(t, f)
			require.Len(t, whole, len(s.file.ends))
			require.Equal(t, name, f.Inputs()[0].Compression)
			require.True(t, f.Inputs()[0].Complete)
			for n := range data {
				f, err := Open([]string{Stdin}, Options{Stdin: shortReads(data[:n])})
				if err != nil {
					var ue *UnreadableError
					require.True(t, errors.As(err, &ue), "prefix %d: %v", n, err)
					continue
				}
				recs, _ := drain(t, f)
				require.LessOrEqual(t, len(recs), len(whole))
				for i, r := range recs {
					r.Off = whole[i].Off // blocks end elsewhere
					require.Equal(t, whole[i], r, "prefix %d", n)
				}
				require.Contains(t, f.Inputs()[0].Error, "cut short", "prefix %d", n)
			}
		}
	}
}

// shortReads gives three bytes at a time, as a slow pipe does.
func shortReads(b []byte) io.Reader { return &shortReader{b} }

type shortReader struct{ b []byte }

func (r *shortReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 3)], r.b)
	r.b = r.b[n:]
	return n, nil
}
