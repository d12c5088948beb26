package pause

import "rdmascope/decode"

// Deadlock is a suspected one: storms that pause one another in a cycle, so
// that none can end.
type Deadlock struct {
	Priority   uint8
	StartTime  int64 // when the last of them began
	DurationNS int64 // while all lasted
	Members    []Key // by start
}

// deadlocks looks for cycles among storms of one priority. An edge goes from
// the sender of a storm to the device that it stops: on a link between two
// that both pause, the other one; else the one that the user named.
func (m *merger) deadlocks(storms []Storm) []Deadlock {
	var out []Deadlock
	done := make([]bool, len(storms))
	for k := range storms {
		if storms[k].Kind != KindStorm || done[k] {
			continue
		}
		path := m.cycle(storms, k)
		if path == nil {
			continue
		}
		d := Deadlock{Priority: storms[k].Priority}
		end := storms[k].End()
		for _, i := range path {
			s := &storms[i]
			done[i], s.cyclic = true, true
			d.StartTime = max(d.StartTime, s.StartTime)
			end = min(end, s.End())
			d.Members = append(d.Members, s.Key)
		}
		d.DurationNS = end - d.StartTime
		out = append(out, d)
	}
	return out
}

// maxCycle bounds the devices of a cycle.
const maxCycle = 64

// cycle follows the storms from k on, and returns those of a cycle through it
// that all lasted at one time; nil when there is none. Each step closes the
// cycle where it can, else goes to the first storm that fits: a device sends
// one storm on a link.
func (m *merger) cycle(storms []Storm, k int) []int {
	path := []int{k}
	start, end := storms[k].StartTime, storms[k].End()
	for len(path) <= maxCycle {
		cur := &storms[path[len(path)-1]]
		next := -1
		for j := range storms {
			s := &storms[j]
			if s.Kind == KindStorm && s.Priority == cur.Priority && j != path[len(path)-1] && m.stops(cur, s) &&
				max(start, s.StartTime) < min(end, s.End()) && (j == k || !contains(path, j)) {
				if next < 0 || j == k {
					next = j
				}
			}
		}
		switch {
		case next < 0:
			return nil
		case next == k:
			return path
		}
		path = append(path, next)
		start, end = max(start, storms[next].StartTime), min(end, storms[next].End())
	}
	return nil
}

// stops tells whether storm a stops the device that sends storm b.
func (m *merger) stops(a, b *Storm) bool {
	if a.MAC == b.MAC && a.Iface == b.Iface && a.Dir == b.Dir {
		return false
	}
	if m.tl.opt.Peer != nil {
		if peer, ok := m.tl.opt.Peer(a.Iface, a.MAC); ok {
			return peer == b.MAC
		}
	}
	if a.Iface != b.Iface {
		return false
	}
	// Both ends of one link. MACs of zero need the file's direction.
	return a.MAC != b.MAC || a.Dir != b.Dir && a.Dir != decode.DirUnknown && b.Dir != decode.DirUnknown
}

func contains(l []int, v int) bool {
	for _, x := range l {
		if x == v {
			return true
		}
	}
	return false
}
