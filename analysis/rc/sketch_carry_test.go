package rc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSketchCarry: a block holds the low octet of each count only. Counts on
// both sides of 256 and of 65,536 must come out whole, added or merged, also
// where an octave is met after the first carry.
func TestSketchCarry(t *testing.T) {
	for _, n := range []int{255, 256, 257, 65535, 65536, 65537} {
		var a, b, both sketch
		for range n {
			a.add(1000)
			both.add(1000)
		}
		a.add(1 << 20)
		both.add(1 << 20)
		for range 200 {
			b.add(1000)
			both.add(1000)
			b.add(1 << 20)
			both.add(1 << 20)
		}
		o, p := place(1000)
		require.EqualValues(t, n, countAt(&a, o, p))
		before := a.clone()
		a.merge(&b)
		require.EqualValues(t, n+200, countAt(&a, o, p))
		require.EqualValues(t, n, countAt(before, o, p), "a clone shares nothing")
		require.Equal(t, both.count, a.count)
		for permille := uint64(1); permille < 1000; permille += 7 {
			assert.Equal(t, both.quantile(permille), a.quantile(permille), "%d‰ of %d", permille, n)
		}
	}
}

func countAt(s *sketch, octave, part uint) uint64 {
	i, ok := s.find(octave)
	if !ok {
		return 0
	}
	return s.counted(i, int(part))
}
