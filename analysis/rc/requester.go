package rc

import (
	"rdmascope/analysis/sketch"
	"rdmascope/decode/roce"
)

// requester follows the send queue of one queue pair: its requests travel on
// its own flow, the responses to them on the paired one. It is fed in capture
// order. Everything that only matters when something went wrong lives in
// trouble, which is allocated then. With many connections a packet costs what
// its cache lines cost: the first five are all that a clean one touches.
type requester struct {
	next           roce.PSN // behind the highest request seen
	cov            roce.PSN // behind the highest PSN that a response covers
	expect         roce.PSN // what the responder standing at the tap waits for
	pmtu           uint32   // seen on the wire; 0: not yet
	lastTime       int64    // newest request
	answerTime     int64    // newest response
	progress       int64    // newest response that acknowledged something
	t              *trouble
	lastIPID       uint16 // of the newest request of a clean sequence
	have           bool   // a request was seen
	haveAnswers    bool   // a response was seen
	oneWay         bool   // the partner is not known and its responses never came
	uc             bool
	sequence       sequence       // where in a message the newest request stands
	op             roce.Operation // of it
	left           uint32         // octets of the WRITE still to come
	maxOutstanding uint32

	reads, maxReads uint16
	lastPSN         roce.PSN // of the newest answer with an MSN
	messages        uint64
	size            uint64 // of the newest message
	sameSize        uint32 // messages of that size in a row, which sizes doesn't have yet
	id              int32  // of the flow, for Options.Paused
	msgs            messageRing

	acks    uint64
	opt     *Options
	lastMSN roce.MSN
	haveMSN bool
	copyDue bool       // copyAnswersDue isn't 0
	waiting uint8      // of the samples
	samples [26]uint32 // newest latencies: kind, and below it the ns

	// From here on what few packets touch.
	f                       *flow
	lat                     [latencyKinds]*sketch.Sketch
	sizes                   *sizeHistogram
	rsp                     *responses // of a requester that READs
	c                       *counters
	firstPSN                roce.PSN
	coalesced, ackCoalesced uint64
	pausedNS                int64  // of the latencies of whole operations
	firstIPID               uint16 // of the first request seen
	cutReads                bool   // a READ was cut before its length: how many PSNs it takes isn't known
	early                   bool   // the request at hand was sent before the first one seen
	guessed                 bool   // a READ was counted before the path MTU was known
}

// counters are figures of what doesn't happen to every connection.
type counters struct {
	copyAnswersDue                                uint32
	rnrNAKs, reservedNAKs                         uint64
	naks                                          [5]uint64
	repeated                                      uint64
	messageRecovered                              uint64
	firstRecovered, lastRecovered, atomicRecoverd uint64
	retransmitted, retransmittedBytes             uint64
	outOfOrder                                    uint64
	unseenRequests, unseenResponses               uint64
	lostUp, lostDown, respLostUp, respLostDown    uint64
	corrupt, forgotten, creditZero                uint64
	ucGaps, ucSkipped                             uint64
	networkCopies                                 uint64
	broken                                        []Violation
}

// count returns the counters to add to.
func (r *requester) count() *counters {
	if r.c == nil {
		r.c = new(counters)
	}
	return r.c
}

var noCounters counters

// counted returns the counters to be read only.
func (r *requester) counted() *counters {
	if r.c == nil {
		return &noCounters
	}
	return r.c
}

func (r *requester) limit() int {
	if r.uc {
		return 4
	}
	if r.oneWay {
		return min(64, r.opt.MaxOutstanding)
	}
	return r.opt.MaxOutstanding
}

// una returns the oldest PSN that isn't acknowledged: that of an unfinished
// READ or atomic, which no later ACK finishes (IBTA 9.7.5.1.2), else what
// follows the highest acknowledged one.
func (r *requester) una() roce.PSN {
	if r.msgs.n > 0 {
		if m := r.msgs.at(0); m.is(msgRead) && m.got().Sub(r.cov) < 0 {
			return m.got()
		}
	}
	return r.cov
}

// request takes the next request in capture order.
func (r *requester) request(e *event) {
	if e.has(evCorrupt) {
		r.corruptRequest(e)
		return
	}
	f := e.opFlags()
	if f.Has(roce.FlagFirst|roce.FlagMiddle) && e.has(evLen) {
		r.learnMTU(e)
	}
	if e.n == 0 {
		if !e.has(evReth) {
			r.cutReads = true
		}
		if r.pmtu == 0 && r.f.hint() == 0 {
			r.guessed = true
		}
		e.n = packets(e.dma, r.mtu())
	}
	if !r.have {
		r.begin(e)
	} else if e.psn != r.next && r.guessed {
		r.settleMTU(e)
	}
	d := e.psn.Sub(r.next)
	if f.Has(roce.FlagRead) {
		r.reads++
		r.responses().ask(r, e)
	}
	if d == 0 && r.t == nil {
		r.inSequence(e, f)
		r.inOrder(e, f)
		if r.next = e.end(); r.expect == e.psn {
			r.expect = r.next
		}
		r.lastTime = e.time
		r.lastIPID = e.ipid
		r.outstanding(e)
		return
	}
	r.outOfSequence(e, f, d)
}

