package main

import (
	"encoding/binary"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// keptFaces is where the packets of numbered come from.
var keptFaces = []analysis.Interface{{Name: "eth7", Link: wire.LinkEthernet, Received: -1, Dropped: -1, FCSBytes: -1}}

// numbered gives a block of packets that say their number.
func numbered(from, n int64, octets int) (buf []byte, recs []analysis.Record) {
	for i := range n {
		frame := make([]byte, octets)
		binary.BigEndian.PutUint64(frame[14:], uint64(from+i))
		recs = append(recs, analysis.Record{Time: from + i, Off: uint32(len(buf)), Cap: uint32(octets), Wire: uint32(octets), Link: wire.LinkEthernet})
		buf = append(buf, frame...)
	}
	return buf, recs
}

// recentOf is some MiB of packets with the capture's times.
func recentOf(mebibytes int) *recentPackets {
	p := newRecentPackets(wire.Config{}, mebibytes)
	p.stamped = analysis.NewStamped(nil, wire.Config{}, analysis.ClockCapture)
	return p
}

func numberIn(t *testing.T, p *recentPackets, n int64) int64 {
	t.Helper()
	pkt, err := p.Packet(n)
	require.NoError(t, err)
	assert.Equal(t, n, pkt.Number)
	return int64(binary.BigEndian.Uint64(pkt.Data[14:]))
}

// TestRecentPackets: the newest are kept within the bound, under their numbers,
// and those that went say so.
func TestRecentPackets(t *testing.T) {
	p := recentOf(4)
	at := int64(1)
	for _, n := range []int64{1, 999, 5000, 20_000, 3} {
		buf, recs := numbered(at, n, 1000)
		p.block(buf, recs, keptFaces)
		for i := range buf { // the block belongs to others
			buf[i] = 0xff
		}
		at += n
		count, complete := p.Count()
		require.Equal(t, at-1, count)
		assert.False(t, complete)
		for _, k := range []int64{p.First(), (p.First() + count) / 2, count} {
			assert.Equal(t, k, numberIn(t, p, k))
		}
	}
	kept := at - p.First()
	assert.Less(t, kept, int64(4<<20/1000+1), "within the bound")
	assert.Greater(t, kept, int64(3<<20/1040), "and no less than it allows, but for one part")
	_, err := p.Packet(p.First() - 1)
	require.ErrorContains(t, err, "is not kept any more: memory holds the newest")
	_, err = p.Packet(at)
	require.Error(t, err)

	var seen []int64
	require.NoError(t, p.Scan(t.Context(), at-3, func(q *wire.Packet) bool { seen = append(seen, q.Number); return true }))
	assert.Equal(t, []int64{at - 3, at - 2, at - 1}, seen)
	n := int64(0)
	require.NoError(t, p.reread(t.Context(), func(*wire.Packet) bool { n++; return n < 10 }))
	assert.Equal(t, int64(10), n, "it stops when told")
	p.finish(keptFaces)
	_, complete := p.Count()
	assert.True(t, complete)
}

// TestRecentPacketsFreeze: what is looked at stays while more comes.
func TestRecentPacketsFreeze(t *testing.T) {
	p := recentOf(2)
	p.block(numberedBlock(1, 10))
	p.Freeze(true)
	for at := int64(11); at < 20_000; at += 500 {
		p.block(numberedBlock(at, 500))
	}
	count, _ := p.Count()
	assert.Equal(t, int64(10), count)
	assert.Equal(t, int64(1), p.First())
	assert.Equal(t, int64(7), numberIn(t, p, 7))
	_, err := p.Packet(11)
	require.Error(t, err, "it came after")
	n := 0
	require.NoError(t, p.Scan(t.Context(), 1, func(*wire.Packet) bool { n++; return true }))
	assert.Equal(t, 10, n)
	p.Freeze(false)
	count, _ = p.Count()
	assert.Equal(t, int64(20_010), count)
	assert.Greater(t, p.First(), int64(10))
}

func numberedBlock(from, n int64) ([]byte, []analysis.Record, []analysis.Interface) {
	buf, recs := numbered(from, n, 1000)
	return buf, recs, keptFaces
}

// TestRecentPacketsSave writes what is kept, exactly.
func TestRecentPacketsSave(t *testing.T) {
	p := recentOf(1)
	buf, recs, faces := numberedBlock(1, 200)
	p.block(buf, recs, faces)
	path := filepath.Join(t.TempDir(), "saved.pcapng")
	n, err := p.Save(t.Context(), path, []int64{2, 3, 200})
	require.NoError(t, err)
	assert.Equal(t, int64(3), n)
	f, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer f.Close()
	got, back, err := f.ReadBlock(nil, nil)
	require.NoError(t, err)
	require.Len(t, back, 3)
	for i, want := range []int64{2, 3, 200} {
		assert.Equal(t, want, back[i].Time)
		assert.Equal(t, buf[recs[want-1].Off:recs[want-1].Off+1000], got[back[i].Off:back[i].Off+back[i].Cap])
	}
	assert.Equal(t, "eth7", f.Interfaces()[0].Name)
}

// TestRecentPacketsTogether: packets are looked at while others come.
func TestRecentPacketsTogether(t *testing.T) {
	p := recentOf(1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for at := int64(1); at < 40_000; at += 100 {
			p.block(numberedBlock(at, 100))
		}
		p.finish(keptFaces)
	})
	wg.Go(func() {
		for done := false; !done; _, done = p.Count() {
			p.Freeze(true)
			_ = p.Scan(t.Context(), 1, func(q *wire.Packet) bool {
				return assert.Equal(t, q.Number, int64(binary.BigEndian.Uint64(q.Data[14:])))
			})
			p.Freeze(false)
		}
	})
	for done := false; !done; _, done = p.Count() {
		n, _ := p.Count()
		if q, err := p.Packet(n); err == nil {
			assert.Equal(t, n, int64(binary.BigEndian.Uint64(q.Data[14:])))
		}
	}
	wg.Wait()
}

// BenchmarkRecentPackets is what holding packets costs a capture.
func BenchmarkRecentPackets(b *testing.B) {
	p := recentOf(64)
	buf, recs := numbered(1, 1000, 100)
	for b.Loop() {
		p.block(buf, recs, keptFaces)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/packet")
}
