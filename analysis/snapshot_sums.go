package analysis

// Blamed maps connections, by id, to the worst finding about each.
func (s *Snapshot) Blamed() map[string]*Finding {
	m := make(map[string]*Finding)
	for i := range s.Findings {
		f := &s.Findings[i]
		id := f.Subject.ConnectionID
		if id == "" {
			continue
		}
		if old := m[id]; old == nil || f.Severity.Rank() > old.Severity.Rank() {
			m[id] = f
		}
	}
	return m
}

// OneWay counts the reliable connections of which one direction alone was seen,
// or not paired with the other: nothing about loss or latency can be said
// there. of is how many reliable ones there are.
func (s *Snapshot) OneWay() (n, of int64) {
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.Service != "rc" && c.Service != "xrc" && c.Service != "stream" {
			continue
		}
		of++
		if len(c.Flows) == 1 {
			n++
		}
	}
	return n, of
}