func (r *requester) begin(e *event) {
	r.have, r.firstPSN, r.next = true, e.psn, e.psn
	r.firstIPID, r.lastTime = e.ipid, e.time
	r.expect = e.psn
	r.uc = e.has(evUC)
	if !r.haveAnswers || e.psn.Sub(r.cov) > 0 || r.cov.Sub(e.psn) > 1<<16 {
		r.cov = e.psn
	}
	r.progress = e.time
}

// outOfSequence takes a request that is no plain continuation, or any request
// of a sender in trouble.
func (r *requester) outOfSequence(e *event, f roce.OpcodeFlags, d int32) {
	if r.uc {
		r.ucRequest(e, f, d)
		return
	}
	t := r.troubled()
	late := r.f.order.usable() && serial16(e.ipid, t.maxIPID) < 0
	s := r.sentOf(e, f, late)
	if late && serial16(e.ipid, r.firstIPID) < 0 && e.psn.Sub(r.firstPSN) < 0 {
		r.beforeFirst(e)
	}
	if d == 0 {
		r.inSequence(e, f)
		r.inOrder(e, f)
	} else {
		r.sequence = sequenceUnknown
		if d < 0 {
			r.psnReused(e, f)
		}
		r.anywhere(e, f, d < 0 && !r.early && r.resentNow(e, late))
	}
	if e.end().Sub(r.next) > 0 {
		r.next = e.end()
	}
	t.sentEnd = e.end()
	t.tap.arrive(r, e, late)
	if late {
		t.lateArrival(r, e)
	} else {
		t.maxIPID = e.ipid
	}
	t.push(r, &s)
	r.lastTime = e.time
	r.outstanding(e)
}

// beforeFirst: a packet that was sent before the first one seen. The sequence
// begins with it, and to the responder the first one was out of sequence.
func (r *requester) beforeFirst(e *event) {
	r.t.tap.predict(prediction{psn: e.psn, time: r.progress, valid: true, late: true})
	r.expect = e.psn
	if r.firstPSN.Sub(r.cov) >= 0 && e.psn.Sub(r.cov) < 0 {
		r.cov = e.psn
	}
	r.firstPSN, r.firstIPID = e.psn, e.ipid
	r.early = true
}

// ucRequest: UC numbers its packets but nothing acknowledges or resends them;
// a gap is a lost message (IBTA 9.8.2.2), unless what is missing comes late.
func (r *requester) ucRequest(e *event, f roce.OpcodeFlags, d int32) {
	if d > 0 {
		c := r.count()
		c.ucGaps++
		c.ucSkipped += uint64(d)
	}
	if d < 0 {
		r.cameLate(e.num)
		return
	}
	r.inOrder(e, f)
	r.next = e.end()
	r.lastTime = e.time
}

// corruptRequest: a packet with a bad iCRC changes no state. But if its PSN is
// a plausible one it stands for a packet that the sender did send.
func (r *requester) corruptRequest(e *event) {
	r.count().corrupt++
	if !r.have || r.uc {
		return
	}
	d := e.psn.Sub(r.next)
	if d > 64 || e.psn.Sub(r.una()) < 0 {
		return
	}
	if e.n == 0 {
		e.n = packets(e.dma, r.mtu())
	}
	t := r.troubled()
	t.noteCorrupt(e.psn)
	s := r.sentOf(e, e.opFlags(), r.f.order.usable() && serial16(e.ipid, t.maxIPID) < 0)
	s.flags |= sentCorrupt
	t.push(r, &s)
}

// outstanding notes the largest window: packets between the oldest
// unacknowledged PSN and the newest request.
func (r *requester) outstanding(e *event) {
	if r.oneWay {
		return
	}
	if n := r.next.Sub(r.una()); n > 0 && uint32(n) > r.maxOutstanding {
		r.maxOutstanding = uint32(n)
		r.f.remember(uint32(n), sightingsClean)
	}
	if r.reads > r.maxReads {
		n := uint16(0)
		for i := range int(r.msgs.n) {
			if m := r.msgs.at(i); m.is(msgRead) && !m.is(msgDone) {
				n++
			}
		}
		r.reads = n
		r.maxReads = max(r.maxReads, n)
		if cm, ok := r.f.agreed(); ok && cm.Depth > 0 && n > uint16(cm.Depth) {
			r.hit(RuleReadDepth, e.num)
		}
	}
}

