package iwarp

// afterTap holds the stretches that were seen, sent again, and are not yet
// acknowledged: lost after the tap, unless a DSACK says otherwise.
type afterTap struct {
	list []lostStretch
	asks [8]askedFor // newest stretches that the receiver said it waits for
	next uint8

	passed [8]lostStretch // newest that an ACK has passed: a DSACK may follow it
	pnext  uint8
}

// askedFor is a stretch and the first repeated ACK that named it.
type askedFor struct {
	span
	moment
}

const maxAfterTap = 64

type lostStretch struct {
	lo, hi  uint64
	resends uint16 // counted as lost downstream
	first   int64  // packet that sent it first, 0 unknown
	asked   moment // the first repeated ACK that names it
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
	l.asked = d.after.asked(from, l.first)
	if len(d.after.list) >= maxAfterTap {
		d.c.t.ev.Holes++
		d.after.list = append(d.after.list[:0], d.after.list[1:]...)
	}
	d.after.list = append(d.after.list, l)
}

// ask notes a repeated ACK and the stretch that it names.
func (a *afterTap) ask(named span, s *segment) {
	at := moment{s.time, s.number}
	for i := range a.list {
		if l := &a.list[i]; l.asked.number == 0 && named.lo <= l.lo && l.lo < named.hi {
			l.asked = at
		}
	}
	for i := range a.asks {
		if a.asks[i].span == named {
			return
		}
	}
	a.asks[a.next] = askedFor{named, at}
	a.next = (a.next + 1) % uint8(len(a.asks))
}

// asked is the first repeated ACK, after a packet, that names an octet.
func (a *afterTap) asked(from uint64, after int64) (first moment) {
	for _, x := range a.asks {
		if x.lo <= from && from < x.hi && x.number > after && (first.number == 0 || x.number < first.number) {
			first = x.moment
		}
	}
	return first
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
		d.after.passed[d.after.pnext] = l
		d.after.pnext = (d.after.pnext + 1) % uint8(len(d.after.passed))
		d.tellMessage(&h)
		h.Delayed = d.messages.between(l.hi, una)
		d.holes.add(d.c.t, h)
	}
	d.after.list = kept
}

// notLost takes back what a DSACK proves was no loss. It tells whether one was
// counted.
func (d *direction) notLost(lo, hi uint64) bool {
	a := &d.after
	for i := range a.list {
		if l := &a.list[i]; l.overlaps(lo, hi) {
			d.figures.lostDownstream--
			if l.resends--; l.resends == 0 {
				a.list = append(a.list[:i], a.list[i+1:]...)
			}
			return true
		}
	}
	for i := range a.passed {
		if l := &a.passed[i]; l.resends > 0 && l.overlaps(lo, hi) {
			d.figures.lostDownstream--
			if l.resends--; l.resends == 0 {
				d.holes.remove(l.lo, LostDownstream)
			}
			return true
		}
	}
	return false
}

func (l *lostStretch) overlaps(lo, hi uint64) bool { return l.lo < hi && lo < l.hi }
