package rc

import "rdmascope/decode/roce"

// fill makes the figures of flow f; g is its partner or nil. v is empty.
func (v *FlowFigures) fill(f, g *flow) {
	r := f.own
	if r == nil {
		r = &requester{f: f, opt: f.opt, uc: f.is(flowUC), oneWay: f.is(flowOneWay)}
	}
	more := f.told()
	v.ID, v.Incarnation, v.Key = f.id, f.incarnation, f.key()
	v.Service, v.Scheme, v.OrderFrom = "rc", "unknown", "capture"
	v.FirstTime, v.LastTime, v.Packets = f.firstTime, f.lastTime, f.packets
	v.Duplicates, v.CapturedTwice, v.DroppedAnswer = more.duplicates, more.capturedTwice, more.dropped
	v.HasRequests, v.Answered = r.have, r.haveAnswers
	v.Violations = append([]Violation(nil), r.counted().broken...)
	if f.is(flowUC) {
		v.Service = "uc"
	}
	if f.order.usable() {
		v.OrderFrom = "ip_id"
	}
	v.carrier(r, g)
	v.sender(r, f.cut(g))
	v.answered(r)
	v.AcksCut = g != nil && g.is(flowCutAcks)
}

// cut tells whether headers are missing without which nothing can be said of
// what was lost between f and g.
func (f *flow) cut(g *flow) bool {
	cut := func(x *flow) bool { return x.is(flowCutAcks) || x.own != nil && x.own.cutReads }
	return cut(f) || g != nil && cut(g)
}

// carrier fills what belongs to the flow on which the packets travel: its own
// requests, and its responses to the partner's.
func (v *FlowFigures) carrier(r *requester, g *flow) {
	f, c := r.f, r.counted()
	v.BadICRC = c.corrupt
	v.NetworkCopies = min(c.networkCopies, v.Duplicates)
	reason := reasonNone
	switch {
	case f.is(flowUC):
		reason = ReasonService
	case f.cut(g):
		reason = ReasonCut
	case g == nil:
		reason = ReasonOneWay
		if f.grp.flows[f.across()] > 0 {
			reason = ReasonUnpaired
		}
	case g.packets == 0 || !r.haveAnswers && !f.is(flowAnswers):
		reason = ReasonOneWay
	}
	if reason != reasonNone {
		no := Count{Reason: reason}
		v.Unseen, v.LostUpstream, v.LostDownstream, v.RepeatedAnswers = no, no, no, no
		return
	}
	q := &noCounters
	if g.own != nil {
		q = g.own.counted()
	}
	v.Unseen = known(c.unseenRequests + q.unseenResponses)
	v.LostUpstream = known(c.lostUp + q.respLostUp)
	v.LostDownstream = known(c.lostDown + q.respLostDown)
	v.RepeatedAnswers = known(q.repeated)
}

// sender fills what belongs to the requester's flow; cut says that the capture
// cut off what its answers tell.
func (v *FlowFigures) sender(r *requester, cut bool) {
	c := r.counted()
	v.Messages, v.PathMTU = r.messages, r.pmtu
	v.UCGaps, v.UCSkipped = c.ucGaps, c.ucSkipped
	v.Retransmitted, v.RetransmittedBytes, v.OutOfOrder = c.retransmitted, c.retransmittedBytes, c.outOfOrder
	if r.have {
		v.FirstPSN, v.LastPSN = uint32(r.firstPSN), uint32(r.next.Add(-1))
	}
	v.Latency = [latencyKinds]*LatencyBlock{
		LatencyAck:       block(r.latencies(LatencyAck), r.ackCoalesced, 0),
		LatencyMessage:   block(r.latencies(LatencyMessage), r.coalesced, c.messageRecovered),
		LatencyReadFirst: block(r.latencies(LatencyReadFirst), 0, c.firstRecovered),
		LatencyReadLast:  block(r.latencies(LatencyReadLast), 0, c.lastRecovered),
		LatencyAtomic:    block(r.latencies(LatencyAtomic), 0, c.atomicRecoverd),
	}
	v.TimedNS, v.PausedNS = v.timedNS(), r.pausedNS
	v.DuplicateRequests = r.duplicateRequests()
	v.MaxOutstanding, v.MaxReads = known(uint64(r.maxOutstanding)), known(uint64(r.maxReads))
	v.Unanswered, v.Unfinished, v.QuietSince = r.unanswered(), r.sequence == sequenceInside, max(r.lastTime, r.answerTime)
	if r.have && !r.haveAnswers {
		no := Count{Reason: ReasonOneWay}
		v.MaxOutstanding, v.MaxReads, v.Episodes = no, no, no
	} else {
		v.Episodes = known(0)
	}
	if r.uc {
		v.Episodes = Count{Reason: ReasonService}
	}
	if cm, ok := r.f.agreed(); ok {
		v.ReadDepth = cm.Depth
	}
	v.MessageSizes = r.messageSizes()
	if r.t != nil {
		v.trouble(r)
	}
	if cut && !r.uc {
		no := Count{Reason: ReasonCut}
		v.MaxOutstanding, v.MaxReads, v.Episodes, v.DuplicateRequests, v.Unanswered = no, no, no, no, no
		v.RetriesExhausted = nil
	}
}

