package iwarp_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// variety writes every kind of FPDU, in lengths that meet markers everywhere.
func variety(w *builder) *builder {
	msn, to := uint32(1), uint64(0x1000)
	for i := range 40 {
		w.send(msn, 0, true, i*13)
		msn++
		w.write(0xabcd, to, i%3 == 2, 200+i*31)
		to += uint64(200 + i*31)
		w.untagged(0x41, 1, uint32(i+1), 0, true, pattern(28))
		w.response(0x77, uint64(i)*4096, true, i)
	}
	w.untagged(0x4a, 1, 41, 0, true, pattern(52))
	w.untagged(0x4b, 3, 1, 0, true, pattern(12))
	w.untagged(0x48, 0, msn, 0, true, pattern(8))
	w.untagged(0x47, 2, 1, 0, true, unhex("2102 0100 0000"))
	return w
}

const varietyFPDUs = 40*4 + 4

// Any cutting of the octets into segments gives the same FPDUs.
func TestResegmentation(t *testing.T) {
	for _, markers := range []bool{false, true} {
		for _, crc := range []bool{false, true} {
			w := &builder{crc: crc}
			flag := byte(0)
			if markers {
				w.marker, flag = everyPeriod, iwarp.MPAFlagM
			}
			if crc {
				flag |= iwarp.MPAFlagC
			}
			variety(w)
			octets := append(mpaFrame(true, flag, 1, "hello"), w.b...)
			var first []found
			rnd := rand.New(rand.NewSource(3))
			for round := range 60 {
				p, c := iwarp.NewPair(), newCollector()
				p.Streams[1].Feed(iwarp.Segment{Payload: mpaFrame(false, flag, 1, "")}, newCollector())
				for off := 0; off < len(octets); {
					n := 1 // first round: octet by octet
					if round > 0 {
						n = 1 + rnd.Intn(1<<(1+round%12))
					}
					n = min(n, len(octets)-off)
					// Wrap-around of the 32-bit sequence number lies inside.
					p.Streams[0].Feed(iwarp.Segment{Offset: 1<<32 - 3000 + uint64(off), Payload: octets[off : off+n]}, c)
					off += n
				}
				require.Len(t, c.mpa, 1)
				require.Equal(t, "hello", string(c.mpa[0].Private))
				require.Empty(t, c.faults)
				require.Empty(t, c.notices)
				for i := range c.fpdus {
					c.fpdus[i].aligned = false
				}
				if round == 0 {
					first = c.fpdus
					require.Len(t, first, varietyFPDUs)
					for i, f := range first {
						require.EqualValues(t, 1<<32-3000+len(octets)-len(w.b)+w.starts[i], f.start)
					}
					if crc {
						require.Equal(t, varietyFPDUs, c.crcs[iwarp.CRCGood])
					} else {
						require.Equal(t, varietyFPDUs, c.crcs[iwarp.CRCNotNegotiated])
					}
					continue
				}
				require.Equal(t, first, c.fpdus)
			}
		}
	}
}

// A stream that begins without a start-up frame, in every cutting of its first
// octets, and looks like one for a while.
func TestNoHandshakeIsSearched(t *testing.T) {
	for _, prefix := range []string{"", "M", "MPA ID Re", "MPA ID Req Fram", "GET / HTTP/1.1"} {
		w := &builder{b: []byte(prefix), crc: true}
		w.send(1, 0, true, 100).send(2, 0, true, 50)
		for n := 1; n < 40; n++ {
			p, c := iwarp.NewPair(), newCollector()
			feedAt(&p.Streams[0], 5000, w.b, n, c)
			require.Len(t, c.fpdus, 2, "%q in pieces of %d", prefix, n)
			assert.EqualValues(t, 5000+len(prefix), c.fpdus[0].start)
			assert.Empty(t, c.faults)
		}
	}
}

