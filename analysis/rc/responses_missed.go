package rc

import "rdmascope/decode/roce"

// What runs of responses leave out, and what becomes of it.

// unasked notes a response to a request that wasn't seen.
func (q *responses) unasked(psn roce.PSN) {
	if n := len(q.ahead); n > 0 && q.ahead[n-1].hi == psn {
		q.ahead[n-1].hi = psn.Add(1)
		return
	}
	q.ahead = keepNewest(q.ahead, span{psn, psn.Add(1)}, maxAhead)
}

// leftOut finds what was sent before psn, which begins a run or goes on with
// one behind a gap, and not seen.
func (q *responses) leftOut(r *requester, psn roce.PSN) {
	if !q.have {
		q.high = psn
		if len(q.asked) > 0 {
			q.high = q.asked[0].lo
		}
		q.next, q.end = q.high, q.high
	}
	if q.next.Sub(q.end) < 0 { // the rest of an operation always follows
		s := span{q.next, q.end}
		if s.has(psn) {
			s.hi = psn
		}
		q.miss(r, s)
		if psn.Sub(q.next) > 0 && psn.Sub(q.end) < 0 {
			return
		}
		if q.end.Sub(q.high) > 0 {
			q.high = q.end
		}
	}
	if psn.Sub(q.high) >= 0 {
		q.neverSeen(r, span{q.high, psn})
		return
	}
	// Sent before: the run began with one of the requests, at the nearest PSN.
	from := psn.Add(-1 << 20)
	for _, s := range q.asked {
		if s.has(psn) && s.lo.Sub(from) > 0 {
			from = s.lo
		}
	}
	if from != psn && from != psn.Add(-1<<20) {
		q.miss(r, span{from, psn})
	}
}

// neverSeen: a responder executes requests in order, so READs in front of the
// first response to a later one have all been answered (IBTA 9.7.4.1).
func (q *responses) neverSeen(r *requester, s span) {
	for i, _ := r.msgs.find(s.lo); i < int(r.msgs.n); i++ {
		m := r.msgs.at(i)
		if m.start.Sub(s.hi) >= 0 {
			return
		}
		if !m.is(msgRead) || m.is(msgDone) {
			continue
		}
		x := m.span()
		if x.lo.Sub(s.lo) < 0 {
			x.lo = s.lo
		}
		if x.hi.Sub(s.hi) > 0 {
			x.hi = s.hi
		}
		q.miss(r, x)
	}
}

// operation returns the PSN behind the operation that psn answers.
func (q *responses) operation(r *requester, psn roce.PSN) roce.PSN {
	if i, ok := r.msgs.find(psn); ok && r.msgs.at(i).is(msgRead) {
		return r.msgs.at(i).end
	}
	for i := len(q.asked) - 1; i >= 0; i-- {
		if q.asked[i].has(psn) {
			return q.asked[i].hi
		}
	}
	return psn.Add(1)
}

// miss notes what a run left out.
func (q *responses) miss(r *requester, s span) {
	if s.len() <= 0 {
		return
	}
	r.troubled()
	for i := 0; i < len(q.odd); i++ {
		x := q.odd[i]
		if !s.has(x.lo) {
			continue
		}
		q.odd = append(q.odd[:i], q.odd[i+1:]...)
		q.miss(r, span{s.lo, x.lo})
		if x.corrupt {
			q.leave(x)
		}
		q.miss(r, span{x.hi, s.hi})
		return
	}
	q.leave(missed{span: s})
}

// noteOdd keeps a response that came, but not as one of its run.
func (q *responses) noteOdd(psn roce.PSN, corrupt bool) {
	if len(q.odd) >= maxOdd {
		q.odd = q.odd[:copy(q.odd, q.odd[maxOdd/2:])]
	}
	q.odd = append(q.odd, missed{span{psn, psn.Add(1)}, corrupt})
}

func (q *responses) leave(m missed) {
	if len(q.missed) >= maxHoles {
		q.missed = append(q.missed[:0], q.missed[1:]...)
	}
	q.missed = append(q.missed, m)
}

func (q *responses) missing(psn roce.PSN) bool {
	for _, m := range q.missed {
		if m.has(psn) && !m.corrupt {
			return true
		}
	}
	return false
}

func (q *responses) askedTwice(psn roce.PSN) bool {
	n := 0
	for _, s := range q.asked {
		if s.has(psn) {
			n++
		}
	}
	return n > 1
}

// cameLate: a response that others overtook before the tap. Had it been asked
// again meanwhile, that wasn't for a loss.
func (q *responses) cameLate(r *requester, psn roce.PSN) {
	switch {
	case q.missing(psn):
		q.heal(psn)
	case !q.uncount(r, psn):
		q.noteOdd(psn, false)
	}
	t := r.troubled()
	for _, ep := range t.open {
		if ep.psn == psn && ep.response && ep.verdict == LostUpstream {
			ep.verdict = LostReorder
		}
	}
	t.rspReorders = true
}

// uncount takes back that psn was lost.
func (q *responses) uncount(r *requester, psn roce.PSN) bool {
	for i := len(q.counted) - 1; i >= 0; i-- {
		s := q.counted[i]
		if !s.has(psn) {
			continue
		}
		r.count().respLostUp--
		q.counted[i].hi = psn
		q.counted = keepNewest(q.counted, span{psn.Add(1), s.hi}, 2*maxHoles)
		return true
	}
	return false
}

// spoil: a response with a bad iCRC fills its place, and the requester has
// nothing of it. Overtaken by others it is what was missed, or told as lost.
func (q *responses) spoil(r *requester, e *event) {
	switch {
	case q.missing(e.psn):
		q.heal(e.psn)
		q.leave(missed{span{e.psn, e.psn.Add(1)}, true})
		return
	case e.has(evLate) && q.uncount(r, e.psn):
		return
	}
	for _, s := range q.asked {
		if s.has(e.psn) {
			q.noteOdd(e.psn, true)
			return
		}
	}
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
	missing := m.end.Sub(m.got())
	if m.is(msgAhead) {
		a := q.aheadOf(m)
		missing -= int32(a.uncounted) + a.spans[0].len() + a.spans[1].len()
	}
	r.count().unseenResponses += uint64(max(missing, 0))
	kept := q.missed[:0]
	for _, h := range q.missed {
		if !h.overlaps(m.span()) {
			kept = append(kept, h)
		}
	}
	q.missed = kept
	m.flags |= msgDone
}