// countMessage counts a message whose last packet was seen for the first time.
func (r *requester) countMessage(e *event) {
	r.messages++
	if !e.has(evLen) {
		return // cut before the length
	}
	if e.n > 1 || e.op.Operation() == roce.OperationReadRequest {
		r.sized(uint64(e.dma))
		return
	}
	size := uint64(e.payload)
	if m := r.msgs.tail(); m != nil && m.end == e.end() {
		size += uint64(m.span().len()-1) * uint64(r.mtu())
	}
	r.sized(size)
}

// sized counts a message's size. Most are as large as the one before: those are
// counted here, and the histogram, which lies elsewhere, is left alone.
func (r *requester) sized(n uint64) {
	if n == r.size && r.sameSize > 0 && r.sameSize < 1<<31 {
		r.sameSize++
		return
	}
	if r.sameSize > 0 {
		if r.sizes == nil {
			r.sizes = new(sizeHistogram)
		}
		r.sizes.add(r.size, r.sameSize)
	}
	r.size, r.sameSize = n, 1
}

// messageSizes are the sizes of all messages; nil when there was none.
func (r *requester) messageSizes() *MessageSizes {
	if r.sameSize == 0 {
		return nil
	}
	var h sizeHistogram
	if r.sizes != nil {
		h = *r.sizes
	}
	h.add(r.size, r.sameSize)
	return &MessageSizes{h.min, h.max, h.sum, h.byLog}
}

const mtuGuess = 4096

// mtu returns the path MTU, or the largest there is, so that a READ isn't
// taken to reserve more PSNs than it does.
func (r *requester) mtu() uint32 {
	switch {
	case r.pmtu != 0:
		return r.pmtu
	case r.f.hint() != 0:
		return r.f.hint()
	}
	return mtuGuess
}

// learnMTU: FIRST and MIDDLE packets are as long as the path MTU (IBTA 9.7.3).
func (r *requester) learnMTU(e *event) {
	if e.payload == r.pmtu || e.payload == 0 {
		return
	}
	if _, ok := roce.MTUFromBytes(int(e.payload)); ok && r.pmtu == 0 {
		r.setMTU(e.payload)
	} else if r.pmtu != 0 {
		r.hit(RulePMTU, e.num)
	}
}

// setMTU corrects the PSNs of READs that were asked before it was known.
func (r *requester) setMTU(pmtu uint32) {
	r.pmtu = pmtu
	if !r.guessed {
		return
	}
	r.guessed = false
	for i := range int(r.msgs.n) {
		m := r.msgs.at(i)
		if !m.is(msgRead) || m.is(msgAtomic|msgOther) {
			continue
		}
		end := m.start.Add(int64(packets(m.dma(), pmtu)))
		if r.next == m.end {
			r.next = end
			if r.expect == m.end {
				r.expect = end
			}
			if r.t != nil && r.t.next == m.end {
				r.t.next = end
			}
		}
		m.end = end
	}
	r.responses().rebuild(r)
}

// settleMTU learns the path MTU from the request that follows a READ: its PSN
// tells how many packets the response takes.
func (r *requester) settleMTU(e *event) {
	m := r.msgs.tail()
	if m == nil || !m.is(msgRead) || m.is(msgAtomic|msgOther) || m.end != r.next {
		return
	}
	last := r.lastIPID
	if r.t != nil {
		if r.t.sentEnd != r.next {
			return // the READ isn't the newest request
		}
		last = r.t.maxIPID
	}
	if r.f.order.usable() && e.ipid-last != 1 {
		return // a packet between them may be missing
	}
	n := uint32(e.psn.Sub(m.start))
	for code := roce.MTU(1); code <= 5; code++ {
		if b := uint32(code.Bytes()); packets(m.dma(), b) == n && n > 1 {
			r.setMTU(b)
			if e.op.Operation() == roce.OperationReadRequest {
				e.n = packets(e.dma, b)
			}
			return
		}
	}
}

func (r *requester) clone() *requester {
	c := *r
	c.msgs = r.msgs.clone()
	c.rsp = r.rsp.clone()
	for i, s := range r.lat {
		c.lat[i] = s.Clone()
	}
	if r.sizes != nil {
		z := *r.sizes
		c.sizes = &z
	}
	if r.c != nil {
		k := *r.c
		k.broken = append([]Violation(nil), k.broken...)
		c.c = &k
	}
	c.t = r.t.clone()
	return &c
}
