package rc

import "rdmascope/decode/roce"

// requester follows the send queue of one queue pair: its requests travel on
// its own flow, the responses to them on the paired one. It is fed in capture
// order. Everything that only matters when something went wrong lives in
// trouble, which is allocated then.
type requester struct {
	// What every packet touches comes first: with many connections a packet
	// costs what its cache lines cost.
	have        bool // a request was seen
	haveAnswers bool // a response was seen
	oneWay      bool // the partner is not known and its responses never came
	uc          bool
	cutReads    bool     // a READ was cut before its length: how many PSNs it takes isn't known
	early       bool     // the request at hand was sent before the first one seen
	lastIPID    uint16   // of the newest request of a clean sequence
	next        roce.PSN // behind the highest request seen
	cov         roce.PSN // behind the highest PSN that a response covers
	pmtu        uint32   // seen on the wire; 0: not yet
	lastTime    int64    // newest request
	answerTime  int64    // newest response
	progress    int64    // newest response that acknowledged something
	t           *trouble
	order       orderCheck
	msgs        messageRing
	rules       conformance
	lat         [latencyKinds]*sketch
	size        uint64 // of the newest message
	sameSize    uint32 // messages of that size in a row, which sizes doesn't have yet
	tap         tapResponder
	c           counters
	sizes       *sizeHistogram
	cm          *CMSide

	firstPSN  roce.PSN
	firstIPID uint16 // of the first request seen
	hint      uint32 // path MTU that CM or the other direction tells
	rsp       responses
	flow      int32 // its number, for Options.Paused
	pausedNS  int64 // of the latencies of whole operations
}

// counters are figures that only grow.
type counters struct {
	messages, acks                                uint64
	maxOutstanding, maxReads, reads               uint32
	copyAnswersDue                                uint32
	rnrNAKs, reservedNAKs                         uint64
	naks                                          [5]uint64
	repeated                                      uint64
	coalesced, ackCoalesced, messageRecovered     uint64
	firstRecovered, lastRecovered, atomicRecoverd uint64
	retransmitted, retransmittedBytes             uint64
	outOfOrder                                    uint64
	unseenRequests, unseenResponses               uint64
	lostUp, lostDown, respLostUp, respLostDown    uint64
	corrupt, forgotten, creditZero, ucGaps        uint64
	networkCopies                                 uint64
}

func (r *requester) limit() int {
	if r.uc {
		return 4
	}
	if r.oneWay {
		return min(64, r.opt().MaxOutstanding)
	}
	return r.opt().MaxOutstanding
}

// opt is replaced by the shard's options: one requester needs no copy of them.
func (r *requester) opt() *Options { return r.order.opt }

