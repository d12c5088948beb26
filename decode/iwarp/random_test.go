package iwarp_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/decode/iwarp"
)

// counter is a Handler that only counts.
type counter struct{ mpa, begun, ended, notices int }

func (c *counter) MPA(*iwarp.Stream, uint64, *iwarp.MPAFrame, error) { c.mpa++ }
func (c *counter) BeginFPDU(*iwarp.Stream, *iwarp.FPDU)              { c.begun++ }
func (c *counter) EndFPDU(*iwarp.Stream, *iwarp.FPDU)                { c.ended++ }
func (c *counter) Notice(*iwarp.Stream, iwarp.Notice)                { c.notices++ }

// Random octets never lock. 200,000 streams of 3 KiB are 2²⁹ offsets, which by
// evidence.go lock once in 2¹⁷ runs of this test.
func TestRandomOctetsNeverLock(t *testing.T) {
	streams := 200_000
	if testing.Short() {
		streams = 10_000
	}
	rnd := rand.NewChaCha8([32]byte{1})
	lens := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1024)
	var p iwarp.Pair
	for range streams {
		p.Init()
		var c counter
		off := uint64(0)
		for range 3 {
			_, _ = rnd.Read(b)
			n := 1 + lens.IntN(len(b))
			if lens.IntN(2) == 0 {
				n = len(b)
			}
			p.Streams[0].Feed(iwarp.Segment{Offset: off, Payload: b[:n]}, &c)
			off += uint64(n)
		}
		if !assert.Zero(t, c.begun+c.mpa) {
			return
		}
		assert.EqualValues(t, off, p.Streams[0].Unframed())
	}
	p.Init()
}

// Long streams of noise, and of what payloads are really made of.
func TestPlainOctetsNeverLock(t *testing.T) {
	fill := map[string]func(i int) byte{
		"zeros":    func(int) byte { return 0 },
		"ones":     func(int) byte { return 0xff },
		"counting": func(i int) byte { return byte(i) },
		"words":    func(i int) byte { return byte(i >> 2) },
		"text":     func(i int) byte { return "The quick brown fox jumps over the lazy dog.\r\n"[i%46] },
		"A@":       func(i int) byte { return "A@\x00\x00"[i%4] },
		"AC":       func(i int) byte { return "\x00\x22AC\x00\x00\x00\x00"[i%8] },
	}
	for name, f := range fill {
		p, c := iwarp.NewPair(), &counter{}
		b := make([]byte, 1448)
		for n := range 500 {
			for i := range b {
				b[i] = f(n*len(b) + i)
			}
			p.Streams[0].Feed(iwarp.Segment{Offset: uint64(n * len(b)), Payload: b}, c)
		}
		assert.Zero(t, c.begun, name)
		assert.False(t, p.Streams[0].Locked(), name)
	}
}
