package rc

import "rdmascope/decode/roce"

// responses follows what a responder sends back for READs and atomics. It
// answers each request by one run of PSNs upward, the repeated ones too, and
// all of a run before the next. What a run leaves out was sent, and lost before
// the tap if the requester asks for it again; else the capture missed it.
type responses struct {
	have    bool
	next    roce.PSN  // what the run at hand continues with
	end     roce.PSN  // behind the last PSN of its operation
	high    roce.PSN  // behind the highest response seen
	asked   []span    // the newest requests
	runs    []run     // what came since the requester last stepped back to a READ
	backTo  backTo    // … and where to
	claim   backTo    // the response told as lost behind the tap that wasn't seen again yet
	missed  []missed  // left out by the newest run over it
	counted []span    // of what was missed, told as lost: should it come late
	ahead   []span    // came before a request for them was seen
	odd     []missed  // with a bad iCRC or overtaken by others, and their run hasn't gone on yet
	late    []ahead   // READs that responses came for out of turn
	before  sentFlags // what had become of the response to the request at hand
}

// ahead is what was seen of a READ beyond the first response that is missing.
type ahead struct {
	start     roce.PSN // of the READ
	spans     [2]span
	uncounted uint16 // responses that spans has no room for
}

// responses returns what follows the responses, and makes it if need be.
func (r *requester) responses() *responses {
	if r.rsp == nil {
		r.rsp = new(responses)
	}
	return r.rsp
}

// missed is what a run left out.
type missed struct {
	span
	corrupt bool // it came, with a bad iCRC
}

const (
	maxHoles   = 64
	maxAsked   = 128
	maxRuns    = 64
	maxOdd     = 16
	maxAhead   = 16
	readGiveUp = 16 // operations finished behind a READ that misses responses
)

// arrive takes a READ response or an atomic ACK.
func (q *responses) arrive(r *requester, e *event) {
	i, found := r.msgs.find(e.psn)
	if !found || !r.msgs.at(i).is(msgRead) {
		if r.have && e.psn.Sub(r.firstPSN) >= 0 && e.psn.Sub(r.next) < 0 {
			r.answeredAgain(e.num)
		}
		q.follow(r, e)
		return
	}
	q.follow(r, e)
	m := r.msgs.at(i)
	if !q.take(m, e.psn) {
		r.answeredAgain(e.num)
		return
	}
	r.readProgress(i, m, e)
}

// readProgress takes the latencies of a READ or an atomic.
func (r *requester) readProgress(i int, m *message, e *event) {
	if m.is(msgOther) {
		if m.got() == m.end {
			r.finishRead(i, m)
		}
		return
	}
	kind := LatencyReadLast
	if m.is(msgAtomic) {
		kind = LatencyAtomic
	} else if e.psn == m.start && !m.is(msgAnswered) {
		m.flags |= msgAnswered
		r.measure(LatencyReadFirst, m.tFirst, e.time)
		if m.is(msgResent) {
			r.count().firstRecovered++
		}
	}
	if m.got() == m.end {
		r.measure(kind, m.tFirst, e.time)
		if m.is(msgResent) {
			if c := r.count(); kind == LatencyAtomic {
				c.atomicRecoverd++
			} else {
				c.lastRecovered++
			}
		}
		r.finishRead(i, m)
	} else if e.psn.Add(1) == m.end {
		r.skipped(i)
	}
}

func (r *requester) finishRead(i int, m *message) {
	m.flags |= msgDone
	r.skipped(i)
}

// skipped counts, for the READs that miss responses, the later operations that
// came to their end meanwhile.
func (r *requester) skipped(i int) {
	for k := range i {
		if x := r.msgs.at(k); x.is(msgRead) && !x.is(msgDone) && x.skips < 255 {
			x.skips++
		}
	}
}

// take notes the response to m at psn; false when it had been seen before.
func (q *responses) take(m *message, psn roce.PSN) bool {
	got := m.got()
	if psn.Sub(got) < 0 {
		return false
	}
	if psn == got {
		m.setGot(psn.Add(1))
		if m.is(msgAhead) {
			q.absorb(m)
		}
		return true
	}
	a := q.aheadOf(m)
	for k := range a.spans {
		s := &a.spans[k]
		switch {
		case s.has(psn):
			return false
		case !s.empty() && s.hi == psn:
			s.hi = psn.Add(1)
			return true
		case s.empty():
			*s = span{psn, psn.Add(1)}
			return true
		}
	}
	if a.uncounted < 1<<16-1 {
		a.uncounted++ // more holes than are remembered: the resent run closes them
	}
	return true
}

