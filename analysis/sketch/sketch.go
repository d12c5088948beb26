// Package sketch counts durations so that any quantile of them can be told
// within 1 %, in little memory whatever their number, and so that shards' parts
// can be joined.
package sketch

import "math/bits"

// Sketch is a log-linear histogram of non-negative values: each octave
// [2^k, 2^(k+1)) is cut into 64 equal parts, so that the middle of a part is
// within 1/128 = 0.8 % of every value in it. Values below 64 are exact. Count,
// sum, min and max are exact.
//
// Octaves are allocated when a value falls into them: the spread of the values
// decides the size, not their number. Blocks hold no pointers. The zero value
// is an empty sketch.
type Sketch struct {
	count, sum uint64
	min, max   int64
	at         [octaves]uint8 // block number + 1 of each octave, 0: none
	blocks     []block
}

const (
	partBits = 6
	parts    = 1 << partBits
	octaves  = 64 - partBits // values below 64 share octave 0
)

type block [parts]uint32

// place returns octave and part of v.
func place(v int64) (octave, part uint) {
	n := uint(bits.Len64(uint64(v)))
	if n <= partBits {
		return 0, uint(v)
	}
	octave = n - partBits
	return octave, uint(v>>(octave-1)) & (parts - 1)
}

// middle returns the value that stands for a part.
func middle(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	width := int64(1) << (octave - 1)
	return (parts+int64(part))*width + width/2
}

// Add counts a value; negative ones, which only a backward clock makes, are 0.
func (s *Sketch) Add(v int64) {
	if v < 0 {
		v = 0
	}
	if s.count == 0 || v < s.min {
		s.min = v
	}
	s.max = max(s.max, v)
	s.count++
	s.sum += uint64(v)
	o, p := place(v)
	s.octave(int(o))[p]++
}

// octave returns the block of an octave, made on first use.
func (s *Sketch) octave(o int) *block {
	if s.at[o] == 0 {
		s.blocks = append(s.blocks, block{})
		s.at[o] = uint8(len(s.blocks))
	}
	return &s.blocks[s.at[o]-1]
}

// Merge adds everything that o counted; nil is an empty one.
func (s *Sketch) Merge(o *Sketch) {
	if o == nil || o.count == 0 {
		return
	}
	if s.count == 0 || o.min < s.min {
		s.min = o.min
	}
	s.max = max(s.max, o.max)
	s.count += o.count
	s.sum += o.sum
	for oct, n := range o.at {
		if n == 0 {
			continue
		}
		dst, src := s.octave(oct), &o.blocks[n-1]
		for i, c := range src {
			dst[i] += c
		}
	}
}

// Clone is a copy that shares nothing; nil of nil.
func (s *Sketch) Clone() *Sketch {
	if s == nil {
		return nil
	}
	c := *s
	c.blocks = append([]block(nil), s.blocks...)
	return &c
}

// Buckets calls f for each half octave that holds values, in ascending order:
// n of them are at least from and less than to.
func (s *Sketch) Buckets(f func(from, to, n int64)) {
	if s == nil {
		return
	}
	for o, at := range s.at {
		if at == 0 {
			continue
		}
		for half := range uint(2) {
			var n int64
			first := half * parts / 2
			for p := first; p < first+parts/2; p++ {
				n += int64(s.blocks[at-1][p])
			}
			if n > 0 {
				f(lower(uint(o), first), lower(uint(o), first+parts/2), n)
			}
		}
	}
}

// lower is the smallest value of a part.
func lower(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	return (parts + int64(part)) << (octave - 1)
}

// Count is the number of values.
func (s *Sketch) Count() int64 {
	if s == nil {
		return 0
	}
	return int64(s.count)
}

// Sum is that of all values.
func (s *Sketch) Sum() uint64 { return s.sum }

// Min is the smallest value, 0 without values.
func (s *Sketch) Min() int64 { return s.min }

// Max is the largest value, 0 without values.
func (s *Sketch) Max() int64 { return s.max }

// rank returns the value of the n-th smallest (from 1), within 0.8 %, never
// outside of [min, max].
func (s *Sketch) rank(n uint64) int64 {
	if n <= 1 {
		return s.min
	}
	if n >= s.count {
		return s.max
	}
	var seen uint64
	for o := range uint(octaves) {
		b := s.at[o]
		if b == 0 {
			continue
		}
		for p, c := range s.blocks[b-1] {
			if seen += uint64(c); seen >= n {
				return min(max(middle(o, uint(p)), s.min), s.max)
			}
		}
	}
	return s.max
}

// Quantile returns the nearest-rank quantile of permille/1000; 0 without
// values.
func (s *Sketch) Quantile(permille uint64) int64 {
	if s.count == 0 {
		return 0
	}
	return s.rank((s.count*permille + 999) / 1000)
}

// Summary is what reports show of a sketch.
type Summary struct {
	Count               int64
	Min, P50, P90, P99  int64
	P999, Max, MeanDown int64 // MeanDown is the mean, rounded down
}

// Summary gives nil without values: an unknown figure is never shown as 0.
func (s *Sketch) Summary() *Summary {
	if s.Count() == 0 {
		return nil
	}
	return &Summary{
		Count: s.Count(), Min: s.min, P50: s.Quantile(500), P90: s.Quantile(900), P99: s.Quantile(990),
		P999: s.Quantile(999), Max: s.max, MeanDown: int64(s.sum / s.count),
	}
}
