package iwarp

// afterTap holds the stretches that were seen, sent again, and are not yet
// acknowledged: lost after the tap, unless a DSACK says otherwise.
type afterTap struct{ list []lostStretch }

const maxAfterTap = 64

type lostStretch struct {
	lo, hi               uint64
	resends              uint16 // counted as lost downstream
	dupAt, dupNumber     int64  // first duplicate ACK at its start
	resentAt, resentFrom int64  // time and packet
}

// lostAfter counts octets that were seen before and are sent again.
func (d *direction) lostAfter(s *segment, from, end uint64) {
	d.figures.lostDownstream++
	for i := range d.after.list {
		if l := &d.after.list[i]; l.lo == from {
			l.resends++
			return
		}
	}
	l := lostStretch{lo: from, hi: end, resends: 1, resentAt: s.time, resentFrom: s.number}
	if d.firstDupNumber != 0 && d.una == from {
		l.dupAt, l.dupNumber = d.firstDupAt, d.firstDupNumber
	}
	if len(d.after.list) >= maxAfterTap {
		d.c.t.ev.Holes++
		d.after.list = append(d.after.list[:0], d.after.list[1:]...)
	}
	d.after.list = append(d.after.list, l)
}

// duplicate notes a duplicate ACK at una.
func (a *afterTap) duplicate(una uint64, s *segment) {
	for i := range a.list {
		if l := &a.list[i]; l.lo == una && l.dupNumber == 0 {
			l.dupAt, l.dupNumber = s.time, s.number
		}
	}
}

// release closes the stretches that an ACK has passed.
func (d *direction) release(una uint64, s *segment) {
	kept := d.after.list[:0]
	for _, l := range d.after.list {
		if una <= l.lo {
			kept = append(kept, l)
			continue
		}
		h := Hole{FirstTime: l.resentAt, FirstPacket: l.resentFrom, FillPacket: l.resentFrom, Octets: int64(l.hi - l.lo),
			Lost: LostDownstream, Blocked: Unknown("no duplicate ACK told when the receiver began to wait"), offset: l.lo, end: l.hi}
		if l.dupNumber != 0 {
			h.FirstTime, h.FirstPacket = l.dupAt, l.dupNumber
			h.Blocked = Known(max(s.time-l.dupAt, 0))
		}
		d.tellMessage(&h)
		h.Delayed = d.messages.between(l.hi, una)
		d.holes.add(d.c.t, h)
	}
	d.after.list = kept
}

// spurious takes back what a DSACK proves was no loss. It returns whether the
// stretch was waiting to be judged.
func (d *direction) notLost(lo, hi uint64) bool {
	for i, l := range d.after.list {
		if l.lo < hi && lo < l.hi {
			d.figures.lostDownstream--
			if l.resends--; l.resends == 0 {
				d.after.list = append(d.after.list[:i], d.after.list[i+1:]...)
			} else {
				d.after.list[i] = l
			}
			return true
		}
	}
	return false
}
