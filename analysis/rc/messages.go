package rc

import "rdmascope/decode/roce"

// message is one operation in flight: the PSNs that are known to belong to it.
type message struct {
	start, end roce.PSN // [start, end)
	tFirst     int64    // first sighting of its first packet
	last       int64    // sighting of its last packet; READ: how far it got, and its length
	flags      messageFlags
	skips      uint8  // READ: later operations that finished meanwhile
	target     uint32 // of its RETH or AtomicETH, 0: not known
}

// got is the first PSN of a READ whose response is missing.
func (m *message) got() roce.PSN { return roce.PSN(uint64(m.last) >> 32) }

// dma is the length of a READ.
func (m *message) dma() uint32 { return uint32(m.last) }

func (m *message) setGot(psn roce.PSN) { m.last = int64(psn)<<32 | m.last&(1<<32-1) }

// span is a range of PSNs [lo, hi); empty when they are equal.
type span struct{ lo, hi roce.PSN }

func (s span) empty() bool                { return s.lo == s.hi }
func (s span) has(p roce.PSN) bool        { return p.Sub(s.lo) >= 0 && p.Sub(s.hi) < 0 }
func (s span) len() int32                 { return s.hi.Sub(s.lo) }
func (s span) overlaps(o span) bool       { return s.lo.Sub(o.hi) < 0 && o.lo.Sub(s.hi) < 0 }
func (m *message) span() span             { return span{m.start, m.end} }
func (m *message) is(f messageFlags) bool { return m.flags&f != 0 }

type messageFlags uint16

const (
	msgFirst    messageFlags = 1 << iota // its first packet was seen
	msgLast                              // its last packet was seen
	msgRead                              // READ, atomic and the like: only its own response finishes it
	msgAtomic                            // answered by an atomic ACK
	msgResent                            // one of its packets was sent again
	msgDone                              // finished, waits behind an unfinished READ
	msgAnswered                          // READ: the first response was seen
	msgOther                             // FLUSH, ATOMIC WRITE: in no latency block
	msgWrite                             // WRITE
	msgAhead                             // READ: responses beyond got were seen, see responses.late
)

// messageRing holds the operations in flight by PSN.
type messageRing struct {
	buf     []message
	n, head uint16                  // n messages from the head on
	first   [inlineMessages]message // as long as buf is nil
}

// inlineMessages: most queue pairs have no more than this in flight.
const inlineMessages = 2

func (r *messageRing) at(i int) *message {
	if r.buf == nil {
		return &r.first[(int(r.head)+i)%inlineMessages]
	}
	return &r.buf[(int(r.head)+i)&(len(r.buf)-1)]
}

func (r *messageRing) room() int {
	if r.buf == nil {
		return inlineMessages
	}
	return len(r.buf)
}

func (r *messageRing) tail() *message {
	if r.n == 0 {
		return nil
	}
	return r.at(int(r.n) - 1)
}

