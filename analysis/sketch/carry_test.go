package sketch

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
		var a, b, both Sketch
		for range n {
			a.Add(1000)
			both.Add(1000)
		}
		a.Add(1 << 20)
		both.Add(1 << 20)
		for range 200 {
			b.Add(1000)
			both.Add(1000)
			b.Add(1 << 20)
			both.Add(1 << 20)
		}
		o, p := place(1000)
		require.EqualValues(t, n, countAt(&a, o, p))
		before := a.Clone()
		a.Merge(&b)
		require.EqualValues(t, n+200, countAt(&a, o, p))
		require.EqualValues(t, n, countAt(before, o, p), "a clone shares nothing")
		require.Equal(t, both.count, a.count)
		for permille := uint64(1); permille < 1000; permille += 7 {
			assert.Equal(t, both.Quantile(permille), a.Quantile(permille), "%d‰ of %d", permille, n)
		}
	}
}

func countAt(s *Sketch, octave, part uint) uint64 {
	i, ok := s.find(octave)
	if !ok {
		return 0
	}
	return s.counted(i, int(part))
}
