package rc

// Incarnation is how often the queue pair of flow id has begun anew, as far as
// is known now: whoever counts something else about flows splits its counts
// where ours are split.
func (s *Shard) Incarnation(id int32) int32 {
	if f := s.flow(id); f != nil {
		return f.incarnation
	}
	return 0
}
