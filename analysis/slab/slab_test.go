package slab

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesStayWhereTheyAre(t *testing.T) {
	var s Slab[int64]
	assert.Zero(t, s.Len())
	s.Grow(0)
	first := s.At(0)
	*first = 7
	for i := range int32(10_000) {
		s.Grow(i)
		*s.At(i) += int64(i)
	}
	assert.Same(t, first, s.At(0))
	for i := range int32(10_000) {
		want := int64(i)
		if i == 0 {
			want = 7
		}
		require.Equal(t, want, *s.At(i))
	}
	assert.GreaterOrEqual(t, s.Len(), 10_000)
	assert.Less(t, s.Len(), 10_000+size)
	assert.Zero(t, *s.At(int32(s.Len()) - 1), "room that nobody used is zero")
}

func TestCloneSharesNothing(t *testing.T) {
	var s Slab[int]
	s.Grow(300)
	*s.At(300) = 1
	c := s.Clone()
	*s.At(300) = 2
	s.Grow(1000)
	assert.Equal(t, 1, *c.At(300))
	assert.Less(t, c.Len(), s.Len())
}

// TestCacheLines: values of 64 octets without pointers each have a line of
// their own.
func TestCacheLines(t *testing.T) {
	var s Slab[[64]byte]
	for i := range int32(1000) {
		s.Grow(i)
		require.Zero(t, uintptr(unsafe.Pointer(s.At(i)))%64, i)
	}
}

func TestGrowthIsCheap(t *testing.T) {
	var s Slab[[64]byte]
	n := testing.AllocsPerRun(1, func() {
		s = Slab[[64]byte]{}
		for i := range int32(100_000) {
			s.Grow(i)
		}
	})
	assert.LessOrEqual(t, n, float64(100_000/size+20))
}
