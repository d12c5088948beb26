package iwarp

// badRing remembers segments with wrong checksums, and their payload: a receiver
// that acknowledges it found nothing wrong.
type badRing struct {
	next uint8
	at   [4]badSegment
}

type badSegment struct {
	span
	segment waitingSegment
}

// corrupted takes a segment with a wrong checksum: it changes no state, but the
// hole that it would have filled is no loss.
func (d *direction) corrupted(s *segment, b []byte) {
	d.figures.checksumBad++
	if s.length > 0 {
		d.figures.badData++
	}
	if !d.begun || s.length == 0 {
		return
	}
	from := d.offset(s.seq)
	end := from + uint64(s.length)
	if from > d.max+farthest || end+farthest < d.max {
		return
	}
	b = b[:min(len(b), longestKept)]
	x := &d.bad.at[d.bad.next]
	d.c.t.pool.give(x.first())
	first, ok := d.c.t.pool.store(b)
	if !ok {
		b = nil
	}
	*x = badSegment{span{from, end}, waitingSegment{from, s.time, s.number, s.length, uint32(len(b)), first}}
	d.bad.next = (d.bad.next + 1) % uint8(len(d.bad.at))
	for i := range d.cover.holes {
		if h := &d.cover.holes[i]; h.lo < end && from < h.hi {
			h.corrupt = true
		}
	}
}

// first is its first chunk, -1 for none.
func (x *badSegment) first() int32 {
	if x.hi == 0 {
		return -1
	}
	return x.segment.first
}

// stood tells whether a broken segment stood in a hole that opens now.
func (r *badRing) stood(lo, hi uint64) bool {
	for i := range r.at {
		if x := &r.at[i]; x.lo < hi && lo < x.hi {
			return true
		}
	}
	return false
}

func (r *badRing) clear(p *chunkPool) {
	for i := range r.at {
		p.give(r.at[i].first())
		r.at[i] = badSegment{}
	}
}

// believeBad takes broken segments for good ones where the receiver
// acknowledges their octets though they never came otherwise.
func (d *direction) believeBad(ack uint64) {
	for i := range d.bad.at {
		x := d.bad.at[i]
		if x.hi == 0 || x.hi > ack {
			continue
		}
		d.bad.at[i] = badSegment{}
		var r coverResult
		if d.cover.fill(x.lo, min(x.hi, d.max), &r) < x.hi-x.lo {
			d.c.t.pool.give(x.segment.first) // it came again
			continue
		}
		d.figures.checksumBad--
		d.figures.badData--
		d.believe(&x.segment)
	}
}

// believe hands a segment's octets to the framing after all.
func (d *direction) believe(x *waitingSegment) {
	if x.offset > d.stream.Next() {
		d.waiting.insert(*x)
		return
	}
	d.waiting.octets += int(x.kept) // feedKept takes it off again
	d.feedKept(x)
	d.drain()
}
