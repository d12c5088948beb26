package rc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func exactRank(v []int64, permille int) int64 {
	n := (len(v)*permille + 999) / 1000
	return v[max(n, 1)-1]
}

func TestSketchAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() int64{
		"uniform":   func() int64 { return r.Int64N(5_000_000) },
		"lognormal": func() int64 { return int64(math.Exp(12 + 2*r.NormFloat64())) },
		"small":     func() int64 { return r.Int64N(100) },
		"bimodal":   func() int64 { return []int64{900, 67_000_000}[r.IntN(2)] + r.Int64N(50) },
		"huge":      func() int64 { return math.MaxInt64 - r.Int64N(1<<40) },
	}
	for name, draw := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 10, 999, 20000} {
				var s, a, b sketch
				var v []int64
				for i := range n {
					x := draw()
					v = append(v, x)
					s.add(x)
					if i%3 == 0 {
						a.add(x)
					} else {
						b.add(x)
					}
				}
				slices.Sort(v)
				a.merge(&b)
				for _, k := range []*sketch{&s, &a} {
					require.EqualValues(t, n, k.count)
					assert.Equal(t, v[0], k.min)
					assert.Equal(t, v[n-1], k.max)
					for _, q := range []int{1, 10, 250, 500, 900, 990, 999, 1000} {
						want, got := exactRank(v, q), k.quantile(uint64(q))
						assert.LessOrEqual(t, math.Abs(float64(got-want)), 0.01*float64(want)+0.5, "n=%d q=%d want %d got %d", n, q, want, got)
					}
				}
			}
		})
	}
}

func TestSketchNegativeIsZero(t *testing.T) {
	var s sketch
	s.add(-5)
	assert.Zero(t, s.max)
	assert.Zero(t, s.min)
	assert.EqualValues(t, 1, s.count)
}

func TestSketchCloneIsApart(t *testing.T) {
	var s sketch
	s.add(100)
	c := s.clone()
	s.add(100)
	assert.EqualValues(t, 1, c.count)
	assert.EqualValues(t, 100, c.quantile(500))
	assert.Nil(t, (*sketch)(nil).clone())
}

func BenchmarkSketchAdd(b *testing.B) {
	var s sketch
	b.ReportAllocs()
	for i := range b.N {
		s.add(int64(i*7919) & 0xffffff)
	}
}
