package sketch

// Count is the number of values.
func (s *Sketch) Count() int64 {
	if s == nil {
		return 0
	}
	return int64(s.count)
}

// Sum is that of all values.
func (s *Sketch) Sum() uint64 { return s.sum }

// Min is the smallest value, 0 without values.
func (s *Sketch) Min() int64 { return s.min }

// Max is the largest value, 0 without values.
func (s *Sketch) Max() int64 { return s.max }

// Summary is what reports show of a sketch.
type Summary struct {
	Count               int64
	Min, P50, P90, P99  int64
	P999, Max, MeanDown int64 // MeanDown is the mean, rounded down
}

// Summary gives nil without values: an unknown figure is never shown as 0.
func (s *Sketch) Summary() *Summary {
	if s.Count() == 0 {
		return nil
	}
	v := new(Summary)
	s.SumUp(v)
	return v
}

// SumUp is Summary of a sketch that has values, for a caller who doesn't keep it.
// It goes through the counts once for all quantiles.
func (s *Sketch) SumUp(v *Summary) {
	c := s.cursor()
	v.Count, v.Min, v.Max, v.MeanDown = int64(s.count), s.min, s.max, int64(s.sum/s.count)
	v.P50, v.P90 = c.rank(s.nearest(500)), c.rank(s.nearest(900))
	v.P99, v.P999 = c.rank(s.nearest(990)), c.rank(s.nearest(999))
}
