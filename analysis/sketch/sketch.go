// Package sketch counts durations so that any quantile of them can be told
// within 1 %, in little memory whatever their number, and so that shards' parts
// can be joined.
package sketch

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

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
	octaves    uint64  // those that have a block, as bits
	blocks     []block // by octave
	high       *[]high // as many, once a count passed 255
}

const (
	partBits = 6
	parts    = 1 << partBits
)

// A block is one cache line: the counts' low octets. What exceeds them is rare
// and lies apart.
type (
	block [parts]uint8
	high  [parts]uint32
)

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
	if v > s.max {
		s.max = v
	}
	s.count++
	s.sum += uint64(v)
	o, p := place(v)
	i, ok := s.find(o)
	if !ok {
		s.insert(i, o)
	}
	if b := &s.blocks[i]; b[p] < 255 {
		b[p]++
		return
	}
	s.blocks[i][p] = 0
	s.carry(i, p, 1)
}

// find returns where the block of an octave lies or would lie, and whether it is
// there.
func (s *Sketch) find(octave uint) (i int, ok bool) {
	bit := uint64(1) << octave
	return bits.OnesCount64(s.octaves & (bit - 1)), s.octaves&bit != 0
}

func (s *Sketch) insert(i int, octave uint) {
	s.octaves |= 1 << octave
	s.blocks = slices.Insert(s.blocks, i, block{})
	if s.high != nil {
		*s.high = slices.Insert(*s.high, i, high{})
	}
}

// carry adds n times 256 to a count.
func (s *Sketch) carry(block int, part uint, n uint32) {
	if s.high == nil {
		h := make([]high, len(s.blocks))
		s.high = &h
	}
	(*s.high)[block][part] += n
}

// counted returns a count of a block.
func (s *Sketch) counted(block, part int) uint64 {
	n := uint64(s.blocks[block][part])
	if s.high != nil {
		n += uint64((*s.high)[block][part]) << 8
	}
	return n
}

// each calls f for every block, by octave.
func (s *Sketch) each(f func(octave uint, block int)) {
	for left, i := s.octaves, 0; left != 0; left, i = left&(left-1), i+1 {
		f(uint(bits.TrailingZeros64(left)), i)
	}
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
	o.each(func(octave uint, from int) {
		to, ok := s.find(octave)
		if !ok {
			s.insert(to, octave)
		}
		for part := range parts {
			n := o.counted(from, part)
			if n == 0 {
				continue
			}
			n += uint64(s.blocks[to][part])
			s.blocks[to][part] = uint8(n)
			if n > 255 {
				s.carry(to, uint(part), uint32(n>>8))
			}
		}
	})
}

// Clone is a copy that shares nothing; nil of nil.
func (s *Sketch) Clone() *Sketch {
	if s == nil {
		return nil
	}
	c := *s
	c.blocks = slices.Clone(s.blocks)
	if s.high != nil {
		h := slices.Clone(*s.high)
		c.high = &h
	}
	return &c
}

// cursor goes through the counts of a sketch, from the least value up.
type cursor struct {
	*Sketch
	left        uint64 // octaves from block on
	block, part int
	seen        uint64 // values before part
}

func (s *Sketch) cursor() cursor { return cursor{Sketch: s, left: s.octaves} }

// rank returns the value of the n-th smallest (from 1), within 0.8 %, never
// outside of [min, max]. n must be no less than it was before.
func (c *cursor) rank(n uint64) int64 {
	if n <= 1 {
		return c.min
	}
	if n >= c.count {
		return c.max
	}
	for c.left != 0 {
		for ; c.part < parts; c.part++ {
			if c.eight(n) {
				c.part += 7
				continue
			}
			if more := c.counted(c.block, c.part); c.seen+more < n {
				c.seen += more
				continue
			}
			return min(max(middle(uint(bits.TrailingZeros64(c.left)), uint(c.part)), c.min), c.max)
		}
		c.left, c.block, c.part = c.left&(c.left-1), c.block+1, 0
	}
	return c.max
}

// eight steps over the next eight counts at once, if rank n lies behind them.
func (c *cursor) eight(n uint64) bool {
	if c.part&7 != 0 || c.high != nil {
		return false
	}
	const odd = 0x00ff00ff00ff00ff
	x := binary.LittleEndian.Uint64(c.blocks[c.block][c.part:])
	x = (x&odd + x>>8&odd) * 0x0001000100010001 >> 48 // the sum of the octets
	if c.seen+x >= n {
		return false
	}
	c.seen += x
	return true
}

// nearest is the nearest rank of the quantile permille/1000.
func (s *Sketch) nearest(permille uint64) uint64 { return (s.count*permille + 999) / 1000 }

// Quantile returns the nearest-rank quantile of permille/1000; 0 without
// values.
func (s *Sketch) Quantile(permille uint64) int64 {
	if s.count == 0 {
		return 0
	}
	c := s.cursor()
	return c.rank(s.nearest(permille))
}
