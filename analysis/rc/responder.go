package rc

import "rdmascope/decode/roce"

// tapResponder is a go-back-N responder standing at the tap (IBTA 9.7.4): it
// expects one PSN (requester.expect), and answers the first packet beyond it with one NAK. What
// it would have answered as well was lost before the tap; a NAK that it would
// not have sent tells of a loss behind the tap.
type tapResponder struct {
	naked   bool     // it has sent its NAK for requester.expect
	rnrOn   bool     // the real responder had no receive for rnrPSN
	rnrPSN  roce.PSN // … and answers all packets behind it with a sequence NAK
	preds   []prediction
	lastNAK prediction // the last NAK seen, to know its repetitions
	verdict lost

	// Requests below expect: again is how many came since the last answer, and
	// repeats those that an answer followed, so the real responder got them;
	// behind is how many of these it had not had before: a silent sender showed
	// that they, or those in front of them, were lost behind the tap.
	again, repeats, behind uint64

	claim backTo  // the request told as lost behind the tap that wasn't seen again yet
	late  [8]span // requests that came late, newest
	nLate int
}

// prediction is a NAK that the tap's responder sent.
type prediction struct {
	psn   roce.PSN
	time  int64
	late  bool // the missing packet came after all
	valid bool
}

const maxPredictions = 32

// lost says where a packet was lost.
type lost uint8

// Where a packet was lost (METRICS §3).
const (
	lostUnknown lost = iota // no verdict so far
	LostUpstream
	LostDownstream
	LostAck
	LostCorrupt
	LostReorder
	LostNone
	LostUndetermined
	lostKinds
)

// LostNames are the report's names.
var LostNames = [lostKinds]string{"", "upstream", "downstream", "ack", "corrupt", "reorder", "none", "undetermined"}

// arrive takes any request, in capture order.
func (x *tapResponder) arrive(r *requester, e *event, late bool) {
	switch d := e.psn.Sub(r.expect); {
	case d == 0:
		r.expect, x.naked = e.end(), false
		if x.rnrOn && x.rnrPSN.Sub(r.expect) < 0 {
			x.rnrOn = false
		}
	case d > 0 && !x.naked:
		x.naked = true
		x.predict(prediction{psn: r.expect, time: e.time, valid: true})
	case d < 0:
		x.again++
		if e.end().Sub(r.expect) > 0 { // a READ asked again with more behind it
			r.expect, x.naked = e.end(), false
		}
	}
	if x.claim.valid && (span{e.psn, e.end()}).has(x.claim.psn) {
		x.claim.valid = false
	}
	if late {
		x.noteLate(e)
		for i := range x.preds {
			if (span{e.psn, e.end()}).has(x.preds[i].psn) {
				x.preds[i].late = true
			}
		}
	}
}

// withdraw: the responder has what it asked for before it was sent again: it
// came late, overtaken behind the tap.
func (x *tapResponder) withdraw(r *requester, to roce.PSN) bool {
	if !x.claim.valid || to.Sub(x.claim.psn) <= 0 {
		return false
	}
	x.claim.valid = false
	r.takeBack(x.claim.psn, LostReorder)
	return true
}

// takeBack: what a NAK for psn told as lost behind the tap wasn't.
func (r *requester) takeBack(psn roce.PSN, verdict lost) {
	r.count().lostDown--
	if x := &r.t.tap; x.nakedFor(psn) {
		x.verdict = verdict
	}
	r.t.retell(psn, verdict)
}

// nakedFor: the last NAK told that psn was lost behind the tap, and it was
// counted then.
func (x *tapResponder) nakedFor(psn roce.PSN) bool {
	return x.lastNAK.valid && x.lastNAK.psn == psn && x.verdict == LostDownstream
}

// noteLate keeps which packet came late: a NAK for it may have been on its way.
func (x *tapResponder) noteLate(e *event) {
	x.late[x.nLate%len(x.late)] = span{e.psn, e.end()}
	x.nLate++
}

func (x *tapResponder) cameLate(psn roce.PSN) bool {
	for _, s := range x.late[:min(x.nLate, len(x.late))] {
		if s.has(psn) {
			return true
		}
	}
	return false
}

// predict notes a NAK that is to come.
func (x *tapResponder) predict(p prediction) {
	if len(x.preds) >= maxPredictions {
		x.preds = append(x.preds[:0], x.preds[1:]...)
	}
	x.preds = append(x.preds, p)
}

