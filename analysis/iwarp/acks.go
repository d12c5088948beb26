package iwarp

// acknowledged takes what the receiver says about this direction's data.
func (d *direction) acknowledged(s *segment) {
	d.closedWindow(s)
	if !d.begun {
		d.window, d.haveWindow = s.window, true
		return
	}
	ack := d.offset(s.ack)
	if ack > d.max+farthest || ack+farthest < d.max {
		d.figures.implausible++
		return
	}
	dsack := d.sackBlocks(s, ack)
	switch {
	case !d.haveAck || ack > d.una:
		d.advance(ack, s)
	case ack == d.una && !dsack && d.isRepeated(s):
		d.repeated(s)
		d.cover.ask(d.una, d.sacked, true)
	case s.opt.sacks > 0:
		d.cover.ask(d.una, d.sacked, false)
	}
	d.window, d.haveWindow = s.window, true
}

// closedWindow counts the times that the window closes. A reset's window means
// nothing.
func (d *direction) closedWindow(s *segment) {
	if s.window == 0 && s.flags&(flagSyn|flagRst) == 0 && d.haveWindow && d.window != 0 {
		d.figures.zeroWindows++
	}
}

// repeated takes an ACK that asks for the octets at una.
func (d *direction) repeated(s *segment) {
	if s.window == d.window {
		d.figures.dupAcks++
		d.dups++
	}
	d.after.ask(span{d.una, d.firstSacked(s)}, s)
}

// firstSacked is where the first SACK block above una begins: the receiver
// waits for what lies between. Without SACK it waits for the octet at una.
func (d *direction) firstSacked(s *segment) uint64 {
	lowest := noOffset
	for i := range s.opt.sacks {
		if lo := d.offset(s.opt.sack[i].lo); lo > d.una {
			lowest = min(lowest, lo)
		}
	}
	if lowest == noOffset {
		return d.una + 1
	}
	return lowest
}

// isRepeated tells whether an ACK with the number of the one before asks for
// something: data are outstanding, none come with it, no SYN or FIN, and the
// window is the same (RFC 5681 §2: a duplicate ACK) or SACK blocks say that
// more arrived (RFC 6675 §2 counts it as one even if the window moved; METRICS
// counts RFC 5681's).
func (d *direction) isRepeated(s *segment) bool {
	return s.length == 0 && s.flags&(flagSyn|flagFin|flagRst) == 0 && d.max > d.una &&
		(s.window == d.window || s.opt.sacks > 0)
}

// sackBlocks takes SACK blocks, and tells whether the first is a duplicate's
// (RFC 2883 §4: it lies below the acknowledgement or within the second block).
func (d *direction) sackBlocks(s *segment, ack uint64) (dsack bool) {
	for i := range s.opt.sacks {
		lo, hi := d.offset(s.opt.sack[i].lo), d.offset(s.opt.sack[i].hi)
		if lo >= hi || hi > d.max+farthest || hi-lo > farthest {
			continue
		}
		if i == 0 && d.isDSACK(s, lo, hi, ack) {
			dsack = true
			d.duplicateArrived(lo, hi)
			continue
		}
		d.sacked = max(d.sacked, hi)
	}
	return dsack
}

func (d *direction) isDSACK(s *segment, lo, hi, ack uint64) bool {
	if hi <= ack {
		return true
	}
	if s.opt.sacks < 2 {
		return false
	}
	lo2, hi2 := d.offset(s.opt.sack[1].lo), d.offset(s.opt.sack[1].hi)
	return lo >= lo2 && hi <= hi2
}

// duplicateArrived takes a DSACK: a copy explains it first, then a
// retransmission, which was for nothing.
func (d *direction) duplicateArrived(lo, hi uint64) {
	d.figures.dsacks++
	switch {
	case d.copies.answered(lo, hi):
		d.figures.networkCopies++
	case d.notLost(lo, hi), d.resent.overlaps(lo, hi):
		d.figures.spurious++
	}
}

// advance takes an acknowledgement of new data.
func (d *direction) advance(ack uint64, s *segment) {
	shown := d.max
	if ack > d.max {
		// Octets behind all that was seen: nothing but this tells of them.
		d.cover.begin(d, hole{lo: d.max, hi: ack, opener: s.opener(), byAck: true})
		d.max = ack
	}
	d.believeBad(ack)
	to := d.cover.acknowledge(d, ack)
	d.una, d.haveAck, d.dups = ack, true, 0
	if to = min(to, shown); to > d.stream.Next() {
		d.giveUp(to, s)
	}
	d.release(ack, s)
	d.sampleMessages(ack, s, d.sampleRTT(ack, s))
	d.peer().reads.retire(ack)
	if s.opt.sacks > 0 {
		d.cover.ask(d.una, d.sacked, false)
	}
}