func TestMarkersFollowThePeersFrame(t *testing.T) {
	plain, marked := &builder{}, &builder{marker: everyPeriod}
	variety(plain)
	variety(marked)
	for _, c := range []struct{ request, reply byte }{{0, 0}, {0, 0x80}, {0x80, 0}, {0x80, 0x80}} {
		p, col := pairAfter(c.request, c.reply)
		// M in the reply: the initiator inserts markers, and the other way round.
		initiator, responder := plain, plain
		if c.reply != 0 {
			initiator = marked
		}
		if c.request != 0 {
			responder = marked
		}
		feedAt(&p.Streams[0], 20, initiator.b, 1448, col)
		feedAt(&p.Streams[1], 20, responder.b, 1448, col)
		assert.Len(t, col.fpdus, 2*varietyFPDUs, "%+v", c)
		assert.Empty(t, col.notices)
		agreed, known := p.Streams[0].Markers()
		assert.True(t, known)
		assert.Equal(t, c.reply != 0, agreed)
	}
}

// The peer's frame was never seen: the first word tells.
func TestMarkersLearnt(t *testing.T) {
	for _, m := range []func(int) bool{nil, everyPeriod} {
		w := variety(&builder{marker: m, crc: true})
		p, c := iwarp.NewPair(), newCollector()
		feedAt(&p.Streams[0], 0, append(mpaFrame(false, iwarp.MPAFlagC, 1, ""), w.b...), 100, c)
		assert.Len(t, c.fpdus, varietyFPDUs)
		assert.Equal(t, varietyFPDUs, c.crcs[iwarp.CRCGood])
		assert.Empty(t, c.notices)
	}
}

// Senders that count markers in their own way: said, and found again.
func TestOddMarkers(t *testing.T) {
	offByFour := func(pos int) bool { return pos%512 == 4 }
	from := func(first, period int) func(int) bool {
		return func(pos int) bool { return pos >= first && (pos-first)%period == 0 }
	}
	for name, m := range map[string]func(int) bool{
		"none though agreed": nil,
		"off by one word":    offByFour,
		"first one late":     from(512, 512),
		"another period":     from(0, 516),
		"from the frame on":  from(492, 512),
	} {
		w := &builder{marker: m, crc: true}
		to := uint64(0)
		for range 200 {
			w.write(0x1234, to, false, 1000)
			to += 1000
		}
		p, c := pairAfter(iwarp.MPAFlagC, iwarp.MPAFlagM)
		feedAt(&p.Streams[0], 20, w.b, 1448, c)
		assert.Empty(t, c.faults, name)
		assert.NotZero(t, c.count(iwarp.NoticeMarker), name)
		starts := map[uint64]bool{}
		for _, s := range w.starts {
			starts[20+uint64(s)] = true
		}
		for _, f := range c.fpdus {
			assert.True(t, starts[f.start], "%s: an FPDU at %d", name, f.start)
		}
		t.Logf("%s: %d of 200, %d marker faults, %d locks", name, len(c.fpdus), c.count(iwarp.NoticeMarker), c.count(iwarp.NoticeLock))
		if name != "another period" { // told, but not followed; and nothing false
			assert.Equal(t, 1, c.count(iwarp.NoticeLock), name)
			assert.GreaterOrEqual(t, len(c.fpdus), 195, name)
		}
	}
}

// A wrong pointer at the right place is told and passed.
func TestMarkerPointerWrong(t *testing.T) {
	w := variety(&builder{marker: everyPeriod})
	w.b[512+3] ^= 4
	p, c := pairAfter(0, iwarp.MPAFlagM)
	feedAt(&p.Streams[0], 20, w.b, 700, c)
	assert.Len(t, c.fpdus, varietyFPDUs)
	require.Len(t, c.notices, 1)
	n := c.notices[0]
	assert.Equal(t, iwarp.NoticeMarker, n.Kind)
	assert.EqualValues(t, 20+512, n.Offset)
	assert.Equal(t, n.Want^4, n.Got)
}

