package pcaps

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// erfSample is a chain of records of every kind that is looked into.
func erfSample() *builder {
	b := newBuilder(false)
	b.erf(1_700_000_000, 1<<31, erfTypeEthernet, erfVarying|1, 0, 60, nil, []byte("\x00\x00ethernet"))
	b.erf(1_700_000_000, 1<<31+1<<30, erfTypeInfiniBand, erfVarying|erfTruncated, 9, 290, nil, []byte("infiniband"))
	b.erf(1_700_000_001, 0, erfTypePad, 0, 0, 0, nil, nil)
	b.ends = b.ends[:2] // a pad is no record
	b.erf(1_700_000_001, 1, erfTypeEthernet|erfMore, erfVarying|erfRxError, 65535, 8, []byte("\x80234567\x00\x03234567\x00"), []byte("\x00\x00two exts"))
	b.erf(1_700_000_002, 0, erfTypeColorEth, erfVarying, 77, 5, nil, []byte("\x00\x00color"))
	b.erf(1_700_000_003, 0, erfTypeIPv4, erfVarying, 0, 4, nil, []byte("ipv4"))
	b.erf(1_700_000_004, 0, 1, erfVarying, 0, 4, nil, []byte("hdlc"))
	return b
}

func TestERF(t *testing.T) {
	f := openBytes(t, erfSample().b)
	recs, frames := drain(t, f)
	require.Len(t, recs, 6)
	for i, want := range []struct {
		frame string
		rec   Record
	}{
		{"ethernet\x00\x00\x00\x00\x00\x00", Record{Time: 1_700_000_000_500_000_000, Cap: 14, Wire: 60, Iface: 0, Link: 1}},
		{"infiniband\x00\x00\x00\x00\x00\x00", Record{Time: 1_700_000_000_750_000_000, Cap: 16, Wire: 290, Iface: 1, Link: 247, Flags: FlagTruncated, Lost: 9}},
		{"two exts", Record{Time: 1_700_000_001_000_000_000, Cap: 8, Wire: 8, Iface: 1, Link: 1, Flags: FlagRxError, Lost: 65535}},
		{"color", Record{Time: 1_700_000_002_000_000_000, Cap: 5, Wire: 5, Iface: 1, Link: 1}},
		{"ipv4", Record{Time: 1_700_000_003_000_000_000, Cap: 4, Wire: 4, Iface: 1, Link: 228}},
		{"", Record{Time: 1_700_000_004_000_000_000, Cap: 24, Wire: 24, Iface: 1, Link: 197}}, // type HDLC stays ERF
	} {
		recs[i].Off = 0
		assert.Equal(t, want.rec, recs[i], "record %d", i)
		if want.frame != "" {
			assert.Equal(t, want.frame, string(frames[i]), "record %d", i)
		}
	}
	ifaces := f.Interfaces()
	require.Len(t, ifaces, 2)
	assert.Equal(t, Interface{ID: 1, Link: 197, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true}, ifaces[0])
	assert.Equal(t, 0, ifaces[1].ID)
	assert.Equal(t, FormatERF, f.Inputs()[0].Format)
}

// The same records inside a pcap or pcapng of link type 197.
func TestERFInside(t *testing.T) {
	erf := erfSample()
	from := []int{0, erf.ends[0], erf.ends[1] + erfHeaderLen, erf.ends[2], erf.ends[3], erf.ends[4]}
	pcap := newBuilder(false).header(magicMicros, 2, 4, 0, LinkERF)
	ng := newBuilder(true).shb().idb(LinkERF, 0)
	for i, end := range erf.ends {
		frame := erf.b[from[i]:end]
		pcap.rec(7, 8, uint32(len(frame)), uint32(len(frame)), frame)
		ng.epb(0, 7_000_008, uint32(len(frame)), frame)
	}
	bare, bareFrames := drain(t, openBytes(t, erf.b))
	for _, file := range [][]byte{pcap.b, ng.b} {
		recs, frames := drain(t, openBytes(t, file))
		require.Len(t, recs, len(bare))
		for i := range recs {
			want := bare[i]
			want.Time, want.Iface, want.Off = 7_000_008_000, 0, recs[i].Off
			assert.Equal(t, want, recs[i], "record %d", i)
			assert.Equal(t, bareFrames[i], frames[i], "record %d", i)
		}
	}
}

// An ERF header that doesn't fit its frame leaves the frame alone.
func TestERFInsideDamaged(t *testing.T) {
	whole := newBuilder(false).erf(1, 0, erfTypeEthernet|erfMore, 0, 0, 60, []byte("\x80234567\x00"), nil).b
	for _, frame := range [][]byte{whole[:15], whole[:23], whole, newBuilder(false).erf(1, 0, erfTypeEthernet, 0, 0, 60, nil, nil).b[:16]} {
		n := uint32(len(frame))
		recs, frames := drain(t, openBytes(t, newBuilder(false).header(magicMicros, 2, 4, 0, LinkERF).rec(1, 0, n, n, frame).b))
		require.Len(t, recs, 1)
		assert.EqualValues(t, LinkERF, recs[0].Link)
		assert.Equal(t, frame, frames[0])
	}
}

func TestERFDamaged(t *testing.T) {
	b := erfSample()
	for range 8 {
		b.erf(1_700_000_005, 0, erfTypeEthernet, 0, 0, 60, nil, []byte("\x00\x00more"))
	}
	b.raw(1, 2, 3, 4, 5, 6, 7, 8, erfTypeEthernet, 0, 0, 15, 0, 0, 0, 60)
	f := openBytes(t, b.b)
	recs, _ := drain(t, f)
	assert.Len(t, recs, 14)
	assert.Equal(t, "packet 15: record says 15 bytes: not believable", f.Inputs()[0].Error)
}

func TestLooksERF(t *testing.T) {
	rec := func(sec uint32, typ byte, wlen uint16) []byte {
		return newBuilder(false).erf(sec, 0, typ, erfVarying, 0, wlen, nil, []byte("\x00\x00frame")).b
	}
	chain := func(recs ...[]byte) []byte { return bytes.Join(recs, nil) }
	for _, c := range []struct {
		name string
		data []byte
		want bool
	}{
		{"one record", rec(1_700_000_000, 2, 60), true},
		{"two", chain(rec(1_700_000_000, 2, 60), rec(1_700_000_001, 21, 60)), true},
		{"a part of one", rec(1_700_000_000, 2, 60)[:23], false},
		{"one and a part", chain(rec(1_700_000_000, 2, 60), rec(1_700_000_001, 2, 60)[:20]), true},
		{"unknown type", rec(1_700_000_000, 30, 60), false},
		{"type 0", rec(1_700_000_000, 0, 60), false},
		{"pad first", rec(1_700_000_000, erfTypePad, 60), false},
		{"a year and more ahead", chain(rec(1_700_000_000, 2, 60), rec(1_740_000_000, 2, 60)), false},
		{"two days back", chain(rec(1_700_000_000, 2, 60), rec(1_700_000_000-2*86400, 2, 60)), false},
		{"record longer than its frame", newBuilder(false).erf(1, 0, 2, erfVarying, 0, 4, nil, make([]byte, 50)).b, false},
		{"zeros", make([]byte, 4096), false},
		{"text", bytes.Repeat([]byte("Lorem ipsum dolor sit amet\n"), 400), false},
		{"nothing", nil, false},
	} {
		assert.Equal(t, c.want, looksERF(c.data, true), c.name)
	}
}