// noOffset is above every octet.
const noOffset = ^uint64(0)

// sampleRTT takes the newest segment that an ACK covers as a sample, unless one
// of those it covers was sent twice, or doubled on the way (Karn: which of the
// two the ACK answers can't be told). It returns the first octet sent twice.
func (d *direction) sampleRTT(ack uint64, s *segment) (firstResent uint64) {
	firstResent = noOffset
	var newest sentSegment
	ambiguous := false
	for {
		x, ok := d.sent.pop(ack)
		if !ok {
			break
		}
		newest = x
		ambiguous = ambiguous || x.resent || x.doubled
		if x.resent {
			firstResent = min(firstResent, x.from)
		}
	}
	switch {
	case newest.number == 0 || s.flags&flagRst != 0: // a reset isn't an answer
	case ambiguous:
		d.figures.rttSkipped++
	default:
		d.rtt.add(s.time - newest.at)
	}
	return firstResent
}

// sampleMessages takes the newest SEND or WRITE message that an ACK covers as
// a sample; the older ones are coalesced. Where the ACK waited for octets in or
// before it that were sent again, the newest is recovered, and no sample.
func (d *direction) sampleMessages(ack uint64, s *segment, firstResent uint64) {
	var newest message
	for {
		m, ok := d.messages.pop(ack)
		if !ok {
			break
		}
		if !m.sample {
			continue
		}
		if newest.sample {
			d.ackLatency.coalesced++
		}
		newest = m
	}
	switch {
	case !newest.sample:
	case firstResent < newest.end || newest.resent:
		d.ackLatency.recovered++
	default:
		d.ackLatency.add(s.time - newest.endAt)
	}
}

// sentSegment is one segment seen and not yet acknowledged.
type sentSegment struct {
	from, to   uint64
	at, number int64
	resent     bool
	doubled    bool
}

// sentRing holds them in order of their ends.
type sentRing struct {
	at   []sentSegment
	head int
}

const (
	maxSent    = 8192
	oneWaySent = 64 // nothing will acknowledge them
)

func (r *sentRing) len() int { return len(r.at) - r.head }

// add takes a segment; it nearly always comes last.
func (r *sentRing) add(d *direction, s sentSegment) {
	if n := d.most(maxSent, oneWaySent); r.len() >= n {
		if n == maxSent {
			d.c.t.ev.Records++
		}
		r.head++
	}
	r.at, r.head = compact(r.at, r.head)
	r.at = append(r.at, s)
	for i := len(r.at) - 1; i > r.head && r.at[i-1].to > s.to; i-- {
		r.at[i], r.at[i-1] = r.at[i-1], s
	}
}

// compact makes room at the end of a queue's slice before it grows.
func compact[T any](at []T, head int) ([]T, int) {
	if head == len(at) {
		return at[:0], 0
	}
	if len(at) == cap(at) && head > len(at)/2 {
		n := copy(at, at[head:])
		return at[:n], 0
	}
	return at, head
}

// mark applies Karn's rule.
func (r *sentRing) mark(from, end uint64) {
	for i := len(r.at) - 1; i >= r.head && r.at[i].to > from; i-- {
		if r.at[i].from < end {
			r.at[i].resent = true
		}
	}
}

// markDoubled tells that a segment was seen twice, though sent once.
func (r *sentRing) markDoubled(from uint64) {
	for i := len(r.at) - 1; i >= r.head && r.at[i].to > from; i-- {
		if r.at[i].from == from {
			r.at[i].doubled = true
		}
	}
}

// first is the packet that sent the octet at from first, 0 unknown.
func (r *sentRing) first(from uint64) int64 {
	for i := r.head; i < len(r.at); i++ {
		if x := &r.at[i]; x.to > from {
			if x.from <= from {
				return x.number
			}
			return 0
		}
	}
	return 0
}

// pop takes the first out if it ends at ack or before.
func (r *sentRing) pop(ack uint64) (s sentSegment, ok bool) {
	if r.head < len(r.at) && r.at[r.head].to <= ack {
		s, ok = r.at[r.head], true
		r.head++
	}
	return s, ok
}