// aheadOf returns what was seen of m ahead of its turn.
func (q *responses) aheadOf(m *message) *ahead {
	for i := range q.late {
		if q.late[i].start == m.start {
			return &q.late[i]
		}
	}
	m.flags |= msgAhead
	q.late = append(q.late, ahead{start: m.start})
	return &q.late[len(q.late)-1]
}

// forget drops what was seen ahead of a READ that is over.
func (q *responses) forget(start roce.PSN) {
	for i := range q.late {
		if q.late[i].start == start {
			q.late = append(q.late[:i], q.late[i+1:]...)
			return
		}
	}
}

// absorb moves got over what was seen ahead of it.
func (q *responses) absorb(m *message) {
	a := q.aheadOf(m)
	for k := range a.spans {
		if s := &a.spans[k]; !s.empty() && m.got().Sub(s.lo) >= 0 {
			if s.hi.Sub(m.got()) > 0 {
				m.setGot(s.hi)
			}
			s.lo, s.hi = 0, 0
		}
	}
	if a.spans[0].empty() && !a.spans[1].empty() {
		a.spans[0], a.spans[1] = a.spans[1], span{}
	}
}

// ask notes a READ or atomic request. What was left out and is asked for again
// was lost before the tap.
func (q *responses) ask(r *requester, e *event) {
	s := span{e.psn, e.end()}
	q.before = 0
	for i := 0; i < len(q.missed); i++ {
		m := &q.missed[i]
		if !m.overlaps(s) {
			continue
		}
		q.before |= m.fate(e.psn)
		again := m.span
		if s.lo.Sub(m.lo) > 0 { // what is below, the requester has
			again.lo = s.lo
		}
		if !m.corrupt {
			q.count(r, again)
		}
		m.hi = again.lo
		if m.empty() {
			q.missed = append(q.missed[:i], q.missed[i+1:]...)
			i--
		}
	}
	last := r.next
	if r.t != nil {
		last = r.t.sentEnd
	}
	if q.have && !e.has(evLate) && e.psn.Sub(last) < 0 && e.psn.Sub(r.next) < 0 {
		if q.before == 0 {
			q.before = q.fate(r, e)
		}
		q.withdraw(r, e.psn)
		if q.before&sentAnswered != 0 {
			q.claim = backTo{e.psn, true}
		}
		q.runs = q.runs[:0]
		q.backTo = backTo{psn: e.psn, valid: true}
	}
	q.asked = keepNewest(q.asked, s, maxAsked)
}

// count counts responses lost before the tap.
func (q *responses) count(r *requester, s span) {
	r.count().respLostUp += uint64(s.len())
	q.counted = keepNewest(q.counted, s, maxHoles)
}

func (m *missed) fate(psn roce.PSN) sentFlags {
	switch {
	case !m.has(psn):
		return 0
	case m.corrupt:
		return sentSpoiled
	}
	return sentMissed
}

// keepNewest adds s; of more than limit spans the older half is forgotten.
func keepNewest(v []span, s span, limit int) []span {
	if len(v) >= limit {
		v = v[:copy(v, v[limit/2:])]
	}
	return append(v, s)
}

// follow compares a response with the run at hand.
func (q *responses) follow(r *requester, e *event) {
	psn := e.psn
	if e.has(evLate) || q.have && psn.Sub(q.next) < 0 && q.missing(psn) && !q.askedTwice(psn) {
		q.note(e, true)
		q.cameLate(r, psn)
		return
	}
	q.note(e, false)
	if r.have && psn.Sub(r.next) >= 0 {
		q.unasked(psn)
	}
	if !q.have || psn != q.next || psn.Sub(q.end) >= 0 {
		q.leftOut(r, psn)
		q.end = q.operation(r, psn)
	}
	if q.missing(psn) { // in an earlier run
		q.count(r, span{psn, psn.Add(1)})
	}
	q.heal(psn)
	q.have, q.next = true, psn.Add(1)
	if q.next.Sub(q.high) > 0 {
		q.high = q.next
	}
}

// rebuild renews what was asked when the path MTU becomes known.
func (q *responses) rebuild(r *requester) {
	q.asked = q.asked[:0]
	for i := range int(r.msgs.n) {
		if m := r.msgs.at(i); m.is(msgRead) && !m.is(msgDone) {
			q.asked = keepNewest(q.asked, m.span(), maxAsked)
		}
	}
}

func (q *responses) clone() *responses {
	if q == nil {
		return nil
	}
	c := *q
	c.asked = append([]span(nil), q.asked...)
	c.runs = append([]run(nil), q.runs...)
	c.missed = append([]missed(nil), q.missed...)
	c.counted = append([]span(nil), q.counted...)
	c.ahead = append([]span(nil), q.ahead...)
	c.odd = append([]missed(nil), q.odd...)
	c.late = append([]ahead(nil), q.late...)
	return &c
}