func TestCRCStates(t *testing.T) {
	build := func(crc bool) *builder {
		return (&builder{crc: crc}).send(1, 0, true, 64).send(2, 0, true, 64).send(3, 0, true, 64)
	}
	bad := build(true)
	bad.b[60] ^= 1
	for _, c := range []struct {
		name           string
		request, reply byte
		w              *builder
		want           map[iwarp.CRCState]int
	}{
		{"on by the request", 0x40, 0, build(true), map[iwarp.CRCState]int{iwarp.CRCGood: 3}},
		{"on by the reply", 0, 0x40, build(true), map[iwarp.CRCState]int{iwarp.CRCGood: 3}},
		{"on, one damaged", 0x40, 0x40, bad, map[iwarp.CRCState]int{iwarp.CRCGood: 2, iwarp.CRCBad: 1}},
		{"on, fields 0", 0x40, 0x40, build(false), map[iwarp.CRCState]int{iwarp.CRCBad: 3}},
		{"off", 0, 0, build(false), map[iwarp.CRCState]int{iwarp.CRCNotNegotiated: 3}},
		{"off, fields set all the same", 0, 0, bad, map[iwarp.CRCState]int{iwarp.CRCNotNegotiated: 3}},
	} {
		p, col := pairAfter(c.request, c.reply)
		feedAt(&p.Streams[0], 20, c.w.b, 50, col)
		assert.Equal(t, c.want, col.crcs, c.name)
		assert.Zero(t, col.count(iwarp.NoticeDesync), c.name)
	}
	// No handshake: two that verify turn them on, two zeros turn them off.
	for _, c := range []struct {
		w    *builder
		mode iwarp.CRCMode
	}{{build(true), iwarp.CRCOn}, {build(false), iwarp.CRCOff}} {
		p, col := iwarp.NewPair(), newCollector()
		feedAt(&p.Streams[0], 0, c.w.b, 92, col)
		assert.Len(t, col.fpdus, 3)
		assert.Equal(t, c.mode, p.CRCMode())
	}
}

func TestReject(t *testing.T) {
	p, c := pairAfter(0, iwarp.MPAFlagR)
	w := variety(&builder{})
	feedAt(&p.Streams[0], 20, w.b, 500, c)
	feedAt(&p.Streams[1], 20, w.b, 500, c)
	assert.Empty(t, c.fpdus)
	assert.True(t, p.Reply().Reject)
}

// The frame's length leads over a hole in its private data.
func TestHoleInPrivateData(t *testing.T) {
	w := variety(&builder{})
	frame := mpaFrame(false, 0, 1, string(pattern(300)))
	all := append(frame, w.b...)
	for _, hole := range []struct{ from, to int }{{60, 200}, {20, 320}, {100, 320}} {
		p, c := iwarp.NewPair(), newCollector()
		feedAt(&p.Streams[0], 0, all[:hole.from], 1000, c)
		feedAt(&p.Streams[0], uint64(hole.to), all[hole.to:], 1000, c)
		require.Len(t, c.mpa, 1)
		assert.ErrorIs(t, c.mpaErr[0], iwarp.ErrTruncated)
		assert.Len(t, c.mpa[0].Private, hole.from-20)
		assert.Len(t, c.fpdus, varietyFPDUs, fmt.Sprint(hole))
	}
}

func TestMPAHostileLength(t *testing.T) {
	p, c := iwarp.NewPair(), newCollector()
	b := mpaFrame(false, 0, 1, string(pattern(600)))
	w := &builder{b: b, crc: true}
	w.send(1, 0, true, 30).send(2, 0, true, 30)
	feedAt(&p.Streams[0], 0, w.b, 64, c)
	require.ErrorIs(t, c.mpaErr[0], iwarp.ErrPrivate)
	assert.Len(t, c.fpdus, 2)
	assert.False(t, p.Request().Seen)
}
