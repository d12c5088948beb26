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
	octave     uint8 // of the newest value, and its block number + 1
	block      uint8
	at         [sketchOctaves]uint8 // block number + 1 of each octave, 0: none
	blocks     []sketchBlock
	high       []sketchHigh // as many as blocks, once a count passed 255
}

const (
	sketchBits    = 6
	sketchParts   = 1 << sketchBits
	sketchOctaves = 64 - sketchBits // values below 64 share octave 0
)

// A block is one cache line: the counts' low octets. What exceeds them is rare
// and lies apart.
type (
	sketchBlock [sketchParts]uint8
	sketchHigh  [sketchParts]uint32
)

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
	if s.block == 0 || s.octave != uint8(o) {
		s.octave, s.block = uint8(o), s.blockOf(o)
	}
	b := &s.blocks[s.block-1]
	if b[p]++; b[p] == 0 {
		s.carry(int(s.block)-1, p, 1)
	}
}

// blockOf returns the number + 1 of the block of an octave.
func (s *sketch) blockOf(octave uint) uint8 {
	if s.at[octave] == 0 {
		s.blocks = append(s.blocks, sketchBlock{})
		if s.high != nil {
			s.high = append(s.high, sketchHigh{})
		}
		s.at[octave] = uint8(len(s.blocks))
	}
	return s.at[octave]
}

// carry adds n times 256 to a count.
func (s *sketch) carry(block int, part uint, n uint32) {
	if s.high == nil {
		s.high = make([]sketchHigh, len(s.blocks))
	}
	s.high[block][part] += n
}

// counted returns a count of a block.
func (s *sketch) counted(block, part int) uint64 {
	n := uint64(s.blocks[block][part])
	if s.high != nil {
		n += uint64(s.high[block][part]) << 8
	}
	return n
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
		to := int(s.blockOf(uint(oct))) - 1
		for part := range sketchParts {
			n := o.counted(int(ob)-1, part)
			if n == 0 {
				continue
			}
			n += uint64(s.blocks[to][part])
			s.blocks[to][part] = uint8(n)
			if n > 255 {
				s.carry(to, uint(part), uint32(n>>8))
			}
		}
	}
}

func (s *sketch) clone() *sketch {
	if s == nil {
		return nil
	}
	c := *s
	c.blocks = append([]sketchBlock(nil), s.blocks...)
	c.high = append([]sketchHigh(nil), s.high...)
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
		for p := range sketchParts {
			if seen += s.counted(int(b)-1, p); seen >= n {
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
