package pcaps

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// builder writes files byte by byte in either byte order, so that the readers
// are not tested with the Writer alone.
type builder struct {
	order binary.AppendByteOrder
	b     []byte
	ends  []int // where each record ends
}

func newBuilder(big bool) *builder {
	if big {
		return &builder{order: binary.BigEndian}
	}
	return &builder{order: binary.LittleEndian}
}

func (f *builder) u16(vs ...uint16) *builder {
	for _, v := range vs {
		f.b = f.order.AppendUint16(f.b, v)
	}
	return f
}

func (f *builder) u32(vs ...uint32) *builder {
	for _, v := range vs {
		f.b = f.order.AppendUint32(f.b, v)
	}
	return f
}

func (f *builder) u64(v uint64) *builder { f.b = f.order.AppendUint64(f.b, v); return f }

func (f *builder) raw(v ...byte) *builder { f.b = append(f.b, v...); return f }

func (f *builder) end() *builder { f.ends = append(f.ends, len(f.b)); return f }

// header is a classic pcap's file header.
func (f *builder) header(magic uint32, major, minor uint16, snap, link uint32) *builder {
	return f.u32(magic).u16(major, minor).u32(0, 0, snap, link)
}

// rec is a classic record.
func (f *builder) rec(sec, sub, first, second uint32, frame []byte) *builder {
	return f.u32(sec, sub, first, second).raw(frame...).end()
}

// block is a pcapng block of which body is everything between the lengths.
func (f *builder) block(typ uint32, body []byte) *builder {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 12)
	return f.u32(typ, n).raw(body...).u32(n)
}

// body starts the body of a block, in the same byte order.
func (f *builder) body() *builder { return &builder{order: f.order} }

func (f *builder) shb() *builder {
	return f.block(blockSection, f.body().u32(byteOrderMagic).u16(1, 0).u64(1<<64-1).b)
}

func (f *builder) idb(link uint16, snap uint32, options ...[]byte) *builder {
	return f.block(blockInterface, append(f.body().u16(link, 0).u32(snap).b, bytes.Join(options, nil)...))
}

func (f *builder) opt(code uint16, val []byte) []byte {
	o := f.body().u16(code, uint16(len(val))).raw(val...)
	return append(o.b, make([]byte, pad4(len(val))-len(val))...)
}

func (f *builder) opt64(code uint16, v uint64) []byte { return f.opt(code, f.body().u64(v).b) }

func (f *builder) epb(id uint32, ts uint64, wire uint32, frame []byte, options ...[]byte) *builder {
	b := f.body().u32(id, uint32(ts>>32), uint32(ts), uint32(len(frame)), wire).raw(frame...)
	b.b = append(b.b, make([]byte, pad4(len(frame))-len(frame))...)
	return f.block(blockEnhanced, append(b.b, bytes.Join(options, nil)...)).end()
}

func (f *builder) isb(id uint32, options ...[]byte) *builder {
	return f.block(blockStatistics, append(f.body().u32(id, 0, 0).b, bytes.Join(options, nil)...))
}

// erf is one ERF record; ext are its extension headers, 8 bytes each.
func (f *builder) erf(sec, frac uint32, typ, flags byte, loss, wlen uint16, ext, payload []byte) *builder {
	n := erfHeaderLen + len(ext) + len(payload)
	padding := (8 - n%8) % 8
	le := binary.LittleEndian
	f.b = le.AppendUint32(le.AppendUint32(f.b, frac), sec)
	f.b = append(f.b, typ, flags)
	f.b = binary.BigEndian.AppendUint16(f.b, uint16(n+padding))
	f.b = binary.BigEndian.AppendUint16(f.b, loss)
	f.b = binary.BigEndian.AppendUint16(f.b, wlen)
	return f.raw(ext...).raw(payload...).raw(make([]byte, padding)...).end()
}

// openBytes opens data as standard input.
func openBytes(t testing.TB, data []byte) *Files {
	t.Helper()
	f, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(data)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// pcapOf is a nanosecond pcap with one small frame for each time.
func pcapOf(t testing.TB, link uint16, times ...int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewPcapWriter(&b, link, 0)
	require.NoError(t, err)
	for _, at := range times {
		require.NoError(t, w.Write(Record{Time: at, Link: link}, []byte{byte(at), byte(at >> 8)}, ""))
	}
	require.NoError(t, w.Flush())
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	require.NoError(t, err)
	_, err = z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}
