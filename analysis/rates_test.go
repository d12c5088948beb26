package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode"
)

// TestRatesWiden: whatever the length, all packets are in bins of equal width,
// each where its time puts it.
func TestRatesWiden(t *testing.T) {
	for _, length := range []int64{0, 1, 1 << 10, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3600 * 1e9, 1 << 55} {
		var c rateCounter
		const start = int64(1_700_000_000_000_000_000)
		times := []int64{0, length / 3, length / 2, length}
		for _, at := range times {
			c.add(&decode.Packet{Time: start + at, Wire: 100})
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
	c.add(&decode.Packet{Flags: decode.FlagNoTime})
	assert.Nil(t, c.result(), "no time, no bin")
	c.add(&decode.Packet{Time: 1000, Wire: 1})
	c.add(&decode.Packet{Time: 10, Wire: 1}) // the clock stepped back
	assert.Equal(t, []int64{2}, c.result().WireBytes)
}
