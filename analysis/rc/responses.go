package rc

import "rdmascope/decode/roce"

// responses follows what a responder sends back for READs and atomics. It
// answers requests one after the other, also those that ask again, each by a
// run of PSNs upward. What a run skips was lost before the tap if it was or is
// asked again; else the capture missed it.
type responses struct {
	have    bool
	guessed bool      // a READ was counted before the path MTU was known
	next    roce.PSN  // what the run continues with
	high    roce.PSN  // behind the highest response seen
	due     []span    // what was asked for, in order; due[0] is being answered
	begun   bool      // a response to due[0] was seen
	missed  []missed  // skipped by the newest run over them
	want    roce.PSN  // with waiting: the response that the requester asked for again
	waiting uint16    // responses for which want is still believed; 0: not waiting
	before  sentFlags // what had become of the response to the request at hand
}

// missed is what a run skipped.
type missed struct {
	span
	lost      bool // asked again, and counted
	discarded bool // seen, but an earlier one was missing then: a requester takes responses in order only
}

const (
	maxHoles   = 64
	maxDue     = 256
	maxWaiting = 1024
	readGiveUp = 16 // operations finished behind a READ that misses responses
)

// arrive takes a READ response or an atomic ACK.
func (q *responses) arrive(r *requester, e *event) {
	i, found := r.msgs.find(e.psn)
	if !found || !r.msgs.at(i).is(msgRead) {
		if r.have && e.psn.Sub(r.firstPSN) >= 0 && e.psn.Sub(r.next) < 0 {
			r.c.repeated++
		}
		q.follow(r, e)
		return
	}
	q.follow(r, e)
	m := r.msgs.at(i)
	if !m.take(e.psn) {
		r.c.repeated++
		return
	}
	r.readProgress(i, m, e)
}

// readProgress takes the latencies of a READ or an atomic.
func (r *requester) readProgress(i int, m *message, e *event) {
	if m.is(msgOther) {
		if m.got == m.end {
			r.finishRead(i, m)
		}
		return
	}
	kind := LatencyReadLast
	recovered := &r.c.lastRecovered
	if m.is(msgAtomic) {
		kind, recovered = LatencyAtomic, &r.c.atomicRecoverd
	} else if e.psn == m.start && !m.is(msgAnswered) {
		m.flags |= msgAnswered
		r.measure(LatencyReadFirst, m.tFirst, e.time)
		if m.is(msgResent) {
			r.c.firstRecovered++
		}
	}
	if m.got == m.end {
		r.measure(kind, m.tFirst, e.time)
		if m.is(msgResent) {
			*recovered++
		}
		r.finishRead(i, m)
	}
}

func (r *requester) finishRead(i int, m *message) {
	m.flags |= msgDone
	for k := range i {
		if x := r.msgs.at(k); x.is(msgRead) && !x.is(msgDone) && x.skips < 255 {
			x.skips++
		}
	}
}