func (r *messageRing) grow() {
	buf := make([]message, 2*r.room())
	for i := range int(r.n) {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
}

// insert puts m at position i.
func (r *messageRing) insert(i int, m message) *message {
	if int(r.n) == r.room() {
		r.grow()
	}
	r.n++
	for k := int(r.n) - 1; k > i; k-- {
		*r.at(k) = *r.at(k - 1)
	}
	p := r.at(i)
	*p = m
	return p
}

func (r *messageRing) remove(i int) {
	for k := i; k < int(r.n)-1; k++ {
		*r.at(k) = *r.at(k + 1)
	}
	r.n--
}

func (r *messageRing) pop() {
	r.head = (r.head + 1) & uint16(r.room()-1)
	r.n--
}

// find returns the position of the message that holds psn, or where one that
// did would stand.
func (r *messageRing) find(psn roce.PSN) (int, bool) {
	lo, hi := 0, int(r.n)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r.at(mid).end.Sub(psn) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < int(r.n) && r.at(lo).start.Sub(psn) <= 0
}

func (r *messageRing) clone() messageRing {
	c := *r
	c.buf = append([]message(nil), r.buf...)
	return c
}

// opened returns the message that a request begins.
func opened(e *event, f roce.OpcodeFlags) message {
	m := message{start: e.psn, end: e.end(), tFirst: e.time, last: e.time, target: e.target}
	switch {
	case f.Has(roce.FlagRead):
		m.flags = msgFirst | msgLast | msgRead
		m.last = int64(e.psn)<<32 | int64(e.dma)
		switch {
		case f.Has(roce.FlagAtomic):
			m.flags |= msgAtomic
		case e.op.Operation() != roce.OperationReadRequest:
			m.flags |= msgOther
		}
	default:
		if f.Has(roce.FlagStart) {
			m.flags |= msgFirst
		}
		if f.Has(roce.FlagEnd) {
			m.flags |= msgLast
		}
		m.kind(e)
	}
	return m
}

// kind notes whether a message is a SEND or a WRITE.
func (m *message) kind(e *event) {
	m.flags &^= msgWrite
	if e.op.Operation() == roce.OperationWrite {
		m.flags |= msgWrite
	}
}

// inOrder adds the request that continues the sequence.
func (r *requester) inOrder(e *event, f roce.OpcodeFlags) {
	if !f.Has(roce.FlagStart | roce.FlagRead) {
		if m := r.msgs.tail(); m != nil && m.end == e.psn && !m.is(msgLast|msgDone) {
			m.end, m.last = e.end(), e.time
			if f.Has(roce.FlagEnd) {
				m.flags |= msgLast
				r.countMessage(e)
			}
			return
		}
	}
	r.place(int(r.msgs.n), opened(e, f))
	if f.Has(roce.FlagEnd | roce.FlagRead) {
		r.countMessage(e)
	}
}

// place inserts a message and keeps the ring bounded: the oldest is forgotten,
// even when that is m itself. It returns where m lies.
func (r *requester) place(i int, m message) (at int, ok bool) {
	if r.msgs.n >= 4 && int(r.msgs.n) >= r.limit() {
		r.count().forgotten++
		if i == 0 {
			return 0, false
		}
		r.drop()
		i--
	}
	r.msgs.insert(i, m)
	return i, true
}

// drop forgets the oldest message.
func (r *requester) drop() {
	if m := r.msgs.at(0); m.is(msgAhead) {
		r.rsp.forget(m.start)
	}
	r.msgs.pop()
}

// anywhere adds a request that doesn't continue the sequence: it fills a gap,
// opens one, or repeats. Messages whose borders weren't seen are taken to be
// as long as what was seen of them, until a FIRST or LAST tells otherwise.
func (r *requester) anywhere(e *event, f roce.OpcodeFlags, resent bool) {
	i, found := r.msgs.find(e.psn)
	if !found {
		if r.haveAnswers && e.psn.Sub(r.una()) < 0 || i == 0 && r.counted().forgotten > 0 {
			return // finished or forgotten long ago
		}
		i = r.fillGap(i, e, f, resent)
	} else if !r.msgs.at(i).is(msgRead) {
		i = r.borders(i, e, f, resent)
	}
	if i < int(r.msgs.n) && resent {
		r.msgs.at(i).flags |= msgResent
		r.markResent(i, e)
	}
}

// markResent marks all messages that a resent READ covers.
func (r *requester) markResent(i int, e *event) {
	for ; i < int(r.msgs.n) && r.msgs.at(i).start.Sub(e.end()) < 0; i++ {
		r.msgs.at(i).flags |= msgResent
	}
}

func (r *requester) fillGap(i int, e *event, f roce.OpcodeFlags, resent bool) int {
	m := opened(e, f)
	if !m.is(msgRead) && !f.Has(roce.FlagStart) && i > 0 {
		if p := r.msgs.at(i - 1); !p.is(msgLast | msgRead | msgDone) {
			p.end = m.end
			if m.is(msgLast) {
				p.flags |= msgLast
				p.last = e.time
				r.countMessage(e)
			}
			return r.join(i-1, resent)
		}
	}
	i, ok := r.place(i, m)
	if !ok {
		return int(r.msgs.n)
	}
	if f.Has(roce.FlagEnd | roce.FlagRead) {
		r.countMessage(e)
	}
	return r.join(i, resent)
}

// join merges message i with the next when neither border between was seen. A
// message begins with the sighting of the packet that was sent first: the late
// one if it is late, what was seen before if it is sent again.
func (r *requester) join(i int, resent bool) int {
	m := r.msgs.at(i)
	if i+1 >= int(r.msgs.n) || m.is(msgLast|msgRead) {
		return i
	}
	if x := r.msgs.at(i + 1); !x.is(msgFirst | msgRead) {
		m.end, m.last = x.end, x.last
		m.flags |= x.flags
		if resent {
			m.tFirst = min(m.tFirst, x.tFirst)
		}
		r.msgs.remove(i + 1)
	}
	return i
}

// borders applies what a packet inside message i tells about its ends.
func (r *requester) borders(i int, e *event, f roce.OpcodeFlags, resent bool) int {
	m := r.msgs.at(i)
	if f.Has(roce.FlagStart) {
		if m.start != e.psn {
			right := *m
			right.start, right.tFirst, right.target = e.psn, e.time, e.target
			right.flags = right.flags&(msgLast|msgResent) | msgFirst
			right.kind(e)
			m.end = e.psn
			m.flags &^= msgLast
			r.place(i+1, right)
			i, _ = r.msgs.find(e.psn)
			m = r.msgs.at(i)
		} else if !m.is(msgFirst) {
			m.flags |= msgFirst
			m.target = e.target
			m.kind(e)
			if !resent {
				m.tFirst = e.time
			}
		}
	}
	if f.Has(roce.FlagEnd) {
		if m.end != e.end() {
			right := *m
			right.start = e.end()
			right.flags = right.flags & (msgLast | msgResent)
			m.end, m.last = e.end(), e.time
			m.flags |= msgLast
			r.countMessage(e)
			r.place(i+1, right)
			i, _ = r.msgs.find(e.psn)
		} else if !m.is(msgLast) {
			m.flags |= msgLast
			m.last = e.time
			r.countMessage(e)
		}
	}
	return i
}