// una returns the oldest PSN that isn't acknowledged: that of an unfinished
// READ or atomic, which no later ACK finishes (IBTA 9.7.5.1.2), else what
// follows the highest acknowledged one.
func (r *requester) una() roce.PSN {
	if r.msgs.n > 0 {
		if m := r.msgs.at(0); m.is(msgRead) && m.got.Sub(r.cov) < 0 {
			return m.got
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
		if r.pmtu == 0 && r.hint == 0 {
			r.rsp.guessed = true
		}
		e.n = packets(e.dma, r.mtu())
	}
	if !r.have {
		r.begin(e)
	} else if r.rsp.guessed && e.psn != r.next {
		r.settleMTU(e)
	}
	d := e.psn.Sub(r.next)
	if f.Has(roce.FlagRead) {
		r.c.reads++
		r.rsp.ask(r, e)
	}
	if d == 0 && r.t == nil {
		r.rules.inSequence(r, e, f)
		r.inOrder(e, f)
		r.next = e.end()
		r.tap.advance(e)
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
	r.tap.expect = e.psn
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
	late := r.order.usable() && serial16(e.ipid, t.maxIPID) < 0
	s := r.sentOf(e, f, late)
	if late && serial16(e.ipid, r.firstIPID) < 0 && e.psn.Sub(r.firstPSN) < 0 {
		r.beforeFirst(e)
	}
	if d == 0 {
		r.rules.inSequence(r, e, f)
		r.inOrder(e, f)
	} else {
		r.rules.jump()
		if d < 0 {
			r.psnReused(e, f)
		}
		r.anywhere(e, f, d < 0 && !r.early && r.resentNow(e, late))
	}
	if e.end().Sub(r.next) > 0 {
		r.next = e.end()
	}
	r.rsp.sentEnd = e.end()
	r.tap.arrive(r, e, late)
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
	r.tap.predict(prediction{psn: e.psn, time: r.progress, valid: true, late: true})
	r.tap.expect = e.psn
	if r.firstPSN.Sub(r.cov) >= 0 && e.psn.Sub(r.cov) < 0 {
		r.cov = e.psn
	}
	r.firstPSN, r.firstIPID = e.psn, e.ipid
	r.early = true
}

// ucRequest: UC numbers its packets but nothing acknowledges or resends them;
// a gap is a lost message (IBTA 9.8.2.2).
func (r *requester) ucRequest(e *event, f roce.OpcodeFlags, d int32) {
	if d > 0 {
		r.c.ucGaps += uint64(d)
	}
	if d < 0 {
		r.c.outOfOrder++
		return
	}
	r.inOrder(e, f)
	r.next = e.end()
	r.lastTime = e.time
}

// corruptRequest: a packet with a bad iCRC changes no state. But if its PSN is
// a plausible one it stands for a packet that the sender did send.
func (r *requester) corruptRequest(e *event) {
	r.c.corrupt++
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
	s := r.sentOf(e, e.opFlags(), r.order.usable() && serial16(e.ipid, t.maxIPID) < 0)
	s.flags |= sentCorrupt
	t.push(r, &s)
}

// outstanding notes the largest window: packets between the oldest
// unacknowledged PSN and the newest request.
func (r *requester) outstanding(e *event) {
	if r.oneWay {
		return
	}
	if n := r.next.Sub(r.una()); n > 0 && uint32(n) > r.c.maxOutstanding {
		r.c.maxOutstanding = uint32(n)
		r.order.sightings.grow(uint32(n), copySlotsClean)
	}
	if r.c.reads > r.c.maxReads {
		n := uint32(0)
		for i := range r.msgs.n {
			if m := r.msgs.at(i); m.is(msgRead) && !m.is(msgDone) {
				n++
			}
		}
		r.c.reads = n
		r.c.maxReads = max(r.c.maxReads, n)
		if r.cm != nil && r.cm.Depth > 0 && n > uint32(r.cm.Depth) {
			r.rules.hit(RuleReadDepth, e.num)
		}
	}
}

// counted counts a message whose last packet was seen for the first time.
func (r *requester) counted(e *event) {
	r.c.messages++
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
	case r.hint != 0:
		return r.hint
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
		r.rules.hit(RulePMTU, e.num)
	}
}

// setMTU corrects the PSNs of READs that were asked before it was known.
func (r *requester) setMTU(pmtu uint32) {
	r.pmtu = pmtu
	if !r.rsp.guessed {
		return
	}
	r.rsp.guessed = false
	for i := range r.msgs.n {
		m := r.msgs.at(i)
		if !m.is(msgRead) || m.is(msgAtomic|msgOther) {
			continue
		}
		end := m.start.Add(int64(packets(m.dma, pmtu)))
		if r.next == m.end {
			r.next = end
			if r.tap.expect == m.end {
				r.tap.expect = end
			}
			if r.t != nil && r.t.next == m.end {
				r.t.next = end
			}
		}
		m.end = end
	}
	r.rsp.rebuild(r)
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
		last = r.t.maxIPID
	}
	if r.order.usable() && e.ipid-last != 1 {
		return // a packet between them may be missing
	}
	n := uint32(e.psn.Sub(m.start))
	for code := roce.MTU(1); code <= 5; code++ {
		if b := uint32(code.Bytes()); packets(m.dma, b) == n && n > 1 {
			r.setMTU(b)
			if e.op.Operation() == roce.OperationReadRequest {
				e.n = packets(e.dma, b)
			}
			return
		}
	}
}
