package rc

import "rdmascope/decode/roce"

// response takes the next response in capture order.
func (r *requester) response(e *event) {
	f := e.opFlags()
	if e.has(evCorrupt) {
		if e.op.Operation() != roce.OperationAcknowledge {
			r.responses().spoil(r, e)
		}
		return
	}
	before := r.una()
	r.haveAnswers = true
	s := sent{kind: sentResponse, num: e.num, time: e.time, psn: e.psn, syn: e.syn, unaBefore: before}
	switch e.op.Operation() {
	case roce.OperationAcknowledge:
		r.acknowledge(e, &s)
	case roce.OperationAtomicAcknowledge:
		r.cover(e.psn, e)
		r.arrived(e.psn.Add(1), e.time)
		s.flags |= sentData
		r.responses().arrive(r, e)
		r.lift(e.psn.Add(1))
	default:
		if f.Has(roce.FlagFirst|roce.FlagMiddle) && e.has(evLen) {
			r.learnMTU(e)
		}
		r.cover(e.psn, e)
		r.arrived(e.psn.Add(1), e.time)
		s.flags |= sentData
		r.responses().arrive(r, e)
		r.lift(e.psn.Add(1))
	}
	if f.Has(roce.FlagFirst|roce.FlagLast|roce.FlagOnly) || e.op.Operation() == roce.OperationAcknowledge {
		r.checkMSN(e)
	}
	r.answerTime = e.time
	r.pop()
	s.una = r.una()
	s.cov = r.cov
	if s.una.Sub(before) > 0 {
		s.flags |= sentProgress
		if s.flags&(sentNAK|sentRNR) == 0 {
			r.progress = e.time
		}
	}
	if r.t != nil && r.have {
		r.t.push(r, &s)
	}
}

// acknowledge takes an ACKNOWLEDGE: ACK, NAK or RNR NAK. A NAK covers what is
// below its PSN (IBTA 9.7.5.2.8).
func (r *requester) acknowledge(e *event, s *sent) {
	switch e.syn.Kind() {
	case roce.SyndromeACK:
		r.acks++
		if n, ok := e.syn.Credits(); ok && n == 0 {
			r.count().creditZero++
		}
		if r.copyDue {
			r.copyAnswer(e)
		}
		if r.have && e.psn.Sub(r.next) > 1<<16 {
			r.hit(RuleAckBeyond, e.num)
			return
		}
		if r.have && e.psn.Sub(r.firstPSN) >= 0 && e.psn.Sub(r.cov) < 0 {
			r.opt.mark(e.num, MarkDuplicateAck)
		}
		r.cover(e.psn.Add(1), e)
		r.lift(e.psn.Add(1))
		r.arrived(e.psn.Add(1), e.time)
		if r.t != nil && r.rsp != nil {
			r.rsp.noteAck(e)
		}
	case roce.SyndromeRNRNAK:
		r.count().rnrNAKs++
		r.cover(e.psn, e)
		r.lift(e.psn)
		t := r.troubled()
		t.rnrTimers[e.syn.Code()]++
		t.rnrSeen(e)
		t.tap.rnr(r, e)
		s.flags |= sentRNR
	case roce.SyndromeNAK:
		code := e.syn.NAKCode()
		if int(code) >= len(noCounters.naks) {
			r.count().reservedNAKs++
			return
		}
		r.count().naks[code]++
		r.cover(e.psn, e)
		r.lift(e.psn)
		t := r.troubled()
		if t.firstNAK[code] == 0 {
			t.firstNAK[code] = e.num
		}
		if code == roce.NAKSequenceError {
			s.flags |= sentNAK
			s.nak = t.tap.nak(r, e)
		} else {
			t.fatal = true
		}
	default:
		r.count().reservedNAKs++
	}
}

// lift raises what is covered.
func (r *requester) lift(to roce.PSN) {
	if !r.have {
		r.cov = to
		return
	}
	if to.Sub(r.cov) > 0 {
		r.cov = to
	}
}

// copyAnswer: an ACK that acknowledges nothing new, or that ends in the middle
// of a message, while copies of requests are unanswered: the receiver got the
// copy too, so the network made it.
func (r *requester) copyAnswer(e *event) {
	if e.psn.Sub(r.cov) < 0 || !r.endsMessage(e.psn) {
		c := r.count()
		c.copyAnswersDue--
		c.networkCopies++
		r.copyDue = c.copyAnswersDue > 0
	}
}

func (r *requester) endsMessage(psn roce.PSN) bool {
	i, ok := r.msgs.find(psn)
	return ok && r.msgs.at(i).end == psn.Add(1) && r.msgs.at(i).is(msgLast)
}

// cover finishes all SENDs and WRITEs that end below c. The newest of them is a
// latency sample, the older ones were coalesced.
func (r *requester) cover(c roce.PSN, e *event) {
	newest := -1
	for i := 0; i < int(r.msgs.n); i++ {
		m := r.msgs.at(i)
		if m.start.Sub(c) >= 0 {
			break
		}
		if m.is(msgRead | msgDone) {
			continue
		}
		if m.end.Sub(c) > 0 || !m.is(msgLast) && m.end == c {
			break
		}
		if !m.is(msgLast) { // its last packet was never seen, but is acknowledged
			m.flags |= msgLast
			r.messages++
			m.flags |= msgResent // no time to measure from
		}
		m.flags |= msgDone
		if newest >= 0 {
			r.coalesce(r.msgs.at(newest))
		}
		newest = i
	}
	if newest >= 0 {
		r.sample(r.msgs.at(newest), e.time)
	}
}

// pop forgets what is finished and has nothing unfinished in front.
func (r *requester) pop() {
	for r.msgs.n > 0 {
		m := r.msgs.at(0)
		if !m.is(msgDone) {
			if !m.is(msgRead) || m.skips < readGiveUp {
				return
			}
			r.responses().giveUp(r, m)
		}
		if m.is(msgRead) && r.reads > 0 {
			r.reads--
		}
		r.drop()
	}
}
