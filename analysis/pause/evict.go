package pause

import "slices"

// evict takes the least of the rows out of the table, if it has been silent for
// long, and returns its place, -1 when it isn't, with the generation of the next
// row there. Where an interface and priority have all the rows that they may
// have it is one of these. Least is who sent the fewest frames: whoever makes up
// source MACs, a frame each, must not drive out those that pause in earnest,
// however long these have been quiet.
//
// Every shard has a time line of its own and decides alike, since all are fed
// the same frames.
func (t *Timeline) evict(pt *port, priority uint8, now int64) (place int32, gen uint32) {
	place = -1
	if list := pt.rows[priority]; len(list) >= rowsPerPriority {
		if now < pt.searchFrom[priority] {
			return -1, 0
		}
		for _, i := range list {
			place = t.lesser(place, i)
		}
		pt.searchFrom[priority] = t.rows[place].lastTime + t.opt.RowIdleNS
	} else if now >= t.searchFrom {
		for i := range t.rows {
			place = t.lesser(place, int32(i))
		}
		// Looking through all of them for every frame of a flood would cost more
		// than the flood.
		t.searchFrom = t.rows[place].lastTime + t.opt.RowIdleNS
	}
	if place < 0 {
		return -1, 0
	}
	r := &t.rows[place]
	if now-r.lastTime < t.opt.RowIdleNS || r.current(now) != nil {
		return -1, 0
	}
	t.evicted++
	t.budget += len(r.ring.slots)
	delete(t.index, r.key)
	rows := &t.ports[r.key.Iface].rows[r.key.Priority]
	*rows = slices.DeleteFunc(*rows, func(i int32) bool { return i == place })
	return place, r.gen + 1
}

// lesser is which of two rows had fewer frames, the one silent for longer
// where they had as many; a may be none.
func (t *Timeline) lesser(a, b int32) int32 {
	if a < 0 {
		return b
	}
	r, s := &t.rows[a], &t.rows[b]
	if s.frames < r.frames || s.frames == r.frames && s.lastTime < r.lastTime {
		return b
	}
	return a
}
