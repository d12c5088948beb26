package pause

import "rdmascope/decode/wire"

// Deadlock is a suspected one: storms that pause one another in a cycle, so
// that none can end.
type Deadlock struct {
	Priority   uint8
	StartTime  int64 // when the last of them began
	DurationNS int64 // while all lasted
	Members    []Member
}

// Member is one sender of a cycle; it stops the next one, the last stops the
// first.
type Member struct {
	Key
	Port
}

// deadlocks looks for cycles among storms of one priority. An edge goes from
// the sender of a storm to the device that it stops: the one that the port map
// names, else the other end of a link both of whose ends pause.
func (m *merger) deadlocks(storms []Storm) []Deadlock {
	var out []Deadlock
	g := m.graph(storms)
	for k := range storms {
		if storms[k].cyclic || len(g.next[k]) == 0 {
			continue
		}
		path := g.cycle(k)
		if path == nil {
			continue
		}
		d := Deadlock{Priority: storms[k].Priority}
		end := storms[k].End()
		for _, i := range path {
			s := &storms[i]
			s.cyclic = true
			d.StartTime = max(d.StartTime, s.StartTime)
			end = min(end, s.End())
			d.Members = append(d.Members, Member{s.Key, m.ports[s.row]})
		}
		d.DurationNS = end - d.StartTime
		out = append(out, d)
	}
	return out
}

const (
	// maxCycle bounds the devices of a cycle.
	maxCycle = 64
	// maxSteps bounds the search for a cycle through one storm.
	maxSteps = 10_000
)

// stormGraph is which storm stops the senders of which.
type stormGraph struct {
	storms []Storm
	next   [][]int32
	path   []int
	on     []bool // the path
	steps  int
}

func (m *merger) graph(storms []Storm) *stormGraph {
	g := &stormGraph{storms: storms, next: make([][]int32, len(storms)), on: make([]bool, len(storms))}
	for i := range storms {
		for j := range storms {
			a, b := &storms[i], &storms[j]
			if i != j && a.Kind == KindStorm && b.Kind == KindStorm && a.Priority == b.Priority && m.stops(a, b) {
				g.next[i] = append(g.next[i], int32(j))
			}
		}
	}
	return g
}

// cycle returns storms of a cycle through storm k which all lasted at one time,
// nil when none is found.
func (g *stormGraph) cycle(k int) []int {
	g.path, g.steps = append(g.path[:0], k), 0
	if g.search(k, g.storms[k].StartTime, g.storms[k].End()) {
		return g.path
	}
	return nil
}

// search goes on from the path's last storm; all on it last from start to end.
func (g *stormGraph) search(k int, start, end int64) bool {
	at := g.path[len(g.path)-1]
	g.on[at] = true
	defer func() { g.on[at] = false }()
	for _, n := range g.next[at] {
		if int(n) == k && len(g.path) > 1 {
			return true
		}
	}
	if len(g.path) >= maxCycle {
		return false
	}
	for _, n := range g.next[at] {
		s := &g.storms[n]
		from, to := max(start, s.StartTime), min(end, s.End())
		if g.on[n] || s.cyclic || from >= to {
			continue
		}
		if g.steps++; g.steps > maxSteps {
			return false
		}
		g.path = append(g.path, int(n))
		if g.search(k, from, to) {
			return true
		}
		g.path = g.path[:len(g.path)-1]
	}
	return false
}

// stops tells whether storm a stops the device that sends storm b.
func (m *merger) stops(a, b *Storm) bool {
	if a.MAC == b.MAC && a.Iface == b.Iface && a.Dir == b.Dir {
		return false
	}
	if leads, told := m.leads(a.row, b.row); told {
		return leads
	}
	if a.Iface != b.Iface {
		return false
	}
	// Both ends of one link. MACs of zero need the file's direction.
	return a.MAC != b.MAC || a.Dir != b.Dir && a.Dir != wire.DirUnknown && b.Dir != wire.DirUnknown
}