// arrived takes what an ACK or response proves: all below to arrived.
func (r *requester) arrived(to roce.PSN, now int64) {
	if r.t != nil {
		r.t.tap.answered(r, to, now)
	} else if to.Sub(r.expect) > 0 {
		r.expect = to
	}
}

// answered is that in trouble.
func (x *tapResponder) answered(r *requester, to roce.PSN, now int64) {
	x.repeats += x.again
	x.again = 0
	x.withdraw(r, to)
	if to.Sub(r.expect) > 0 {
		r.expect, x.naked = to, false
		if _, seen := r.f.sighted(to, now); r.next.Sub(to) > 0 && !seen {
			x.predict(prediction{psn: to, time: now, valid: true}) // a responder that keeps what came early asks at once
		}
	}
	if x.rnrOn && x.rnrPSN.Sub(to) < 0 {
		x.rnrOn = false
	}
	for len(x.preds) > 0 && x.preds[0].psn.Sub(to) < 0 {
		x.preds = append(x.preds[:0], x.preds[1:]...)
	}
}

// rnr takes an RNR NAK: the responder has to see psn again, and rejects what
// is behind it in the meantime.
func (x *tapResponder) rnr(r *requester, e *event) {
	if e.has(evLate) && x.nakedFor(e.psn) { // the sequence NAK that followed it was seen first
		x.claim.valid = false
		r.takeBack(e.psn, LostNone)
	}
	x.rnrOn, x.rnrPSN = true, e.psn
	if e.psn.Sub(r.expect) <= 0 {
		r.expect, x.naked = e.psn, true
	}
	x.preds = x.preds[:0]
}

// nak takes a sequence NAK and says where the packet it asks for was lost.
func (x *tapResponder) nak(r *requester, e *event) nakNote {
	n := nakNote{psn: e.psn, num: e.num, time: e.time}
	if x.rnrOn && x.rnrPSN == e.psn {
		n.verdict = LostNone
		return n
	}
	for i, p := range x.preds {
		if p.psn != e.psn {
			continue
		}
		n.generation, n.hasGeneration = e.time-p.time, true
		x.preds = append(x.preds[:0], x.preds[i+1:]...)
		n.verdict = beforeTap(r.t, e.psn, p.late)
		x.note(e, n.verdict)
		return n
	}
	overtaken := x.withdraw(r, e.psn)
	switch d := e.psn.Sub(r.expect); {
	case overtaken: // thrown away while the one before was late
		n.verdict = LostReorder
		r.expect, x.naked = e.psn, true
		x.preds = x.preds[:0]
	case d < 0 && e.psn.Sub(r.firstPSN) < 0: // it was never seen here
		n.verdict = beforeTap(r.t, e.psn, false)
		r.expect, x.naked = e.psn, true
		x.preds = x.preds[:0]
	case d < 0 && (e.has(evLate) || e.psn.Sub(r.cov) < 0):
		n.verdict = LostUndetermined // overtaken by what was answered after it
	case d < 0 && x.cameLate(e.psn):
		n.verdict = LostReorder
	case d < 0:
		n.verdict = LostDownstream
		r.count().lostDown++
		x.claim = backTo{e.psn, true}
		r.expect, x.naked = e.psn, true
		x.preds = x.preds[:0]
		if t, ok := r.f.sighted(e.psn.Add(1), e.time); ok && t <= e.time {
			n.generation, n.hasGeneration = e.time-t, true
		}
	case d > 0: // it has what the capture missed
		r.expect, x.naked = e.psn, true
		x.preds = x.preds[:0]
		n.verdict = beforeTap(r.t, e.psn, false)
	case x.lastNAK.valid && x.lastNAK.psn == e.psn:
		n.verdict = x.verdict
		return n
	default: // the packet that provoked it wasn't seen
		x.naked = true
		n.verdict = LostUndetermined
	}
	x.note(e, n.verdict)
	return n
}

func (x *tapResponder) note(e *event, v lost) {
	x.lastNAK, x.verdict = prediction{psn: e.psn, time: e.time, valid: true}, v
}

func beforeTap(t *trouble, psn roce.PSN, late bool) lost {
	switch {
	case t.isCorrupt(psn):
		return LostCorrupt
	case late:
		return LostReorder
	}
	return LostUpstream
}

func (x *tapResponder) clone() tapResponder {
	c := *x
	c.preds = append([]prediction(nil), x.preds...)
	return c
}

// nakNote is what is remembered of a NAK until the sender reacts.
type nakNote struct {
	psn           roce.PSN
	num, time     int64
	generation    int64
	hasGeneration bool
	verdict       lost
}
