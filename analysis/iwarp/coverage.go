package iwarp

// coverage tells which octets of a direction were seen: all between first and
// max but those in holes.
type coverage struct {
	before opener // the packet that showed the first octet: what comes below it
	holes  []hole // ascending, none touch
}

// hole is a stretch not seen.
type hole struct {
	lo, hi uint64
	from   uint64 // where it began and ended before it was filled in part
	to     uint64
	resent bool // a part was filled by being sent again
	opener
	acked   bool // the receiver has it
	byAck   bool // shown by an acknowledgement, not by a segment
	corrupt bool // a segment with a wrong checksum stood there
	asked   bool // a duplicate ACK or SACK asked for it
}

// maxHoles are followed at a time; acknowledged ones go first.
const maxHoles = 64

// coverResult tells what a segment brought.
type coverResult struct {
	fresh  bool   // octets above all seen
	filled uint64 // octets of holes
	seen   uint64 // octets seen before
	hole   hole   // the first hole it filled, as it was
	below  bool   // octets below the first one known
	closed bool   // nothing is left of it
}

// add takes [from, to).
func (v *coverage) add(d *direction, from, to uint64, s *segment) (r coverResult) {
	if from > d.max {
		v.begin(d, hole{lo: d.max, hi: from, opener: s.opener()})
	}
	r.fresh = to > d.max
	if from < d.first {
		r.below = true
		r.hole = hole{lo: from, hi: min(to, d.first), from: from, to: min(to, d.first), opener: v.before}
		r.closed = true
		r.filled = r.hole.hi - from
		from = r.hole.hi
	}
	known := min(to, d.max)
	if from >= known {
		return r
	}
	f := v.fill(from, known, &r)
	r.filled += f
	r.seen = known - from - f
	return r
}

// fill takes [from, to) out of the holes and returns how many octets these
// were.
func (v *coverage) fill(from, to uint64, r *coverResult) (octets uint64) {
	for i := 0; i < len(v.holes); {
		h := &v.holes[i]
		if h.hi <= from {
			i++
			continue
		}
		if h.lo >= to {
			break
		}
		if octets == 0 && !r.below {
			r.hole = *h
			r.closed = from <= h.lo && to >= h.hi
		}
		lo, hi := max(h.lo, from), min(h.hi, to)
		octets += hi - lo
		switch {
		case lo == h.lo && hi == h.hi:
			v.holes = append(v.holes[:i], v.holes[i+1:]...)
			continue
		case lo == h.lo:
			h.lo = hi
		case hi == h.hi:
			h.hi = lo
		case len(v.holes) >= 2*maxHoles:
			h.hi = lo // what is above counts as seen: hostile segments split a hole for ever
		default:
			rest := *h
			rest.lo, h.hi = hi, lo
			rest.from, h.to = hi, lo
			v.insert(i+1, rest)
		}
		i++
	}
	return octets
}

// open tells whether a hole is neither filled nor acknowledged.
func (v *coverage) open() bool {
	for i := range v.holes {
		if !v.holes[i].acked {
			return true
		}
	}
	return false
}

func (v *coverage) insert(i int, h hole) {
	v.holes = append(v.holes, hole{})
	copy(v.holes[i+1:], v.holes[i:])
	v.holes[i] = h
}

// begin adds a hole at the end.
func (v *coverage) begin(d *direction, h hole) {
	if len(v.holes) >= maxHoles {
		v.retire(d)
	}
	h.from, h.to = h.lo, h.hi
	h.corrupt = d.bad.stood(h.lo, h.hi)
	v.holes = append(v.holes, h)
}

// retire stops following one hole: the oldest acknowledged one, else the
// oldest.
func (v *coverage) retire(d *direction) {
	at := 0
	for i := range v.holes {
		if v.holes[i].acked {
			at = i
			break
		}
	}
	h := &v.holes[at]
	d.figures.unseen += int64(h.unseen())
	if !h.acked {
		d.figures.retiredHoles++
		d.c.t.ev.Holes++
	}
	v.holes = append(v.holes[:at], v.holes[at+1:]...)
}

// unseen is how many octets of it were delivered and never seen.
func (h *hole) unseen() uint64 {
	if !h.acked {
		return 0
	}
	return h.hi - h.lo
}

// unseen adds up all holes.
func (v *coverage) unseen() (octets uint64) {
	for i := range v.holes {
		octets += v.holes[i].unseen()
	}
	return octets
}

// drop forgets all holes and returns the unseen octets in them.
func (v *coverage) drop() int64 {
	n := v.unseen()
	v.holes = v.holes[:0]
	return int64(n)
}

// acknowledge marks what lies below una as delivered; of a hole across it one
// part. It returns the offset up to which holes are acknowledged, 0 for none.
func (v *coverage) acknowledge(d *direction, una uint64) (to uint64) {
	for i := 0; i < len(v.holes); i++ {
		h := &v.holes[i]
		if h.lo >= una {
			break
		}
		if h.acked {
			continue
		}
		if h.hi > una && len(v.holes) >= 2*maxHoles {
			d.figures.unseen += int64(una - h.lo)
			h.lo = una
			return una
		}
		if h.hi > una {
			rest := *h
			rest.lo, h.hi = una, una
			rest.from, h.to = una, una
			h.acked = true
			d.listUnseen(h)
			v.insert(i+1, rest)
			return una
		}
		h.acked = true
		d.listUnseen(h)
		to = h.hi
	}
	return to
}

// listUnseen lists a hole that the receiver has: nothing waited for it.
func (d *direction) listUnseen(h *hole) {
	d.holes.add(d.c.t, Hole{FirstTime: h.time, FirstPacket: h.number, Octets: int64(h.hi - h.lo), Lost: LostUnseen,
		Blocked: Unknown("the receiver had it"), offset: h.lo, end: h.hi})
}

// noteResent tells the hole that begins or ends at a part just filled that this
// part was sent again.
func (v *coverage) noteResent(from, end uint64) {
	for i := range v.holes {
		if h := &v.holes[i]; h.hi == from || h.lo == end {
			h.resent = true
		}
	}
}

// ask notes that the receiver asked for what lies at una, or for all below a
// SACK.
func (v *coverage) ask(una, sacked uint64, duplicate bool) {
	for i := range v.holes {
		h := &v.holes[i]
		if duplicate && h.lo <= una && una < h.hi || h.hi <= sacked {
			h.asked = true
		}
	}
}
