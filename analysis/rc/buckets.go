package rc

// Buckets calls f for each half octave that holds samples, in ascending order:
// n of them are at least from and less than to.
func (b *LatencyBlock) Buckets(f func(from, to, n int64)) {
	if b == nil || b.s == nil {
		return
	}
	b.s.each(func(octave uint, block int) {
		for half := range 2 {
			var n uint64
			for part := half * sketchParts / 2; part < (half+1)*sketchParts/2; part++ {
				n += b.s.counted(block, part)
			}
			if n > 0 {
				f(lower(octave, uint(half*sketchParts/2)), lower(octave, uint((half+1)*sketchParts/2)), int64(n))
			}
		}
	})
}

// lower is the smallest value of a part.
func lower(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	return (sketchParts + int64(part)) << (octave - 1)
}
