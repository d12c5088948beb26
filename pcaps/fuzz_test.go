package pcaps

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzBuffer is kept from one input to the next: to clear a new one would be
// most of the work.
var fuzzBuffer []byte

// fuzzRead reads data as a file. Whatever it holds, reading ends, every
// record lies in its block, and no more is kept than arrived.
func fuzzRead(t *testing.T, data []byte) {
	if len(data) > 16<<10 {
		return
	}
	f, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(data)})
	if err != nil {
		var ue *UnreadableError
		require.True(t, errors.As(err, &ue))
		return
	}
	if f.Inputs()[0].Compression != "" {
		return // a bomb says nothing about the walkers
	}
	recs, frames, buf := drainInto(t, f, fuzzBuffer)
	in := f.Inputs()[0]
	require.EqualValues(t, len(recs), in.Packets)
	require.Equal(t, in.Complete, in.Error == "")
	require.LessOrEqual(t, len(recs), len(data)/pcapRecordLen)

	// In small pieces the same comes out.
	g, err := Open([]string{Stdin}, Options{Stdin: shortReads(data)})
	require.NoError(t, err)
	again, againFrames, buf := drainInto(t, g, buf)
	fuzzBuffer = buf
	require.Len(t, again, len(recs))
	require.Equal(t, frames, againFrames)
	for i := range recs {
		recs[i].Off, again[i].Off = 0, 0
	}
	require.Equal(t, recs, again)
	require.Equal(t, in, g.Inputs()[0])
	require.Equal(t, f.Interfaces(), g.Interfaces())
}

func addSamples(f *testing.F, format string) {
	for _, s := range samples() {
		src, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(s.file.b)})
		require.NoError(f, err)
		if src.Inputs()[0].Format == format {
			f.Add(s.file.b)
			f.Add(s.file.b[:len(s.file.b)-3])
		}
	}
}

func FuzzPcap(f *testing.F) {
	addSamples(f, FormatPcap)
	f.Add(newBuilder(false).header(magicMicros, 2, 3, 0, 0x24000001).rec(1, 2, 9, 6, []byte("frame!")).b)
	f.Add(newBuilder(false).header(magicMicros, 2, 4, 0, LinkPPI).rec(1, 2, 9, 9, []byte("\x00\x00\x08\x00\x01\x00\x00\x00f")).b)
	erf := erfSample()
	f.Add(newBuilder(false).header(magicMicros, 2, 4, 0, LinkERF).rec(1, 2, uint32(len(erf.b)), 999, erf.b).b)
	f.Fuzz(fuzzRead)
}

func FuzzPcapng(f *testing.F) {
	addSamples(f, FormatPcapng)
	f.Add(ringFile(1, "eth0", 3))
	f.Fuzz(fuzzRead)
}

func FuzzERF(f *testing.F) {
	addSamples(f, FormatERF)
	f.Fuzz(fuzzRead)
}

// FuzzCompressed feeds damaged compression, of which only so much is read.
func FuzzCompressed(f *testing.F) {
	plain := newBuilder(false).header(magicMicros, 2, 4, 0, 1).rec(1, 2, 5, 9, []byte("frame")).b
	f.Add(gzipped(f, plain))
	f.Add(zstded(f, plain))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			return
		}
		defer func() { require.NoError(t, src.Close()) }()
		var buf []byte
		var recs []Record
		for range 20 {
			if buf, recs, err = src.ReadBlock(buf, recs); err == io.EOF {
				return
			}
			require.NoError(t, err)
		}
	})
}
