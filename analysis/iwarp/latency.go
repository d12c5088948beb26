package iwarp

import "rdmascope/analysis/sketch"

// latency counts durations, and operations that gave none.
type latency struct {
	sketch               sketch.Sketch
	coalesced, recovered int64
}

func (l *latency) add(v int64) { l.sketch.Add(v) }

// Latency is a block of latency figures, ns.
type Latency struct {
	Count, Coalesced, Recovered                int64
	Min, P50, P90, P99, P999, Max, Mean, Total int64

	samples *sketch.Sketch
}

// Buckets calls f for each half octave that holds samples: n of them are at
// least from and less than to, in ns.
func (l *Latency) Buckets(f func(from, to, n int64)) {
	if l != nil {
		l.samples.Buckets(f)
	}
}

// result is nil where there was nothing to measure.
func (l *latency) result() *Latency {
	s := l.sketch.Summary()
	if s == nil && l.coalesced == 0 && l.recovered == 0 {
		return nil
	}
	r := &Latency{Coalesced: l.coalesced, Recovered: l.recovered}
	if s == nil {
		return r
	}
	r.Count, r.Min, r.Max, r.Mean, r.Total = s.Count, s.Min, s.Max, s.MeanDown, int64(l.sketch.Sum())
	r.P50, r.P90, r.P99, r.P999 = s.P50, s.P90, s.P99, s.P999
	r.samples = l.sketch.Clone()
	return r
}
