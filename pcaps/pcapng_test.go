package pcaps

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPcapngSectionsAndInterfaces(t *testing.T) {
	frame := []byte("frame")
	for _, big := range []bool{false, true} {
		b := newBuilder(big).shb()
		b.idb(1, 96, b.opt(optIfName, []byte("eth0\x00")), b.opt(optIfDescription, []byte("left")), b.opt64(optIfSpeed, 100e9))
		b.idb(247, 0, b.opt(optIfTSResol, []byte{9}), b.opt(optIfName, []byte("ib0")))
		b.epb(1, 5, 50, frame, b.opt(optFlags, b.body().u32(1).b), b.opt64(optDropCount, 7))
		b.epb(0, 6, 5, frame, b.opt(optFlags, b.body().u32(2|1<<24).b), b.opt64(optDropCount, 1<<40))
		b.block(0xbad, b.body().u32(1, 2, 3, 4, 5).b)
		b.isb(0, b.opt64(optIsbIfRecv, 1000), b.opt64(optIsbIfDrop, 30), b.opt64(optIsbOSDrop, 4))
		b.order = newBuilder(!big).order // the next section in the other byte order
		b.shb().idb(113, 0).epb(0, 7, 5, frame)
		b.block(blockPacketOld, b.body().u16(0, 3).u32(0, 8, 5, 6).raw(frame...).raw(0, 0, 0).raw(b.opt(optFlags, b.body().u32(2).b)...).b)
		b.block(blockPacketOld, b.body().u16(0, noDropCount).u32(0, 9, 5, 6).raw(frame...).b)
		f := openBytes(t, b.b)
		recs, frames := drain(t, f)
		require.Empty(t, f.Inputs()[0].Error)
		require.Len(t, recs, 5)
		for i := range recs {
			assert.Equal(t, "frame", string(frames[i]))
			recs[i].Off = 0
		}
		assert.Equal(t, []Record{
			{Time: 5, Cap: 5, Wire: 50, Iface: 1, Link: 247, Lost: 7, Dir: DirInbound},
			{Time: 6000, Cap: 5, Wire: 5, Iface: 0, Link: 1, Lost: math.MaxUint16, Dir: DirOutbound, Flags: FlagRxError},
			{Time: 7000, Cap: 5, Wire: 5, Iface: 2, Link: 113},
			{Time: 8000, Cap: 5, Wire: 6, Iface: 2, Link: 113, Lost: 3, Dir: DirOutbound},
			{Time: 9000, Cap: 5, Wire: 6, Iface: 2, Link: 113},
		}, recs)
		assert.Equal(t, []Interface{
			{Name: "eth0", Description: "left", Link: 1, SnapLen: 96, SpeedBps: 100e9, Received: 1000, Dropped: 34, FCSBytes: -1},
			{ID: 1, Name: "ib0", Link: 247, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true},
			{Link: 113, Received: -1, Dropped: -1, FCSBytes: -1},
		}, f.Interfaces())
	}
}