// take notes the response at psn; false when it had been seen before.
func (m *message) take(psn roce.PSN) bool {
	if psn.Sub(m.got) < 0 {
		return false
	}
	if psn == m.got {
		m.got = psn.Add(1)
		m.absorb()
		return true
	}
	for k := range m.late {
		s := &m.late[k]
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
	return true // more holes than are remembered: the resent run closes them
}

// absorb moves got over what was seen ahead of it.
func (m *message) absorb() {
	for k := range m.late {
		if s := &m.late[k]; !s.empty() && m.got.Sub(s.lo) >= 0 {
			if s.hi.Sub(m.got) > 0 {
				m.got = s.hi
			}
			s.lo, s.hi = 0, 0
		}
	}
	if m.late[0].empty() && !m.late[1].empty() {
		m.late[0], m.late[1] = m.late[1], span{}
	}
}

// ask notes a READ or atomic request; what an earlier run skipped of it is
// proved lost now.
func (q *responses) ask(r *requester, e *event) {
	s := span{e.psn, e.end()}
	q.before = q.fate(e.psn)
	if len(q.due) >= maxDue {
		q.due = append(q.due[:0], q.due[1:]...)
		q.begun = false
	}
	q.due = append(q.due, s)
	for i := range q.missed {
		if m := &q.missed[i]; !m.lost && m.overlaps(s) {
			m.lost = true
			r.c.respLostUp += uint64(m.len())
		}
	}
	if q.have && s.lo.Sub(q.high) < 0 && s.lo.Sub(q.want) != 0 {
		q.want, q.waiting = s.lo, maxWaiting
	}
	if q.have && s.lo.Sub(q.high) < 0 && q.fate(s.lo)&sentDiscarded == 0 {
		if len(q.missed) >= maxHoles {
			q.missed = append(q.missed[:0], q.missed[1:]...)
		}
		q.missed = append(q.missed, missed{span: span{s.lo, q.high}, lost: true, discarded: true})
	}
}

// fate tells whether the newest run over psn showed its response, and if the
// requester could take it. An older run doesn't count: it was thrown away.
func (q *responses) fate(psn roce.PSN) sentFlags {
	if !q.have || psn.Sub(q.high) >= 0 {
		return 0
	}
	f := sentAnswered
	for _, m := range q.missed {
		switch {
		case !m.has(psn):
		case !m.discarded:
			return 0
		default:
			f = sentDiscarded
		}
	}
	if f == sentAnswered && psn.Sub(q.next) >= 0 {
		return 0
	}
	return f
}

// follow compares a response with what is due.
func (q *responses) follow(r *requester, e *event) {
	psn := e.psn
	end := psn.Add(1)
	if end.Sub(q.high) > 0 || !q.have {
		q.high = end
	}
	if e.has(evLate) {
		q.cameLate(r, psn)
		return
	}
	i := q.find(psn)
	if i < 0 { // not asked for, as far as was seen, or overtaken by others
		q.heal(psn)
		if !q.have {
			q.have, q.next = true, end
		}
		return
	}
	for ; i > 0; i-- { // the responder is done with those before
		if q.begun && q.next.Sub(q.due[0].hi) < 0 {
			q.skip(r, span{q.next, q.due[0].hi})
		}
		q.shift()
	}
	from := q.due[0].lo
	if q.begun {
		from = q.next
	}
	if from != psn {
		q.skip(r, span{from, psn})
	}
	q.heal(psn)
	q.outOfTurn(psn)
	q.have, q.begun, q.next = true, true, end
	if end == q.due[0].hi {
		q.shift()
	}
}

// cameLate: a response that others overtook before the tap. Had it been asked
// again meanwhile, that wasn't for a loss.
func (q *responses) cameLate(r *requester, psn roce.PSN) {
	for _, m := range q.missed {
		if m.has(psn) && m.lost && !m.discarded {
			r.c.respLostUp--
		}
	}
	q.heal(psn)
	if len(q.missed) < maxHoles { // the requester has no use for it any more
		q.missed = append(q.missed, missed{span: span{psn, psn.Add(1)}, lost: true, discarded: true})
	}
	t := r.troubled()
	for _, ep := range t.open {
		if ep.psn == psn && ep.response && ep.verdict == LostUpstream {
			ep.verdict = LostReorder
		}
	}
	t.rspReorders = true
}

// outOfTurn: while the requester waits for a response, later ones are thrown
// away (IBTA 9.7.5.1.2), new ones too.
func (q *responses) outOfTurn(psn roce.PSN) {
	if q.waiting == 0 {
		return
	}
	q.waiting--
	switch d := psn.Sub(q.want); {
	case d == 0:
		q.want = q.want.Add(1)
		if q.want.Sub(q.high) >= 0 {
			q.waiting = 0
		}
	case d > 0:
		if len(q.missed) >= maxHoles {
			q.missed = append(q.missed[:0], q.missed[1:]...)
		}
		q.missed = append(q.missed, missed{span: span{psn, psn.Add(1)}, lost: true, discarded: true})
	}
}

func (q *responses) shift() {
	q.due = q.due[:copy(q.due, q.due[1:])]
	q.begun = false
}

// find returns which of the requests that are due psn answers: the one at hand
// if it can, else the next that asks for it.
func (q *responses) find(psn roce.PSN) int {
	for i, s := range q.due {
		if s.has(psn) && !(i == 0 && q.begun && psn.Sub(q.next) < 0) {
			return i
		}
	}
	return -1
}

// skip notes what a run left out.
func (q *responses) skip(r *requester, s span) {
	r.troubled()
	m := missed{span: s}
	for _, d := range q.due[1:] {
		m.lost = m.lost || d.overlaps(s)
	}
	if m.lost {
		r.c.respLostUp += uint64(s.len())
	}
	if len(q.missed) >= maxHoles {
		q.missed = append(q.missed[:0], q.missed[1:]...)
	}
	q.missed = append(q.missed, m)
}

// heal takes psn out of what was missed: it came after all.
func (q *responses) heal(psn roce.PSN) {
	for i := 0; i < len(q.missed); i++ {
		m := q.missed[i]
		if !m.has(psn) {
			continue
		}
		right := m
		right.lo = psn.Add(1)
		q.missed[i].hi = psn
		if !right.empty() && len(q.missed) < 2*maxHoles {
			q.missed = append(q.missed, right)
		}
		if q.missed[i].empty() {
			q.missed = append(q.missed[:i], q.missed[i+1:]...)
			i--
		}
	}
}

// giveUp ends a READ that the requester evidently finished: what is missing
// was delivered and not captured.
func (q *responses) giveUp(r *requester, m *message) {
	missing := m.end.Sub(m.got)
	for _, s := range m.late {
		missing -= s.len()
	}
	r.c.unseenResponses += uint64(max(missing, 0))
	kept := q.missed[:0]
	for _, h := range q.missed {
		if !h.overlaps(m.span()) {
			kept = append(kept, h)
		}
	}
	q.missed = kept
	m.flags |= msgDone
}

// rebuild renews what is due when the path MTU becomes known.
func (q *responses) rebuild(r *requester) {
	q.due, q.begun = q.due[:0], false
	for i := range r.msgs.n {
		if m := r.msgs.at(i); m.is(msgRead) && !m.is(msgDone) {
			q.due = append(q.due, span{m.got, m.end})
		}
	}
}
