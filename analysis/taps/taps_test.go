package taps

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode"
	"rdmascope/pcaps/synth"
)

type feed struct {
	*Tracker
	dec    *decode.Decoder
	number int64
}

func newFeed() *feed {
	return &feed{Tracker: New(), dec: decode.NewDecoder(decode.Config{SkipICRC: true})}
}

func (f *feed) packet(iface uint16, tos, ttl uint8, psn uint32, flow int32) {
	f.number++
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: tos, TTL: ttl, ID: uint16(psn)}
	b := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: psn})
	p := decode.Packet{Number: f.number, Time: f.number * 1000, Data: b, Wire: uint32(len(b)), Iface: iface, Link: 1}
	f.dec.Decode(&p)
	f.Packet(&p, flow)
}

const (
	notECT, ect1, ect0, ce = 0, 1, 2, 3
	dscp26                 = 26 << 2
)

func TestNothingIsStoredForOneInterface(t *testing.T) {
	f := newFeed()
	for psn := range uint32(100) {
		f.packet(3, dscp26|ect0, 64, psn, 0)
	}
	assert.Nil(t, f.table)
	assert.Equal(t, Result{}, f.Result())
}

// TestChanges: what a hop did to a packet, by its two sightings.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name                   string
		tos, tosThen           uint8
		ttl, ttlThen           uint8
		want                   []Change
		bleached               bool
		missedFirst, missedNow int64
	}{
		{name: "nothing", tos: dscp26 | ect0, tosThen: dscp26 | ect0, ttl: 64, ttlThen: 63},
		{name: "marked, as routers may", tos: dscp26 | ect0, tosThen: dscp26 | ce, ttl: 64, ttlThen: 63, missedFirst: 1,
			want: []Change{{Field: FieldECN, To: 1, Before: ect0, After: ce, ByTTL: true}}},
		{name: "rewritten", tos: dscp26 | ect0, tosThen: ect0, ttl: 64, ttlThen: 63,
			want: []Change{{Field: FieldDSCP, To: 1, Before: 26, After: 0, ByTTL: true}}},
		{name: "mark taken back", tos: dscp26 | ce, tosThen: dscp26 | ect0, ttl: 64, ttlThen: 63, bleached: true, missedNow: 1,
			want: []Change{{Field: FieldECN, To: 1, Before: ce, After: ect0, ByTTL: true}}},
		{name: "marked, the later tap first in the file", tos: dscp26 | ce, tosThen: dscp26 | ect0, ttl: 63, ttlThen: 64, missedNow: 1,
			want: []Change{{Field: FieldECN, From: 1, Before: ect0, After: ce, ByTTL: true}}},
		{name: "capability lost", tos: dscp26 | ect0, tosThen: dscp26, ttl: 64, ttlThen: 64, bleached: true,
			want: []Change{{Field: FieldECN, To: 1, Before: ect0, After: notECT}}},
		{name: "all of TOS cleared", tos: dscp26 | ect1, tosThen: 0, ttl: 64, ttlThen: 63, bleached: true,
			want: []Change{{Field: FieldDSCP, To: 1, Before: 26, ByTTL: true}, {Field: FieldECN, To: 1, Before: ect1, ByTTL: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFeed()
			f.packet(0, 0, 64, 1, 0)
			f.packet(1, 0, 64, 2, 1) // a second interface
			f.packet(0, c.tos, c.ttl, 3, 0)
			f.packet(1, c.tosThen, c.ttlThen, 3, 1)
			r := f.Result()
			assert.Equal(t, map[int32]int64{0: 1, 1: 1}, r.Compared)
			require.Len(t, r.Changes, len(c.want))
			bleached := false
			for i := range r.Changes {
				got := r.Changes[i]
				bleached = bleached || got.Bleached()
				assert.EqualValues(t, 1, got.Packets)
				assert.EqualValues(t, got.From, got.Flow, "the flow as the first tap saw it")
				got.Packets, got.Flow, got.FirstPacket, got.FirstTime, got.LastTime = 0, 0, 0, 0, 0
				assert.Equal(t, c.want[i], got)
			}
			assert.Equal(t, c.bleached, bleached)
			assert.Equal(t, []int64{c.missedFirst, c.missedNow}, []int64{r.CEMissed[0], r.CEMissed[1]})
		})
	}
}

// TestThirdSighting: CE at any of three taps counts once for each of the others.
func TestThirdSighting(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	f.packet(0, dscp26|ect0, 64, 3, 0)
	f.packet(1, dscp26|ce, 63, 3, 1)
	f.packet(2, dscp26|ce, 62, 3, 2)
	assert.Equal(t, map[int32]int64{0: 1}, f.Result().CEMissed)
}

// TestForgetting: a packet whose place a newer one took is not compared; one
// seen twice at one interface isn't either.
func TestForgetting(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	for psn := uint32(10); psn < 10+20*slots; psn++ {
		f.packet(0, dscp26|ect0, 64, psn, 0)
	}
	assert.Len(t, f.table, slots)
	f.packet(1, 0, 63, 10, 1)
	f.packet(0, 0, 64, 10+20*slots-1, 0)
	r := f.Result()
	assert.Empty(t, r.Compared)
	assert.Empty(t, r.Changes)
}

// TestChangesAreBounded: however many flows are rewritten.
func TestChangesAreBounded(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	for i := range uint32(2 * maxChanges) {
		f.packet(0, dscp26, 64, 10+i, int32(i))
		f.packet(1, 0, 63, 10+i, -1)
	}
	r := f.Result()
	assert.Len(t, r.Changes, maxChanges)
	assert.EqualValues(t, maxChanges, r.Dropped)
}

// TestCutPackets: without its iCRC a packet has no identity.
func TestCutPackets(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2")}
	b := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: 5, Payload: make([]byte, 64)})
	for _, n := range []int{len(b) - 1, len(b) - 4, 60, 42} {
		for iface := range uint16(2) {
			p := decode.Packet{Number: 9, Data: b[:n], Wire: uint32(len(b)), Iface: iface, Link: 1}
			f.dec.Decode(&p)
			f.Packet(&p, 0)
		}
	}
	assert.Empty(t, f.Result().Compared)
}

// TestNoAllocations on the hot path, once the flows are known.
func TestNoAllocations(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: dscp26}
	b := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: 5})
	var p [2]decode.Packet
	for i := range p {
		p[i] = decode.Packet{Number: 9, Data: b, Wire: uint32(len(b)), Iface: uint16(i), Link: 1}
		f.dec.Decode(&p[i])
		f.Packet(&p[i], int32(i))
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		f.Packet(&p[0], 0)
		f.Packet(&p[1], 1)
	}))
}
