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
	return &Summary{
		Count: s.Count(), Min: s.min, P50: s.Quantile(500), P90: s.Quantile(900), P99: s.Quantile(990),
		P999: s.Quantile(999), Max: s.max, MeanDown: int64(s.sum / s.count),
	}
}
