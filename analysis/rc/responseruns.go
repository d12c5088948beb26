package rc

import "rdmascope/decode/roce"

// run is a row of responses with consecutive PSNs, in the order of capture. An
// ACK is an empty one behind its PSN.
type run struct {
	span
	time int64 // of the newest
	late bool  // overtaken by others
}

// backTo is where a step back began, if there was one.
type backTo struct {
	psn   roce.PSN
	valid bool
}

// withdraw: the requester has what was told as lost, and it wasn't sent again:
// it came late, overtaken behind the tap.
func (q *responses) withdraw(r *requester, psn roce.PSN) {
	if !q.claim.valid || psn.Sub(q.claim.psn) <= 0 {
		return
	}
	q.claim.valid = false
	if r.t != nil {
		r.t.overtakenResponse(r, q.claim.psn)
	}
}

// overtakenResponse takes back that the response at psn was lost, told or to be
// told.
func (t *trouble) overtakenResponse(r *requester, psn roce.PSN) {
	for i := t.head; i < len(t.win); i++ {
		if w := &t.win[i]; w.psn == psn && w.is(sentRead) && w.is(sentAnswered) {
			w.flags = w.flags&^sentAnswered | sentDiscarded
		}
	}
	for _, ep := range t.open {
		switch {
		case ep.psn != psn || ep.before&sentAnswered == 0:
		case ep.verdict == lostUnknown:
			ep.before = sentDiscarded
		case ep.verdict == LostDownstream && ep.response:
			ep.verdict = LostReorder
			r.count().respLostDown--
		}
	}
}

// note adds a response to what came since the requester stepped back.
func (q *responses) note(e *event, late bool) {
	if q.claim.psn == e.psn {
		q.claim.valid = false
	}
	if n := len(q.runs); n > 0 && q.runs[n-1].hi == e.psn && q.runs[n-1].late == late {
		x := &q.runs[n-1]
		x.hi, x.time = e.psn.Add(1), e.time
		return
	}
	q.add(run{span{e.psn, e.psn.Add(1)}, e.time, late})
}

// noteAck adds an ACK.
func (q *responses) noteAck(e *event) {
	if !q.have {
		return
	}
	cov := e.psn.Add(1)
	if n := len(q.runs); n > 0 && q.runs[n-1].span == (span{cov, cov}) {
		return
	}
	q.add(run{span{cov, cov}, e.time, false})
}

func (q *responses) add(x run) {
	if len(q.runs) >= maxRuns {
		q.runs = q.runs[:copy(q.runs, q.runs[maxRuns/2:])]
		q.backTo = backTo{valid: true, psn: x.lo.Add(-1 << 22)}
	}
	q.runs = append(q.runs, x)
}

// fate tells what became of the response to a request that steps back to psn.
// The requester takes responses in order only (IBTA 9.7.5.1.2) and lacks psn
// alone: what came before it in PSN it has. So one that came when nothing
// below it was to come any more found the requester waiting for it, and was
// lost behind the tap. Any other was thrown away on arrival, or was on its way
// when the requester asked.
func (q *responses) fate(r *requester, e *event) sentFlags {
	psn := e.psn
	if psn.Sub(q.high) >= 0 {
		return 0
	}
	if r.una().Sub(psn) < 0 {
		return sentDiscarded // the first request of the step back is missing
	}
	for i := len(q.runs) - 1; i >= 0; i-- {
		switch x := &q.runs[i]; {
		case x.empty():
		case x.has(psn):
			quiet := e.time - x.time
			if (x.late || q.provoked(r, i, psn)) && quiet < r.halfTimeout() {
				return sentDiscarded
			}
			return sentAnswered
		case x.lo.Sub(psn) < 0:
			return sentDiscarded
		}
	}
	return sentDiscarded
}

// answeredTwice: what precedes psn had come in an earlier run, and later ones
// behind it: a request that the network doubled is answered twice.
func (q *responses) answeredTwice(i int, psn roce.PSN) bool {
	had := false
	for _, x := range q.runs[:i] {
		had = had || x.has(psn.Add(-1))
		if had && x.hi.Sub(psn) > 0 {
			return true
		}
	}
	return false
}

// provoked: a later response or ACK may have come after the last one below psn
// and before psn, which run i holds, and the requester have asked again for its
// sake. In a network that reorders it may even have come before those.
func (q *responses) provoked(r *requester, i int, psn roce.PSN) bool {
	reorders := r.t != nil && r.t.rspReorders
	inside := q.runs[i].lo.Sub(psn) < 0
	if inside && !reorders {
		return q.answeredTwice(i, psn)
	}
	for i--; i >= 0; i-- {
		switch x := &q.runs[i]; {
		case x.hi.Sub(psn) > 0:
			return true
		case !x.empty() && !reorders:
			return false
		}
	}
	return q.backTo.valid && (q.backTo.psn != psn || inside)
}
