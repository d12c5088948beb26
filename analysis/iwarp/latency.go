package iwarp

import "math/bits"

// latency is a histogram of durations, as analysis/rc keeps them: each octave
// is cut into 64 parts, so that a quantile is within 1/128 of a value that was
// there. Count, sum, min and max are exact. Octaves are allocated as values fall
// into them: their spread decides the size, not their number.
type latency struct {
	count, sum           uint64
	min, max             int64
	coalesced, recovered int64
	at                   [octaves]uint8 // block number + 1, 0: none
	blocks               []octave
}

const (
	partBits = 6
	parts    = 1 << partBits
	octaves  = 64 - partBits // values below 64 share the first
)

type octave [parts]uint32

func (l *latency) add(v int64) {
	v = max(v, 0) // only a backward clock makes it negative
	if l.count == 0 || v < l.min {
		l.min = v
	}
	l.max = max(l.max, v)
	l.count++
	l.sum += uint64(v)
	o, p := place(v)
	if l.at[o] == 0 {
		l.blocks = append(l.blocks, octave{})
		l.at[o] = uint8(len(l.blocks))
	}
	l.blocks[l.at[o]-1][p]++
}

func place(v int64) (o, part uint) {
	n := uint(bits.Len64(uint64(v)))
	if n <= partBits {
		return 0, uint(v)
	}
	o = n - partBits
	return o, uint(v>>(o-1)) & (parts - 1)
}

// quantile is the nearest rank of permille/1000.
func (l *latency) quantile(permille uint64) int64 {
	rank := max((l.count*permille+999)/1000, 1)
	if rank == 1 {
		return l.min
	}
	if rank >= l.count {
		return l.max
	}
	var seen uint64
	for o, b := range l.at {
		if b == 0 {
			continue
		}
		for p, n := range l.blocks[b-1] {
			if seen += uint64(n); seen >= rank {
				return min(max(middle(uint(o), int64(p)), l.min), l.max)
			}
		}
	}
	return l.max
}

// middle is the value that stands for a part.
func middle(o uint, part int64) int64 {
	if o == 0 {
		return part
	}
	width := int64(1) << (o - 1)
	return (parts+part)*width + width/2
}

// Latency is a block of latency figures, ns.
type Latency struct {
	Count, Coalesced, Recovered                int64
	Min, P50, P90, P99, P999, Max, Mean, Total int64
}

// result is nil where there was nothing to measure.
func (l *latency) result() *Latency {
	if l.count == 0 && l.coalesced == 0 && l.recovered == 0 {
		return nil
	}
	r := &Latency{Count: int64(l.count), Coalesced: l.coalesced, Recovered: l.recovered}
	if l.count == 0 {
		return r
	}
	r.Min, r.Max, r.Mean, r.Total = l.min, l.max, int64(l.sum/l.count), int64(l.sum)
	r.P50, r.P90, r.P99, r.P999 = l.quantile(500), l.quantile(900), l.quantile(990), l.quantile(999)
	return r
}
