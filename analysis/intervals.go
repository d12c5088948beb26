package analysis

// PauseInterval is one uninterrupted pause.
type PauseInterval struct {
	Start  Time
	NS     int64
	Frames int64
	Packet int64 // its first frame
}

// Intervals returns the pauses of source i, oldest first, as far as they are
// kept.
func (p *PFC) Intervals(i int) []PauseInterval {
	if i >= len(p.keys) {
		return nil
	}
	list := p.timeline.Intervals(p.keys[i])
	out := make([]PauseInterval, len(list))
	for k, v := range list {
		out[k] = PauseInterval{Time(v.Start), v.End - v.Start, v.Frames, v.Packet}
	}
	return out
}