// duplicateRequests is how many requests the responder got that it had already:
// those that the tap's responder had, less what was lost behind the tap, and
// copies that the network made. A request that nothing
// answered never came, as far as can be told.
func (r *requester) duplicateRequests() Count {
	switch {
	case r.uc:
		return Count{Reason: ReasonService}
	case r.have && !r.haveAnswers:
		return Count{Reason: ReasonOneWay}
	}
	n := r.counted().networkCopies
	if r.t != nil {
		x := &r.t.tap
		n += x.repeats - min(x.behind, x.repeats)
	}
	return known(n)
}

// unanswered is how many packets are in flight: what was asked for and neither
// acknowledged nor delivered.
func (r *requester) unanswered() Count {
	switch {
	case r.uc:
		return Count{Reason: ReasonService}
	case r.have && !r.haveAnswers:
		return Count{Reason: ReasonOneWay}
	}
	return known(uint64(max(0, r.next.Sub(r.una()))))
}

// trouble names the episodes now that all silences are known.
func (v *FlowFigures) trouble(r *requester) {
	s := &r.t.stats
	e, told, ok := r.timeoutExponent()
	if ok {
		v.AckTimeoutExponent, v.AckTimeoutByCM = e, told
	}
	half := silences // no timer known: nothing was a timeout
	if ok {
		half = max(e-1, 0)
	}
	by := &v.EpisodesBy
	v.EpisodesLost = make(map[string]uint64)
	add := func(w lost, n uint64) {
		if n > 0 {
			v.EpisodesLost[LostNames[w]] += n
		}
	}
	for w := range lostKinds {
		add(w, s.lost[w])
	}
	by.RNR = s.rnr
	for o := range silences {
		for k := triggerNAK; k < triggers; k++ {
			n := uint64(s.byTrigger[k][o])
			switch {
			case o >= half:
				by.Timeout += n
				if k == triggerNAK {
					by.NAKUnheeded += n
				}
			case k == triggerNAK:
				by.NAK += n
			case k == triggerImplied:
				by.ImpliedNAK += n
			case k == triggerAcked:
				by.Spurious += n
			default:
				by.Adaptive += n
			}
		}
		if o >= half {
			add(LostAck, uint64(s.ackedLost[o]))
		} else {
			add(LostNone, uint64(s.ackedLost[o]))
		}
	}
	by.Total = by.RNR + by.NAK + by.Timeout + by.ImpliedNAK + by.Adaptive + by.Spurious
	if r.haveAnswers || !r.have {
		v.Episodes = known(by.Total)
	}
	v.Recoveries = append([]Recovery(nil), r.t.reported...)
	for i := range v.Recoveries {
		v.Recoveries[i].name(half)
	}
	sortRecoveries(v.Recoveries)
	v.schemeAndRetries(r)
}

func (v *FlowFigures) schemeAndRetries(r *requester) {
	s := &r.t.stats
	n := uint32(r.opt.SchemeEpisodes)
	switch total := s.goBackN + s.selective + s.goBack0; {
	case total < n:
	case 2*s.goBackN > total:
		v.Scheme = "go_back_n"
	case 2*s.selective > total:
		v.Scheme = "selective"
	case 2*s.goBack0 > total:
		v.Scheme = "go_back_0"
	}
	v.Livelock, v.LivelockPSN, v.ResentPackets = s.livelock, uint32(s.livePSN), s.resent
	for _, x := range s.spans {
		v.RecoveryNS += x.hi - x.lo
	}
	limit := uint32(2)
	cm, told := r.f.agreed()
	if told && cm.RetryCount > 0 {
		limit = uint32(cm.RetryCount)
	}
	if s.unanswered >= limit && r.una().Sub(s.lastPSN) <= 0 {
		v.RetriesExhausted = &Exhausted{PSN: uint32(s.lastPSN), Times: s.unanswered + 1}
	}
	// As often as CM agreed, and no progress since; 7 is without end.
	if t := r.t; told && cm.RNRRetry < roce.RNRRetryInfinite && t.rnrRow > uint32(cm.RNRRetry) && r.una().Sub(t.rnrAt) <= 0 {
		v.RetriesExhausted = &Exhausted{PSN: uint32(t.rnrAt), Times: t.rnrRow, RNR: true}
	}
}

// name names a recovery, given the octave from which silences are a timer's.
func (v *Recovery) name(half int) {
	q := v.QuietNS
	if v.trigger == triggerNAK {
		q = v.ReactionNS
	}
	timer := octave(q) >= half
	switch {
	case v.trigger == triggerRNR:
		v.Kind = "rnr"
	case timer:
		v.Kind, v.Unheeded = "timeout", v.trigger == triggerNAK
	case v.trigger == triggerNAK:
		v.Kind = "nak"
	case v.trigger == triggerImplied:
		v.Kind = "implied_nak"
	case v.trigger == triggerAcked:
		v.Kind, v.Lost = "spurious", LostNames[LostNone]
	default:
		v.Kind = "adaptive"
	}
}

// answered fills what belongs to the flow whose packets were answered.
func (v *FlowFigures) answered(r *requester) {
	c := r.counted()
	v.Acks, v.NAKs, v.RNRNAKs = r.acks, c.naks, c.rnrNAKs
	if r.t != nil {
		v.FirstNAK, v.FirstRNR = r.t.firstNAK, r.t.firstRNR
	}
	v.ReservedNAKs, v.CreditZero, v.Forgotten = c.reservedNAKs, c.creditZero, c.forgotten
	if r.t != nil {
		v.FatalNAK = r.t.fatal
		if timers := r.t.rnrTimers; timers != [32]uint32{} {
			v.RNRTimers = &timers
		}
	}
}
