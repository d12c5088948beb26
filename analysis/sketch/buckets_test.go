package sketch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBuckets: every sample lies in the bucket that counts it, and none twice.
func TestBuckets(t *testing.T) {
	var s Sketch
	values := []int64{0, 1, 31, 32, 63, 64, 95, 96, 127, 128, 1000, 1 << 20, 1<<20 + 1<<19, 1 << 40}
	for _, v := range values {
		for range 300 { // more than one octet counts
			s.Add(v)
		}
	}
	var total, last int64
	s.Buckets(func(from, to, n int64) {
		assert.GreaterOrEqual(t, from, last, "ascending, not overlapping")
		last = to
		want := int64(0)
		for _, v := range values {
			if v >= from && v < to {
				want += 300
			}
		}
		assert.Equal(t, want, n, "[%d, %d)", from, to)
		total += n
	})
	assert.EqualValues(t, 300*len(values), total)
	(*Sketch)(nil).Buckets(func(int64, int64, int64) { t.Error("nothing to tell") })
}
