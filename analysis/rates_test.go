package analysis

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

// TestRatesWiden: whatever the length, all packets are in bins of equal width,
// each where its time puts it.
func TestRatesWiden(t *testing.T) {
	for _, length := range []int64{0, 1, 1 << 10, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3600 * 1e9, 1 << 55} {
		var c rateCounter
		const start = int64(1_700_000_000_000_000_000)
		times := []int64{0, length / 3, length / 2, length}
		for _, at := range times {
			c.add(&wire.Packet{Time: start + at, Wire: 100}, start)
		}
		r := c.result()
		require.NotNil(t, r)
		require.LessOrEqual(t, len(r.WireBytes), rateBins)
		want := make([]int64, len(r.WireBytes))
		for _, at := range times {
			want[at/r.BinNS] += 100
		}
		assert.Equal(t, want, r.WireBytes, "length %d", length)
	}
}

func TestRatesOddTimes(t *testing.T) {
	var c rateCounter
	assert.Nil(t, c.result())
	c.add(&wire.Packet{Flags: wire.FlagNoTime}, 0)
	assert.Nil(t, c.result(), "no time, no bin")
	c.add(&wire.Packet{Time: 1000, Wire: 1}, 1000)
	c.add(&wire.Packet{Time: 10, Wire: 1}, 1000) // the clock stepped back
	assert.Equal(t, []int64{2}, c.result().WireBytes)
}

// TestRatesJoin: counters that shared the packets of a capture, each with times of
// its own, give together what one alone would have given.
func TestRatesJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var one rateCounter
		shares := make([]rateCounter, 1+r.IntN(4))
		start := int64(r.IntN(1000))
		for range r.IntN(50) {
			p := &wire.Packet{Time: start - 5 + r.Int64N(1<<(1+r.IntN(40))), Wire: uint32(r.IntN(1500))}
			one.add(p, start)
			shares[r.IntN(len(shares))].add(p, start)
		}
		var sum rateCounter
		for i := range shares {
			sum.join(&shares[i])
		}
		require.Equal(t, one.result(), sum.result())
	}
}
