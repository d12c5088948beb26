package analysis

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParallelDoesEachOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 64} {
		for _, n := range []int{0, 1, 2, 100} {
			done := make([]atomic.Int32, n)
			parallel(workers, n, func(i int) { done[i].Add(1) })
			for i := range done {
				assert.EqualValues(t, 1, done[i].Load(), "%d of %d, %d workers", i, n, workers)
			}
		}
	}
}

func TestTogether(t *testing.T) {
	var a, b int
	together(2, func() { a = 1 }, func() { b = 2 })
	assert.Equal(t, []int{1, 2}, []int{a, b})
}