func TestPcapngTimes(t *testing.T) {
	date := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).Unix()
	for _, c := range []struct {
		name   string
		resol  byte
		offset int64
		ts     uint64
		want   int64
		nano   bool
	}{
		{"10^0", 0, 0, uint64(date), date * 1e9, false},
		{"10^-3", 3, 0, uint64(date)*1e3 + 7, date*1e9 + 7e6, false},
		{"10^-6", 6, 0, uint64(date)*1e6 + 7, date*1e9 + 7e3, false},
		{"10^-9", 9, 0, uint64(date)*1e9 + 7, date*1e9 + 7, true},
		{"10^-10", 10, 0, uint64(date)*1e10 + 79, date*1e9 + 7, true},
		{"10^-12, offset", 12, date, 5_000_007_000, date*1e9 + 5e6 + 7, true},
		{"10^-19", 19, 0, 1e19 + 5e18, 15e8, true},
		{"10^-20", 20, 0, 7e11, 7, true},
		{"10^-127", 127, 0, math.MaxUint64 - 1, 0, true},
		{"2^0", 0x80, 0, uint64(date), date * 1e9, false},
		{"2^-8", 0x88, 0, uint64(date)<<8 + 128, date*1e9 + 5e8, false},
		{"2^-20", 0x94, 0, uint64(date)<<20 + 1, date*1e9 + 953, true},
		{"2^-32", 0xa0, 0, uint64(date)<<32 + 1<<31, date*1e9 + 5e8, true},
		{"2^-63", 0xbf, date, 1<<63 + 1<<62, date*1e9 + 15e8, true},
		{"2^-64", 0xc0, date, 1 << 63, date*1e9 + 5e8, true},
		{"2^-65", 0xc1, date, 1 << 63, date*1e9 + 25e7, true},
		{"2^-127", 0xff, date, math.MaxUint64, date * 1e9, true},
		{"offset", 6, 3600, 1, 3600e9 + 1000, false},
		{"negative offset", 6, -10, 15e6 + 1, 5e9 + 1000, false},
		{"before 1970", 6, -10, 5e6 + 1, -5e9 + 1000, false},
		{"too late", 6, 0, math.MaxUint64, math.MaxInt64, false},
		{"too late by its unit", 0, 1, math.MaxUint64, math.MaxInt64, false},
		{"too late by its offset", 0, math.MaxInt64, 5, math.MaxInt64, false},
		{"too early by its offset", 6, math.MinInt64, 5, math.MinInt64, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(false).shb()
			b.idb(1, 0, b.opt(optIfTSResol, []byte{c.resol}), b.opt64(optIfTSOffset, uint64(c.offset)))
			f := openBytes(t, b.epb(0, c.ts, 4, []byte("four")).b)
			recs, _ := drain(t, f)
			require.Len(t, recs, 1)
			assert.Equal(t, c.want, recs[0].Time)
			assert.Equal(t, c.nano, f.Interfaces()[0].Nanos)
		})
	}
}

func TestPcapngSimplePackets(t *testing.T) {
	b := newBuilder(false).shb().idb(1, 6)
	b.block(blockSimple, b.body().u32(4).raw([]byte("four")...).b)
	b.block(blockSimple, b.body().u32(5).raw([]byte("five!")...).b) // 5 of 8 bytes are the frame
	b.block(blockSimple, b.body().u32(900).raw([]byte("sixsix..")...).b)
	f := openBytes(t, b.b)
	recs, frames := drain(t, f)
	require.Len(t, recs, 3)
	for i, want := range []struct {
		frame string
		wire  uint32
	}{{"four", 4}, {"five!", 5}, {"sixsix", 900}} {
		assert.Equal(t, want.frame, string(frames[i]))
		assert.Equal(t, want.wire, recs[i].Wire)
		assert.EqualValues(t, FlagNoTime, recs[i].Flags)
		assert.Zero(t, recs[i].Time)
	}
}

func TestPcapngFCS(t *testing.T) {
	frame := []byte("0123456789")
	for _, c := range []struct {
		name    string
		told    []byte
		flags   uint32
		fcs     int
		wantCap uint32
	}{
		{"not told", nil, 0, -1, 10},
		{"4 bytes", []byte{4}, 0, 4, 6},
		{"32 bits", []byte{32}, 0, 4, 6},
		{"none", []byte{0}, 0, 0, 10},
		{"nonsense", []byte{99}, 0, -1, 10},
		{"packet overrides", []byte{4}, 2 << 5, 4, 8},
		{"packet alone", nil, 4 << 5, -1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(true).shb()
			var o []byte
			if c.told != nil {
				o = b.opt(optIfFCSLen, c.told)
			}
			b.idb(1, 0, o).epb(0, 1, 10, frame, b.opt(optFlags, b.body().u32(c.flags).b))
			f := openBytes(t, b.b)
			recs, _ := drain(t, f)
			require.Len(t, recs, 1)
			assert.Equal(t, c.wantCap, recs[0].Cap)
			assert.Equal(t, c.wantCap, recs[0].Wire)
			assert.Equal(t, c.fcs, f.Interfaces()[0].FCSBytes)
		})
	}
}

