package sketch

// Buckets calls f for each half octave that holds values, in ascending order:
// n of them are at least from and less than to.
func (s *Sketch) Buckets(f func(from, to, n int64)) {
	if s == nil {
		return
	}
	s.each(func(octave uint, block int) {
		for half := range 2 {
			first, n := half*parts/2, uint64(0)
			for part := first; part < first+parts/2; part++ {
				n += s.counted(block, part)
			}
			if n > 0 {
				f(lower(octave, uint(first)), lower(octave, uint(first+parts/2)), int64(n))
			}
		}
	})
}

// lower is the smallest value of a part.
func lower(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	return (parts + int64(part)) << (octave - 1)
}
