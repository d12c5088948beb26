package iwarp

// resendKind is why a segment was sent again (METRICS §8).
type resendKind uint8

const (
	resendTimeout resendKind = iota // after silence; a SYN
	resendFast                      // a SACK above it, or three duplicate ACKs
	resendProbe                     // the newest octets, unasked: a tail loss probe (RFC 8985 §7)
	resendUnknown
	resendKinds
)

// duplicatesForFast is RFC 5681's threshold.
const duplicatesForFast = 3

// classify tells whether a segment was sent again or came late, and counts it.
// was is the highest offset before it.
func (d *direction) classify(s *segment, from, end, was uint64, got coverResult, silent int64) (resent bool) {
	f := &d.figures
	switch {
	case got.seen > 0:
		resent = true
	case got.filled > 0:
		if got.hole.byAck {
			// Only an acknowledgement told of these octets: this is their first
			// sighting, in its place among the segments or not.
			f.lateOctets += int64(got.filled)
			if got.closed {
				d.holes.remove(got.hole.from, LostUnseen)
			}
			return false
		}
		after, sure := d.order.sentAfter(s, &got.hole.opener, got.hole.asked)
		resent = after
		if after && !sure {
			f.likely++
		}
	default:
		return false
	}
	if !resent {
		f.late++
		d.closeHole(s, &got.hole, got.closed, from, end, LostReorder)
		return false
	}
	kind := d.kindOf(from, end, was, silent)
	d.countResent(int64(s.length), kind)
	passed := d.haveAck && end <= d.una
	if passed {
		f.spurious++
	}
	d.resent.add(from, end)
	d.markResent(from, end)
	switch {
	case got.seen == 0:
		d.lostBefore(s, &got, from, end)
	case !passed:
		d.lostAfter(s, from, end)
	}
	return true
}

// lostBefore counts a segment that fills a hole by being sent again: the first
// sending was lost before the tap, or came broken.
func (d *direction) lostBefore(s *segment, got *coverResult, from, end uint64) {
	switch h := &got.hole; {
	case h.acked: // the receiver had it: the tap didn't see the first sending
	case h.corrupt:
		d.figures.corrupt++
		d.closeHole(s, h, got.closed, from, end, LostCorrupt)
	default:
		d.figures.lostUpstream++
		d.closeHole(s, h, got.closed, from, end, LostUpstream)
	}
}

// closeHole notes a hole that a segment filled: the last of several, where it
// took more than one.
func (d *direction) closeHole(s *segment, h *hole, closed bool, from, end uint64, where Lost) {
	if h.number == 0 || h.acked { // one that was acknowledged is listed
		return
	}
	if !closed {
		if where != LostReorder {
			d.cover.noteResent(from, end)
		}
		return
	}
	if where == LostReorder && h.resent {
		where = LostUpstream
	}
	d.holes.fill(d, Hole{FirstTime: h.time, FirstPacket: h.number, FillPacket: s.number, Octets: int64(h.to - h.from),
		Lost: where, Blocked: Known(max(s.time-h.time, 0)), offset: h.from, end: h.to})
}

func (d *direction) countResent(octets int64, kind resendKind) {
	d.figures.resent++
	d.figures.resentOctets += octets
	d.figures.byKind[kind]++
}

func (d *direction) kindOf(from, end, was uint64, silent int64) resendKind {
	switch {
	case silent >= int64(d.c.t.opt.Silence):
		return resendTimeout
	case d.sacked >= end && d.sacked > d.una, d.dups >= duplicatesForFast && from == d.una:
		return resendFast
	case end == was:
		return resendProbe
	}
	return resendUnknown
}

// markResent applies Karn's rule to what was sent before, and tells the
// messages and reads that the resent octets belong to.
func (d *direction) markResent(from, end uint64) {
	d.sent.mark(from, end)
	d.messages.mark(from, end)
	d.reads.markRequests(from, end)
	d.peer().reads.markResponses(from, end)
}

func (d *direction) peer() *direction {
	if d == &d.c.dir[0] {
		return &d.c.dir[1]
	}
	return &d.c.dir[0]
}

// ranges remembers the newest stretches that were sent again.
type ranges struct {
	n    uint8
	next uint8
	at   [16]span
}

type span struct{ lo, hi uint64 }

func (r *ranges) add(lo, hi uint64) {
	r.at[r.next] = span{lo, hi}
	r.next = (r.next + 1) % uint8(len(r.at))
	r.n = min(r.n+1, uint8(len(r.at)))
}

// overlaps tells whether a part of [lo, hi) was sent again.
func (r *ranges) overlaps(lo, hi uint64) bool {
	for i := range r.n {
		if r.at[i].lo < hi && lo < r.at[i].hi {
			return true
		}
	}
	return false
}
