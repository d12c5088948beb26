package rc

import "rdmascope/decode/roce"

// runAnswers sums up how a resent run was answered. With no NAK to name the
// lost packet, the answers do: a responder answers what it has by its newest
// PSN, and what is new to it as ever.
type runAnswers struct {
	n        uint32   // answers
	first    roce.PSN // highest PSN that the first one acknowledges
	same     uint32   // answers equal to the first one in a row
	steps    uint32   // answers that acknowledged more than the one before
	dupTop   uint32   // repeated answers for the newest PSN sent before the run
	data     uint32   // READ responses and atomic ACKs
	sawFirst bool     // the response at the first PSN of a READ
	closed   bool     // the row of equal first answers is over
}

// answerRun adds a response to the newest run.
func (t *trouble) answerRun(r *requester, ep *episode, s *sent) {
	if ep.verdict != lostUnknown || s.num <= ep.num {
		return
	}
	a := &ep.answers
	if s.is(sentData) {
		a.data++
		if s.psn == ep.psn {
			a.sawFirst = true
		}
		if ep.read && s.una.Sub(ep.psn) > 0 {
			t.judge(r, ep)
		}
		return
	}
	if s.is(sentRNR) || s.syn.Kind() == roce.SyndromeNAK && s.syn.NAKCode() != roce.NAKSequenceError {
		return
	}
	y := s.psn
	if s.is(sentNAK) {
		y = s.psn.Add(-1)
	}
	if y.Sub(ep.top) >= 0 { // acknowledges new data: the run is answered
		t.judge(r, ep)
		return
	}
	a.n++
	switch {
	case a.n == 1:
		a.first, a.same = y, 1
	case y == a.first && !a.closed:
		a.same++
	default:
		a.closed = true
	}
	if s.is(sentProgress) {
		a.steps++
	} else if y == ep.top.Add(-1) {
		a.dupTop++
	}
	if s.is(sentNAK) {
		t.judge(r, ep)
	}
}

// judge gives the verdict on a step back that no NAK explains.
func (t *trouble) judge(r *requester, ep *episode) {
	if ep.verdict != lostUnknown {
		return
	}
	a := &ep.answers
	switch {
	case ep.read:
		t.judgeRead(r, ep)
	case ep.una.Sub(ep.end) >= 0 || ep.una.Sub(ep.top) >= 0:
		ep.verdict = LostAck // all of it was acknowledged at the tap
	case ep.expect.Sub(ep.top) < 0 && ep.expect.Sub(ep.psn) >= 0:
		t.lostBefore(r, ep, ep.expect)
	case a.n == 0:
		return // the next answered run tells
	case r.coalesced > 0 && ep.packets > 1:
		ep.verdict = LostUndetermined // a responder that merges its answers can't be counted on
	case a.first == ep.top.Add(-1):
		t.judgeTop(r, ep)
	case a.dupTop > 0 && a.steps > 0:
		ep.verdict = LostNone // the answers were late: the original ones, then those to the duplicates
	default:
		x := ep.psn
		if !(ep.haveAsked && a.first == ep.askedEnd && (a.same == 1 || a.first == ep.psn)) {
			x = a.first.Add(1)
		}
		t.lostAt(r, ep, x)
	}
	t.inherit(r, ep)
}

// judgeTop: the first answer covers everything sent before. Duplicates are
// answered one by one, new packets once.
func (t *trouble) judgeTop(r *requester, ep *episode) {
	switch a := &ep.answers; {
	case ep.top.Sub(ep.psn) <= 1 || ep.packets-ep.reads <= 1:
		ep.verdict = LostUndetermined // one packet and one answer: either was lost
	case a.n > 1:
		ep.verdict = LostAck
		if a.steps > 1 {
			ep.verdict = LostNone
		}
	default:
		t.lostAt(r, ep, ep.psn)
	}
}

// judgeRead: a READ asked again. A response that the requester waited for when
// it passed was lost behind the tap. When a later one was seen the missing one
// was lost before it. When none was, one lost request explains it as several
// lost responses would not; with a single response nothing tells them apart.
func (t *trouble) judgeRead(r *requester, ep *episode) {
	switch {
	case ep.before&sentSpoiled != 0:
		ep.verdict, ep.response = LostCorrupt, true
	case ep.before&sentMissed != 0:
		ep.verdict, ep.response = LostUpstream, true
	case ep.before&sentAnswered != 0:
		ep.verdict, ep.response = LostDownstream, true
		r.count().respLostDown++
	case ep.before&sentDiscarded != 0:
		ep.verdict = LostNone // out of its turn when it came
		if t.rspReorders {
			ep.verdict = LostReorder
		}
	case ep.trigger == triggerImplied:
		ep.verdict, ep.response = LostUpstream, true
	case ep.answers.data == 0:
		return
	case len(ep.filled) > 0:
		ep.verdict = LostUpstream
	case t.isCorrupt(ep.psn):
		ep.verdict = LostCorrupt
	case ep.single:
		ep.verdict = LostUndetermined
	default:
		ep.verdict = LostDownstream
		if !t.tap.nakedFor(ep.psn) {
			r.count().lostDown++
		}
		t.tap.behind++
	}
}

// lostBefore: the tap's responder lacked x too, and had sent its one NAK for
// the gap before.
func (t *trouble) lostBefore(r *requester, ep *episode, x roce.PSN) {
	ep.verdict = LostUndetermined
	for _, s := range ep.filled {
		if s.has(x) {
			ep.verdict = LostUpstream
			return
		}
	}
	switch {
	case t.isCorrupt(x):
		ep.verdict = LostCorrupt
	case t.reorders:
		ep.verdict = LostReorder
	}
}

// lostAt: the responder waited for x.
func (t *trouble) lostAt(r *requester, ep *episode, x roce.PSN) {
	for _, s := range ep.filled {
		if s.has(x) {
			ep.verdict = LostUpstream
			return
		}
	}
	if t.isCorrupt(x) {
		ep.verdict = LostCorrupt
		return
	}
	if x.Sub(ep.top) >= 0 {
		ep.verdict = LostUndetermined
		return
	}
	ep.verdict = LostDownstream
	r.count().lostDown++
	t.tap.behind += uint64(ep.top.Sub(x))
}

// inherit hands the verdict to the unanswered runs at the same PSN before: they
// went the way of this one.
func (t *trouble) inherit(r *requester, ep *episode) {
	if ep.verdict == lostUnknown {
		return
	}
	for i := len(t.open) - 1; i >= 0; i-- {
		p := t.open[i]
		if p == ep || p.num > ep.num || p.verdict != lostUnknown || p.psn != ep.psn {
			continue
		}
		p.verdict, p.response = ep.verdict, ep.response
		if p.verdict == LostDownstream && !p.response {
			r.count().lostDown++
			t.tap.behind += uint64(p.packets)
		}
	}
}
