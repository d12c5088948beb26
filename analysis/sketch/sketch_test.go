package sketch

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

func TestAgainstExact(t *testing.T) {
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
				var s, a, b Sketch
				var v []int64
				for i := range n {
					x := draw()
					v = append(v, x)
					s.Add(x)
					if i%3 == 0 {
						a.Add(x)
					} else {
						b.Add(x)
					}
				}
				slices.Sort(v)
				a.Merge(&b)
				for _, k := range []*Sketch{&s, &a} {
					require.EqualValues(t, n, k.count)
					assert.Equal(t, v[0], k.min)
					assert.Equal(t, v[n-1], k.max)
					for _, q := range []int{1, 10, 250, 500, 900, 990, 999, 1000} {
						want, got := exactRank(v, q), k.Quantile(uint64(q))
						assert.LessOrEqual(t, math.Abs(float64(got-want)), 0.01*float64(want)+0.5, "n=%d q=%d want %d got %d", n, q, want, got)
					}
					sum := k.Summary() // goes through the counts once
					assert.Equal(t, [4]int64{k.Quantile(500), k.Quantile(900), k.Quantile(990), k.Quantile(999)}, [4]int64{sum.P50, sum.P90, sum.P99, sum.P999})
				}
			}
		})
	}
}

func TestNegativeIsZero(t *testing.T) {
	var s Sketch
	s.Add(-5)
	assert.Zero(t, s.max)
	assert.Zero(t, s.min)
	assert.EqualValues(t, 1, s.count)
}

func TestCloneIsApart(t *testing.T) {
	var s Sketch
	s.Add(100)
	c := s.Clone()
	s.Add(100)
	assert.EqualValues(t, 1, c.count)
	assert.EqualValues(t, 100, c.Quantile(500))
	assert.Nil(t, (*Sketch)(nil).Clone())
}

func BenchmarkAdd(b *testing.B) {
	var s Sketch
	b.ReportAllocs()
	for i := range b.N {
		s.Add(int64(i*7919) & 0xffffff)
	}
}

func TestSummary(t *testing.T) {
	var s *Sketch
	assert.Nil(t, s.Summary(), "no sketch")
	s = new(Sketch)
	assert.Nil(t, s.Summary(), "no values")
	assert.Zero(t, s.Quantile(500))
	for _, v := range []int64{10, 20, 31, 40} {
		s.Add(v)
	}
	assert.Equal(t, &Summary{Count: 4, Min: 10, P50: 20, P90: 40, P99: 40, P999: 40, Max: 40, MeanDown: 25}, s.Summary(), "small values are exact")
	assert.EqualValues(t, 101, s.Sum())
	s.Merge(nil)
	assert.EqualValues(t, 4, s.Count())
}

// TestAddAllocatesOnlyForNewOctaves: a latency that stays in its octave costs
// no allocation.
func TestAddAllocatesOnlyForNewOctaves(t *testing.T) {
	var s Sketch
	s.Add(1000)
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.Add(1001) }))
}
