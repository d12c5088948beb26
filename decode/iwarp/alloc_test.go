package iwarp_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"rdmascope/decode/iwarp"
)

// endless feeds the same octets again and again as if the stream went on.
type endless struct {
	s   *iwarp.Stream
	b   []byte
	off uint64
	h   counter
}

func (e *endless) turn(size int, lose bool) {
	for from, i := 0, 0; from < len(e.b); from, i = from+size, i+1 {
		to := min(from+size, len(e.b))
		if !lose || i%7 != 3 {
			e.s.Feed(iwarp.Segment{Offset: e.off + uint64(from), Payload: e.b[from:to]}, &e.h)
		}
	}
	e.off += uint64(len(e.b))
}

func steady(flag byte) *endless {
	w := variety(&builder{crc: flag&iwarp.MPAFlagC != 0})
	p, _ := pairAfter(flag, flag)
	return &endless{s: &p.Streams[0], b: w.b, off: 20}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for _, flag := range []byte{0, iwarp.MPAFlagC} {
		e := steady(flag)
		assert.Zero(t, testing.AllocsPerRun(50, func() { e.turn(1448, false) }))
		assert.NotZero(t, e.h.ended)
		assert.Equal(t, e.off, e.s.Next())
	}
	// Marked: the same FPDU of 508 octets and its marker, 512 in all.
	w := (&builder{marker: everyPeriod, crc: true}).write(1, 0, true, 508-2-14-4)
	p, _ := pairAfter(0xc0, 0xc0)
	e := &endless{s: &p.Streams[0], b: w.b, off: 20}
	assert.Zero(t, testing.AllocsPerRun(200, func() { e.turn(100, false) }))
	assert.NotZero(t, e.h.ended)
	assert.Zero(t, e.h.notices)
}

// Losing and finding the place allocates nothing either: the search's state
// comes from a pool.
func TestSearchDoesNotAllocate(t *testing.T) {
	e := steady(iwarp.MPAFlagC)
	n := testing.AllocsPerRun(50, func() { e.turn(1448, true) })
	assert.Less(t, n, 1.0)
	assert.NotZero(t, e.h.notices)
}

// What a connection costs while nothing is searched for.
func TestPairSize(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(iwarp.Pair{}), uintptr(1280))
	assert.LessOrEqual(t, unsafe.Sizeof(iwarp.FPDU{}), uintptr(320))
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name string
		flag byte
	}{{"nocrc", 0}, {"crc", iwarp.MPAFlagC}} {
		b.Run(c.name, func(b *testing.B) {
			e := steady(c.flag)
			b.SetBytes(int64(len(e.b)))
			b.ReportAllocs()
			for b.Loop() {
				e.turn(1448, false)
			}
			b.ReportMetric(float64(e.h.ended)/b.Elapsed().Seconds(), "FPDU/s")
		})
	}
}

// BenchmarkSearchNoise is the cost of a TCP connection that is no iWARP.
func BenchmarkSearchNoise(b *testing.B) {
	p, c := iwarp.NewPair(), &counter{}
	seg := pattern(1448)
	b.SetBytes(int64(len(seg)))
	b.ReportAllocs()
	off := uint64(0)
	for b.Loop() {
		p.Streams[0].Feed(iwarp.Segment{Offset: off, Payload: seg}, c)
		off += uint64(len(seg))
	}
}
