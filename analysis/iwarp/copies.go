package iwarp

// copyRing remembers a direction's newest packets, to know copies of them.
type copyRing struct {
	next, n uint8
	data    bool // a copy with payload was seen
	moved   bool // the copy in hand came by another path: the capture saw one packet twice
	at      [copyMemory]sighting
	pending [8]span // payload of copies, to be answered by a DSACK
	pnext   uint8
}

const copyMemory = 16

type sighting struct {
	print uint64
	time  int64
	path  uint32
}

// isCopy tells whether a packet was seen before, byte for byte apart from what
// a hop rewrites. An ACK without payload and without an identification that
// counts can't be told from one sent twice, but by another path, or where
// payload is doubled too.
func (d *direction) isCopy(s *segment) bool {
	r := &d.copies
	for i := range r.n {
		x := &r.at[i]
		if x.print != s.print || s.time-x.time > int64(d.c.t.opt.CopyWithin) || x.time-s.time > int64(d.c.t.opt.CopyWithin) {
			continue
		}
		if s.length > 0 || s.flags&(flagSyn|flagFin) != 0 || s.hasID && d.order.usable() || s.path != x.path || r.data {
			r.moved = s.path != x.path
			return true
		}
	}
	r.at[r.next] = sighting{s.print, s.time, s.path}
	r.next = (r.next + 1) % copyMemory
	r.n = min(r.n+1, copyMemory)
	return false
}

// copied counts a copy: at the flow whose data it speaks about.
func (d *direction) copied(s *segment, peer *direction) {
	if s.length == 0 && s.flags&(flagSyn|flagFin) == 0 {
		peer.figures.copies++
		return
	}
	d.figures.copies++
	r := &d.copies
	if s.length == 0 {
		return
	}
	r.data = true
	if d.begun && !r.moved {
		from := d.offset(s.seq)
		if d.figures.copies <= 4 || 2*d.figures.copies < d.dataSegments-d.figures.copies {
			d.sent.markDoubled(from) // where about all is doubled, the capture does it
		}
		r.pending[r.pnext] = span{from, from + uint64(s.length)}
		r.pnext = (r.pnext + 1) % uint8(len(r.pending))
	}
}

// answered tells whether a DSACK answers a copy, once for each.
func (r *copyRing) answered(lo, hi uint64) bool {
	for i := range r.pending {
		if p := &r.pending[i]; p.lo < hi && lo < p.hi {
			*p = span{}
			return true
		}
	}
	return false
}
