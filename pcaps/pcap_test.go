package pcaps

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPcapVariants(t *testing.T) {
	frame := []byte("0123456789")
	const base = int64(1_700_000_000)
	for _, big := range []bool{false, true} {
		for _, c := range []struct {
			name string
			file *builder
			want Record // of the only record, Off aside
			link uint16
			fcs  int
			nano bool
		}{
			{name: "µs", file: newBuilder(big).header(magicMicros, 2, 4, 65535, 1).rec(1_700_000_000, 999_999, 10, 60, frame),
				want: Record{Time: base*1e9 + 999_999_000, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "ns", file: newBuilder(big).header(magicNanos, 2, 4, 0, 1).rec(1_700_000_000, 999_999_999, 10, 10, frame),
				want: Record{Time: base*1e9 + 999_999_999, Cap: 10, Wire: 10}, link: 1, fcs: -1, nano: true},
			{name: "modified", file: newBuilder(big).header(magicModified, 2, 4, 0, 113).u32(1, 2, 10, 20, 7).u16(8).raw(4, 0).raw(frame...).end(),
				want: Record{Time: 1e9 + 2000, Cap: 10, Wire: 20}, link: 113, fcs: -1},
			{name: "time past 2038", file: newBuilder(big).header(magicMicros, 2, 4, 0, 1).rec(0xffffffff, 0, 10, 10, frame),
				want: Record{Time: 0xffffffff * 1e9, Cap: 10, Wire: 10}, link: 1, fcs: -1},
			{name: "2.1: lengths the other way round", file: newBuilder(big).header(magicMicros, 2, 1, 0, 1).rec(1, 0, 60, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "2.3: smaller first", file: newBuilder(big).header(magicMicros, 2, 3, 0, 1).rec(1, 0, 10, 60, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "2.3: larger first", file: newBuilder(big).header(magicMicros, 2, 3, 0, 1).rec(1, 0, 60, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "543.0", file: newBuilder(big).header(magicMicros, 543, 0, 0, 1).rec(1, 0, 60, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "AIX: ifType 6 and ns", file: newBuilder(big).header(magicMicros, 2, 2, 0, 6).rec(1, 7, 60, 10, frame),
				want: Record{Time: 1e9 + 7, Cap: 10, Wire: 60}, link: 1, fcs: -1, nano: true},
			{name: "2.99", file: newBuilder(big).header(magicMicros, 2, 99, 0, 1).rec(1, 0, 10, 60, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 60}, link: 1, fcs: -1},
			{name: "FCS of 4 bytes told, frame whole", file: newBuilder(big).header(magicMicros, 2, 4, 0, 0x24000001).rec(1, 0, 10, 10, frame),
				want: Record{Time: 1e9, Cap: 6, Wire: 6}, link: 1, fcs: 4},
			{name: "FCS told, frame cut before it", file: newBuilder(big).header(magicMicros, 2, 4, 0, 0x24000001).rec(1, 0, 10, 60, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 56}, link: 1, fcs: 4},
			{name: "FCS told, frame cut inside it", file: newBuilder(big).header(magicMicros, 2, 4, 0, 0x24000001).rec(1, 0, 10, 12, frame),
				want: Record{Time: 1e9, Cap: 8, Wire: 8}, link: 1, fcs: 4},
			{name: "no FCS told", file: newBuilder(big).header(magicMicros, 2, 4, 0, 0x04000001).rec(1, 0, 10, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 10}, link: 1, fcs: 0},
			{name: "FCS length without its bit, and reserved bits", file: newBuilder(big).header(magicMicros, 2, 4, 0, 0x4bff0001).rec(1, 0, 10, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 10}, link: 1, fcs: -1},
			{name: "captured more than the wire held", file: newBuilder(big).header(magicMicros, 2, 4, 0, 1).rec(1, 0, 10, 0, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 10}, link: 1, fcs: -1},
			{name: "longer than the snapshot length", file: newBuilder(big).header(magicMicros, 2, 4, 4, 1).rec(1, 0, 10, 10, frame),
				want: Record{Time: 1e9, Cap: 10, Wire: 10}, link: 1, fcs: -1},
		} {
			t.Run(c.name, func(t *testing.T) {
				f := openBytes(t, c.file.b)
				recs, frames := drain(t, f)
				require.Len(t, recs, 1)
				c.want.Link, c.want.Off = c.link, recs[0].Off
				assert.Equal(t, c.want, recs[0])
				assert.Equal(t, frame[:c.want.Cap], frames[0])
				d := f.Interfaces()[0]
				assert.Equal(t, c.link, d.Link)
				assert.Equal(t, c.fcs, d.FCSBytes)
				assert.Equal(t, c.nano, d.Nanos)
				assert.Equal(t, "", f.Inputs()[0].Error)
				assert.True(t, f.Inputs()[0].Complete)
			})
		}
	}
}

func TestPcapWithoutPackets(t *testing.T) {
	f := openBytes(t, newBuilder(false).header(magicMicros, 2, 4, 128, 1).b)
	recs, _ := drain(t, f)
	assert.Empty(t, recs)
	assert.Equal(t, []Input{{Path: "-", Format: FormatPcap, SizeBytes: -1, Complete: true}}, f.Inputs())
	assert.Equal(t, []Interface{{Link: 1, SnapLen: 128, Received: -1, Dropped: -1, FCSBytes: -1}}, f.Interfaces())
}

func TestPcapNonsenseLength(t *testing.T) {
	b := newBuilder(false).header(magicMicros, 2, 4, 0xffffffff, 1)
	for range 11 {
		b.rec(1, 0, 2, 2, []byte("ok"))
	}
	b.rec(1, 0, 0xffffffff, 0xffffffff, []byte("whatever follows"))
	f := openBytes(t, b.b)
	recs, _ := drain(t, f)
	assert.Len(t, recs, 11)
	in := f.Inputs()[0]
	assert.Equal(t, "packet 12: record says 4,294,967,295 bytes: not believable", in.Error)
	assert.False(t, in.Complete)
	assert.EqualValues(t, 11, in.Packets)
}

// A frame longer than a block makes the buffer grow by what arrives; one that
// only says so doesn't.
func TestLongFrames(t *testing.T) {
	long := bytes.Repeat([]byte("x"), maxFrame)
	b := newBuilder(false).header(magicMicros, 2, 4, 0, 1).rec(1, 0, 3, 3, []byte("abc"))
	b.rec(2, 0, maxFrame, maxFrame, long).rec(3, 0, 3, 3, []byte("def"))
	recs, frames := drain(t, openBytes(t, b.b))
	require.Len(t, recs, 3)
	assert.Equal(t, long, frames[1])
	assert.Equal(t, "def", string(frames[2]))

	f := openBytes(t, b.b[:b.ends[0]+pcapRecordLen+100])
	buf, recs, err := f.ReadBlock(nil, nil)
	require.NoError(t, err)
	require.Len(t, recs, 1)
	buf, recs, err = f.ReadBlock(buf[:0], recs[:0])
	require.Equal(t, io.EOF, err)
	assert.Empty(t, recs)
	assert.LessOrEqual(t, cap(buf), blockBytes)
	assert.Equal(t, "cut short in packet 2", f.Inputs()[0].Error)
}

func TestPPI(t *testing.T) {
	ppi := func(n uint16, dlt uint32, rest string) []byte {
		return newBuilder(false).raw(0, 0).u16(n).u32(dlt).raw([]byte(rest)...).b
	}
	for _, c := range []struct {
		name   string
		frame  []byte
		link   uint16
		inside string
	}{
		{name: "Ethernet", frame: ppi(8, 1, "frame"), link: 1, inside: "frame"},
		{name: "fields before it", frame: ppi(12, 1, "....frame"), link: 1, inside: "frame"},
		{name: "802.11 keeps its own number", frame: ppi(8, 105, "frame"), link: 105, inside: "frame"},
		{name: "header longer than the frame", frame: ppi(80, 1, "frame"), link: LinkPPI, inside: string(ppi(80, 1, "frame"))},
		{name: "length too small", frame: ppi(7, 1, "frame"), link: LinkPPI, inside: string(ppi(7, 1, "frame"))},
		{name: "cut in the header", frame: ppi(8, 1, "")[:7], link: LinkPPI, inside: string(ppi(8, 1, "")[:7])},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := uint32(len(c.frame))
			recs, frames := drain(t, openBytes(t, newBuilder(false).header(magicMicros, 2, 4, 0, LinkPPI).rec(1, 0, n, n+100, c.frame).b))
			require.Len(t, recs, 1)
			assert.Equal(t, c.link, recs[0].Link)
			assert.Equal(t, c.inside, string(frames[0]))
			assert.EqualValues(t, len(c.inside)+100, recs[0].Wire)
		})
	}
}
