package rc

import "rdmascope/decode/roce"

// responses follows what a responder sends back for READs and atomics. One run
// of it counts upward through the PSNs that requests reserved; asked again, it
// starts a new run. A PSN that a run skips was lost before the tap, unless the
// requester goes on as if it had it: then only the capture missed it.
type responses struct {
	have    bool
	asked   bool     // a READ was asked again and no response to it has come
	guessed bool     // a READ was counted before the path MTU was known
	next    roce.PSN // what the run continues with
	retry   roce.PSN // first PSN that was asked again
	high    roce.PSN // behind the highest response seen
	holes   []span   // skipped, not asked again so far
}

const (
	maxHoles   = 64
	readGiveUp = 16 // operations finished behind a READ that misses responses
)

// arrive takes a READ response or an atomic ACK.
func (q *responses) arrive(r *requester, e *event) {
	i, found := r.msgs.find(e.psn)
	if !found || !r.msgs.at(i).is(msgRead) {
		if r.have && e.psn.Sub(r.firstPSN) >= 0 && e.psn.Sub(r.next) < 0 {
			r.c.repeated++
		}
		q.follow(r, e.psn)
		return
	}
	q.follow(r, e.psn)
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
		r.measure(LatencyReadFirst, e.time-m.tFirst)
		if m.is(msgResent) {
			r.c.firstRecovered++
		}
	}
	if m.got == m.end {
		r.measure(kind, e.time-m.tFirst)
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

// follow compares a response with what the run continues with.
func (q *responses) follow(r *requester, psn roce.PSN) {
	if !r.have {
		return
	}
	end := psn.Add(1)
	if !q.have {
		q.have, q.next = true, q.start(r, psn)
	}
	switch d := psn.Sub(q.next); {
	case d > 0:
		q.skip(r, span{q.next, psn})
	case d < 0 && !q.asked && q.heal(psn):
		return // overtaken by others, not lost
	case d < 0 && q.asked && psn.Sub(q.retry) > 0:
		q.skip(r, span{q.retry, psn})
	}
	if psn.Sub(q.next) < 0 || psn == q.retry {
		q.asked = false
	}
	q.next = end
	if end.Sub(q.high) > 0 || q.high == 0 {
		q.high = end
	}
}

// start returns the PSN of the first response that is due.
func (q *responses) start(r *requester, psn roce.PSN) roce.PSN {
	for i := range r.msgs.n {
		if m := r.msgs.at(i); m.is(msgRead) && m.start.Sub(psn) <= 0 {
			return m.start
		}
	}
	return psn
}

// skip notes the PSNs in s that READs and atomics own: those of SENDs and
// WRITEs between have no response.
func (q *responses) skip(r *requester, s span) {
	for i := range r.msgs.n {
		m := r.msgs.at(i)
		if !m.is(msgRead) || !m.span().overlaps(s) {
			continue
		}
		h := m.span()
		if h.lo.Sub(s.lo) < 0 {
			h.lo = s.lo
		}
		if h.hi.Sub(s.hi) > 0 {
			h.hi = s.hi
		}
		r.troubled()
		if len(q.holes) >= maxHoles {
			q.holes = append(q.holes[:0], q.holes[1:]...)
		}
		q.holes = append(q.holes, h)
	}
}

// heal takes psn out of the holes.
func (q *responses) heal(psn roce.PSN) bool {
	for i, h := range q.holes {
		if !h.has(psn) {
			continue
		}
		right := span{psn.Add(1), h.hi}
		q.holes[i].hi = psn
		if !right.empty() {
			q.holes = append(q.holes, right)
		}
		if q.holes[i].empty() {
			q.holes = append(q.holes[:i], q.holes[i+1:]...)
		}
		return true
	}
	return false
}

// askedAgain: the requester sends a READ or atomic again; what is missing of
// its range was lost, not only unseen.
func (q *responses) askedAgain(r *requester, e *event) {
	asked := span{e.psn, e.end()}
	if !q.asked || e.psn.Sub(q.retry) < 0 {
		q.retry = e.psn
	}
	q.asked = true
	kept := q.holes[:0]
	for _, h := range q.holes {
		if !h.overlaps(asked) {
			kept = append(kept, h)
			continue
		}
		lost := h
		if lost.lo.Sub(asked.lo) < 0 {
			kept = append(kept, span{h.lo, asked.lo})
			lost.lo = asked.lo
		}
		if lost.hi.Sub(asked.hi) > 0 {
			kept = append(kept, span{asked.hi, h.hi})
			lost.hi = asked.hi
		}
		r.c.respLostUp += uint64(lost.len())
	}
	q.holes = kept
}

// giveUp ends a READ that the requester evidently finished: what is missing
// was delivered and not captured.
func (q *responses) giveUp(r *requester, m *message) {
	missing := m.end.Sub(m.got)
	for _, s := range m.late {
		missing -= s.len()
	}
	r.c.unseenResponses += uint64(max(missing, 0))
	for q.heal(m.got) {
		m.got = m.got.Add(1)
	}
	kept := q.holes[:0]
	for _, h := range q.holes {
		if !h.overlaps(m.span()) {
			kept = append(kept, h)
		}
	}
	q.holes = kept
	m.flags |= msgDone
}
