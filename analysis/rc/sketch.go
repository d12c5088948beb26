package rc

import "math/bits"

// A sketch is a log-linear histogram of non-negative values: each octave
// [2^k, 2^(k+1)) is cut into 64 equal parts, so that the middle of a part is
// within 1/128 = 0.8 % of every value in it. Values below 64 are exact. Count,
// sum, min and max are exact.
//
// Octaves are allocated when a value falls into them: the spread of the values
// decides the size, not their number. Blocks hold no pointers.
type sketch struct {
	count, sum uint64
	min, max   int64
	at         [sketchOctaves]uint8 // block number + 1 of each octave, 0: none
	blocks     []sketchBlock
}

const (
	sketchBits    = 6
	sketchParts   = 1 << sketchBits
	sketchOctaves = 64 - sketchBits // values below 64 share octave 0
)

type sketchBlock [sketchParts]uint32

// place returns octave and part of v.
func place(v int64) (octave, part uint) {
	n := uint(bits.Len64(uint64(v)))
	if n <= sketchBits {
		return 0, uint(v)
	}
	octave = n - sketchBits
	return octave, uint(v>>(octave-1)) & (sketchParts - 1)
}

// middle returns the value that stands for a part.
func middle(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	width := int64(1) << (octave - 1)
	return (sketchParts+int64(part))*width + width/2
}

// add counts a value; negative ones, which only a backward clock makes, are 0.
func (s *sketch) add(v int64) {
	if v < 0 {
		v = 0
	}
	if s.count == 0 || v < s.min {
		s.min = v
	}
	if v > s.max {
		s.max = v
	}
	s.count++
	s.sum += uint64(v)
	o, p := place(v)
	b := s.at[o]
	if b == 0 {
		s.blocks = append(s.blocks, sketchBlock{})
		b = uint8(len(s.blocks))
		s.at[o] = b
	}
	s.blocks[b-1][p]++
}

// merge adds everything that o counted.
func (s *sketch) merge(o *sketch) {
	if o == nil || o.count == 0 {
		return
	}
	if s.count == 0 || o.min < s.min {
		s.min = o.min
	}
	s.max = max(s.max, o.max)
	s.count += o.count
	s.sum += o.sum
	for oct, ob := range o.at {
		if ob == 0 {
			continue
		}
		if s.at[oct] == 0 {
			s.blocks = append(s.blocks, sketchBlock{})
			s.at[oct] = uint8(len(s.blocks))
		}
		dst, src := &s.blocks[s.at[oct]-1], &o.blocks[ob-1]
		for i, n := range src {
			dst[i] += n
		}
	}
}

func (s *sketch) clone() *sketch {
	if s == nil {
		return nil
	}
	c := *s
	c.blocks = append([]sketchBlock(nil), s.blocks...)
	return &c
}

// rank returns the value of the n-th smallest (from 1), within 0.8 %, never
// outside of [min, max].
func (s *sketch) rank(n uint64) int64 {
	if n <= 1 {
		return s.min
	}
	if n >= s.count {
		return s.max
	}
	var seen uint64
	for o := range uint(sketchOctaves) {
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

// quantile returns the nearest-rank quantile of permille/1000.
func (s *sketch) quantile(permille uint64) int64 {
	if s.count == 0 {
		return 0
	}
	return s.rank((s.count*permille + 999) / 1000)
}