func TestPcapngDamage(t *testing.T) {
	good := func() *builder {
		b := newBuilder(false).shb()
		return b.idb(1, 0).epb(0, 1, 4, []byte("four"))
	}
	for _, c := range []struct {
		name, want string
		file       *builder
	}{
		{"interface unknown", "packet 2: names interface 1 of 1", good().epb(1, 1, 4, []byte("four"))},
		{"frame longer than its block", "packet 2: record says 5,000 bytes: not believable", good().block(blockEnhanced, newBuilder(false).u32(0, 0, 0, 5000, 5000, 0).b)},
		{"block length not a multiple of 4", "after packet 1: block says 33 bytes: not believable", good().u32(6, 33, 0)},
		{"block length too small", "after packet 1: block says 8 bytes: not believable", good().u32(6, 8, 0)},
		{"packet block of 4 GB", "after packet 1: block says 4,294,967,292 bytes: not believable", good().u32(6, 0xfffffffc, 0)},
		{"lengths differ", "after packet 1: block says 32 bytes at its start, 36 at its end", good().u32(6, 32, 0, 0, 0, 0, 0, 36)},
		{"lengths of a skipped block differ", "after packet 1: block says 16 bytes at its start, 20 at its end", good().u32(99, 16, 0, 20)},
		{"skipped block of 4 GB", "cut short after packet 1", good().u32(99, 0xfffffffc, 0, 20)},
		{"too short for a packet", "packet 2: block of 12 bytes", good().block(blockEnhanced, nil)},
		{"too short for an old packet", "packet 2: block of 12 bytes", good().block(blockPacketOld, nil)},
		{"too short for a simple packet", "packet 2: block of 12 bytes", good().block(blockSimple, nil)},
		{"too short for an interface", "after packet 1: interface description of 12 bytes", good().block(blockInterface, nil)},
		{"too short for statistics", "after packet 1: interface statistics of 12 bytes", good().block(blockStatistics, nil)},
		{"statistics of an unknown interface", "after packet 1: statistics of interface 7 of 1", good().isb(7)},
		{"simple packet before an interface", "packet 2: no interface described before it", good().shb().block(blockSimple, newBuilder(false).u32(4, 4).b)},
		{"second section without byte order", "after packet 1: section header without a byte-order magic", good().u32(blockSection, 28, 1, 1, 1, 1, 28)},
		{"second section of another version", "after packet 1: pcapng of version 2.0, not read (1.x is)", good().u32(blockSection, 28, byteOrderMagic, 2, 1, 1, 28)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := openBytes(t, c.file.b)
			recs, _ := drain(t, f)
			assert.Len(t, recs, 1, "what stands before the damage is delivered")
			assert.Equal(t, c.want, f.Inputs()[0].Error)
			assert.False(t, f.Inputs()[0].Complete)
		})
	}
}

// Options that say more than their block holds end the options, not the file.
func TestPcapngOptionsOutOfBounds(t *testing.T) {
	b := newBuilder(false).shb()
	b.idb(1, 0, b.opt(optIfName, []byte("eth0")), b.body().u16(optIfDescription, 0xffff).u32(1).b)
	b.epb(0, 1, 4, []byte("four"), b.body().u16(optFlags, 400).b)
	f := openBytes(t, b.b)
	recs, _ := drain(t, f)
	require.Len(t, recs, 1)
	assert.Empty(t, f.Inputs()[0].Error)
	assert.Equal(t, "eth0", f.Interfaces()[0].Name)
	assert.Zero(t, recs[0].Dir)
}

// Blocks that are passed over may be longer than a buffer.
func TestPcapngLongUnknownBlock(t *testing.T) {
	b := newBuilder(false).shb().idb(1, 0).epb(0, 1, 4, []byte("four"))
	b.block(10, make([]byte, 3*blockBytes+20)) // as a decryption secrets block may be
	b.epb(0, 2, 4, []byte("more"))
	f := openBytes(t, b.b)
	recs, frames := drain(t, f)
	require.Len(t, recs, 2)
	assert.Equal(t, "more", string(frames[1]))
	assert.True(t, f.Inputs()[0].Complete)
}

func TestPcapngInterfaceLimit(t *testing.T) {
	b := newBuilder(false).shb()
	for range maxInterfaces + 1 {
		b.idb(1, 0)
	}
	f := openBytes(t, b.epb(0, 1, 4, []byte("four")).b)
	recs, _ := drain(t, f)
	assert.Empty(t, recs)
	assert.Equal(t, "before the first packet: more than 65,536 interfaces", f.Inputs()[0].Error)
	assert.Len(t, f.Interfaces(), maxInterfaces)
}
