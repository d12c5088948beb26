package rc

// Buckets calls f for each half octave that holds samples, in ascending order:
// n of them are at least from and less than to.
func (b *LatencyBlock) Buckets(f func(from, to, n int64)) {
	if b == nil || b.s == nil {
		return
	}
	for oct, ob := range b.s.at {
		if ob == 0 {
			continue
		}
		for half := range 2 {
			var n uint64
			for part := half * sketchParts / 2; part < (half+1)*sketchParts/2; part++ {
				n += b.s.counted(int(ob)-1, part)
			}
			if n > 0 {
				from, to := lower(uint(oct), uint(half*sketchParts/2)), lower(uint(oct), uint((half+1)*sketchParts/2))
				f(from, to, int64(n))
			}
		}
	}
}

// lower is the smallest value of a part.
func lower(octave, part uint) int64 {
	if octave == 0 {
		return int64(part)
	}
	return (sketchParts + int64(part)) << (octave - 1)
}
