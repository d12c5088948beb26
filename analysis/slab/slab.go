// Package slab keeps the state of many flows by dense number: 0, 1, 2, ….
//
// A slice that grows by append copies all of it now and then, which at a
// hundred thousand flows stops the packet in hand for milliseconds and needs
// the memory twice. A slab grows by chunks that never move. So a pointer into it
// stays good too.
//
// Values of 64 octets without pointers lie on one cache line each: the
// allocator puts objects of 8 KiB on pages, and only those that hold pointers
// begin with a header of its own. That is why the hot state of trackers holds
// numbers, not pointers.
package slab

const (
	shift = 7
	size  = 1 << shift // values of a chunk
)

// Slab is a growing array. The zero value is empty.
type Slab[T any] struct {
	chunks []*[size]T
}

// Len is how many values there is room for: every number below is good for At.
func (s *Slab[T]) Len() int { return len(s.chunks) << shift }

// Grow makes room for value i, zero until it is written.
func (s *Slab[T]) Grow(i int32) {
	for int(i) >= s.Len() {
		s.chunks = append(s.chunks, new([size]T))
	}
}

// At is value i, for which there must be room.
func (s *Slab[T]) At(i int32) *T { return &s.chunks[i>>shift][i&(size-1)] }

// Clone returns a copy; what values point to is shared.
func (s *Slab[T]) Clone() Slab[T] {
	c := Slab[T]{chunks: make([]*[size]T, len(s.chunks))}
	for i, chunk := range s.chunks {
		c.chunks[i] = new([size]T)
		*c.chunks[i] = *chunk
	}
	return c
}
