package iwarp

// afterTap holds the stretches that were seen, sent again, and are not yet
// acknowledged: lost after the tap, unless a DSACK says otherwise.
type afterTap struct{ list []lostStretch }

const maxAfterTap = 64

type lostStretch struct {
	lo, hi  uint64
	resends uint16 // counted as lost downstream
	first   int64  // packet that sent it first, 0 unknown
	asked   moment // first duplicate ACK at or below it
	resent  moment
}

// moment is the time and the number of a packet.
type moment struct{ time, number int64 }

// lostAfter counts octets that were seen before and are sent again.
func (d *direction) lostAfter(s *segment, from, end uint64) {
	d.figures.lostDownstream++
	for i := range d.after.list {
		if l := &d.after.list[i]; l.lo == from {
			l.resends++
			return
		}
	}
	l := lostStretch{lo: from, hi: end, resends: 1, first: d.sent.first(from), resent: moment{s.time, s.number}}
	switch {
	case d.una <= from && d.firstDup.number > l.first:
		l.asked = d.firstDup
	case d.una == from:
		l.asked = d.firstAsk
	}
	if len(d.after.list) >= maxAfterTap {
		d.c.t.ev.Holes++
		d.after.list = append(d.after.list[:0], d.after.list[1:]...)
	}
	d.after.list = append(d.after.list, l)
}

// duplicate notes a repeated ACK at una. Below a stretch only a duplicate ACK
// by the letter tells that the receiver waits.
func (a *afterTap) duplicate(una uint64, s *segment, strict bool) {
	for i := range a.list {
		if l := &a.list[i]; l.asked.number == 0 && (l.lo == una || strict && una < l.lo) {
			l.asked = moment{s.time, s.number}
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
		h := Hole{FirstTime: l.resent.time, FirstPacket: l.resent.number, FillPacket: l.resent.number, Octets: int64(l.hi - l.lo),
			Lost: LostDownstream, Blocked: Unknown("no duplicate ACK told when the receiver began to wait"), offset: l.lo, end: l.hi}
		if l.asked.number != 0 {
			h.FirstTime, h.FirstPacket = l.asked.time, l.asked.number
			h.Blocked = Known(max(s.time-l.asked.time, 0))
		}
		d.tellMessage(&h)
		h.Delayed = d.messages.between(l.hi, una)
		d.holes.add(d.c.t, h)
	}
	d.after.list = kept
}

// notLost takes back what a DSACK proves was no loss. It returns whether the
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
