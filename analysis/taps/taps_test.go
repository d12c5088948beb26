package taps

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

type feed struct {
	*Tracker
	dec    *wire.Decoder
	number int64
}

func newFeed() *feed {
	return &feed{Tracker: New(), dec: wire.NewDecoder(wire.Config{SkipICRC: true})}
}

func (f *feed) packet(iface uint16, tos, ttl uint8, psn uint32, flow int32) {
	f.number++
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: tos, TTL: ttl, ID: uint16(psn)}
	b := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: psn})
	p := wire.Packet{Number: f.number, Time: f.number * 1000, Data: b, Wire: uint32(len(b)), Iface: iface, Link: 1}
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
	assert.Zero(t, f.flows.Len())
}

// TestFirstPacket: where a second interface is known of, the copy of the very
// first packet is compared too.
func TestFirstPacket(t *testing.T) {
	for _, known := range []bool{false, true} {
		f := newFeed()
		f.Expect(1)
		if known {
			f.Expect(2)
		}
		f.packet(0, dscp26|ect0, 64, 1, 0)
		f.packet(1, ect0, 63, 1, 1)
		r := f.Result()
		if known {
			require.Len(t, r.Changes, 1)
			assert.Equal(t, FieldDSCP, r.Changes[0].Field)
		} else {
			assert.Empty(t, r.Changes)
		}
	}
}

// TestForget: an id that is used again is another flow, in all that is kept of
// it: also for packets that are still remembered.
func TestForget(t *testing.T) {
	f := newFeed()
	f.Expect(2)
	f.packet(0, dscp26|ect0, 64, 1, 0)
	f.packet(1, ect0, 63, 1, 1)
	f.packet(0, dscp26|ce, 64, 2, 0)
	f.packet(1, ect0, 63, 2, 1)
	f.packet(0, dscp26|ect0, 64, 3, 0)
	got := f.Forget(0)
	assert.EqualValues(t, 2, got.Compared)
	assert.Len(t, got.Changes, 2, "DSCP of two packets, a mark taken back")
	f.packet(1, ect0, 63, 3, 1)
	r := f.Result()
	assert.Zero(t, r.Compared(0))
	assert.EqualValues(t, []int64{2, 1}, []int64{r.Compared(1), r.CEMissed(1)})
	assert.Empty(t, r.Changes)
	require.Len(t, r.Gone, 2)
	assert.EqualValues(t, []int64{-1, 2}, []int64{int64(r.Gone[0].Flow), r.Gone[0].Packets})
	f.packet(0, dscp26|ect0, 64, 4, 0)
	f.packet(1, dscp26|ect0, 63, 4, 1)
	r = f.Result()
	assert.EqualValues(t, 1, r.Compared(0), "the new owner of the id")
	assert.Equal(t, Totals{}, f.Forget(77))
	assert.Equal(t, Totals{}, f.Forget(-1))
}

// TestForgetMillions: flows come and go for ever, their ids with them.
func TestForgetMillions(t *testing.T) {
	n := uint32(1_000_000)
	if testing.Short() {
		n = 100_000
	}
	const alive = 1000
	crowd, alone := newFeed(), newFeed()
	crowd.Expect(2)
	alone.Expect(2)
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: dscp26 | ect0}
	frame := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: 5})
	var p [2]wire.Packet
	for i := range p {
		p[i] = wire.Packet{Data: frame, Wire: uint32(len(frame)), Iface: uint16(i), Link: 1}
		crowd.dec.Decode(&p[i])
	}
	p[1].TOS = dscp26 | ce
	crc := frame[len(frame)-4:]
	both := func(f *feed, number int64, id int32) {
		crc[0], crc[1], crc[2], crc[3] = byte(number), byte(number>>8), byte(number>>16), byte(number>>24)
		for i := range p {
			p[i].Number = 2*number + int64(i)
			f.Packet(&p[i], id)
		}
	}
	var early int64
	for k := range n {
		id := int32(k % alive)
		both(crowd, int64(k)+1, id)
		if id < 10 {
			both(alone, int64(k)+1, id)
			continue
		}
		crowd.Forget(id)
		if early == 0 && k > n/10 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4+1<<16, "memory grows")
	assert.Less(t, crowd.flows.Len(), 2*alive)
	a, b := crowd.Result(), alone.Result()
	for id := range int32(10) {
		assert.EqualValues(t, 2*n/alive, a.Compared(id))
		assert.Equal(t, b.Compared(id), a.Compared(id))
		assert.Equal(t, b.CEMissed(id), a.CEMissed(id))
	}
	assert.Equal(t, b.Changes, a.Changes)
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
			assert.Equal(t, []int64{1, 1}, []int64{r.Compared(0), r.Compared(1)})
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
			assert.Equal(t, []int64{c.missedFirst, c.missedNow}, []int64{r.CEMissed(0), r.CEMissed(1)})
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
	r := f.Result()
	assert.Equal(t, []int64{1, 0, 0}, []int64{r.CEMissed(0), r.CEMissed(1), r.CEMissed(2)})
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
	assert.Zero(t, r.Compared(0)+r.Compared(1))
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
			p := wire.Packet{Number: 9, Data: b[:n], Wire: uint32(len(b)), Iface: iface, Link: 1}
			f.dec.Decode(&p)
			f.Packet(&p, 0)
		}
	}
	r := f.Result()
	assert.Zero(t, r.Compared(0)+r.Compared(-1))
}

// TestNoAllocations on the hot path, once the flows are known.
func TestNoAllocations(t *testing.T) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: dscp26}
	b := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: 5})
	var p [2]wire.Packet
	for i := range p {
		p[i] = wire.Packet{Number: 9, Data: b, Wire: uint32(len(b)), Iface: uint16(i), Link: 1}
		f.dec.Decode(&p[i])
		f.Packet(&p[i], int32(i))
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		f.Packet(&p[0], 0)
		f.Packet(&p[1], 1)
	}))
}
