package filter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMarkSetAgainstList goes both ways through random marks, over the borders
// of words and pages, and compares with a sorted list.
func TestMarkSetAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int64{70, 3 * pageBits, 100 * pageBits} {
		var s MarkSet
		var list []int64
		const mark, other = Mark(1), Mark(2)
		for range 200 {
			n := rng.Int64N(spread)
			s.Add(n, mark)
			list = append(list, n)
			s.Add(rng.Int64N(spread), other)
		}
		slices.Sort(list)
		list = slices.Compact(list)
		for range 500 {
			at := rng.Int64N(spread+10) - 5
			i, found := slices.BinarySearch(list, at)
			n, ok := s.Prev(at, mark)
			require.Equal(t, i > 0, ok, "%d", at)
			if ok {
				require.Equal(t, list[i-1], n, "%d", at)
			}
			if found {
				i++
			}
			n, ok = s.Next(at, mark)
			require.Equal(t, i < len(list), ok, "%d", at)
			if ok {
				require.Equal(t, list[i], n, "%d", at)
			}
		}
		half := spread / 2
		s.Forget(half)
		for _, n := range list {
			if n >= half {
				assert.Equal(t, mark, s.Marks(n)&mark)
			} else if n < half/pageBits*pageBits {
				assert.Zero(t, s.Marks(n))
			}
		}
	}
}
