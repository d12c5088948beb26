package rc

import (
	"math/bits"

	"rdmascope/decode/roce"
)

// episode is one step back of the sender and the run of packets that follows.
type episode struct {
	psn        roce.PSN
	time, num  int64
	quiet      int64 // the sender's silence before it
	progressed int64 // when the silence began: until then all went well
	trigger    trigger
	hasNAK     bool
	nakPSN     roce.PSN
	generation int64 // < 0: not known
	reaction   int64
	verdict    lost
	response   bool // what was lost is a response

	// the run
	end        roce.PSN // behind its highest PSN
	top        roce.PSN // behind the highest PSN sent before it
	una        roce.PSN // unacknowledged before it
	expect     roce.PSN // what the tap's responder waited for before it
	packets    uint32
	reads      uint32 // of them READs and atomics
	contiguous bool
	goesOn     bool      // ended by new data
	restart    bool      // began at the start of a message below the NAK's PSN
	read       bool      // begins with a READ or atomic
	single     bool      // … with one response
	before     sentFlags // … and what had become of its response
	askedEnd   roce.PSN  // first PSN of the run that asks for an ACK
	haveAsked  bool
	filled     []span // holes that it closed: lost before the tap
	ended      bool
	counted    bool
	recovered  bool
	recovery   int64
	answers    runAnswers
}

// trigger is what moved the sender, before silences are judged.
type trigger uint8

const (
	triggerRNR trigger = iota
	triggerNAK
	triggerSilence // nothing seen: a timer, or a guess of the sender
	triggerAcked   // the same, and all that it resends had been acknowledged
	triggerImplied // a READ asked again after a later response
	triggers
)

const maxOpenEpisodes = 128

// stepBack begins an episode.
func (t *trouble) stepBack(r *requester, s *sent) {
	if t.run != nil {
		t.endRun(r, false)
	}
	ep := &episode{
		psn: s.psn, time: s.time, num: s.num, quiet: s.time - t.lastAny, progressed: t.lastAny,
		generation: -1, reaction: -1, end: s.psn, top: t.next, una: t.una, expect: s.expect, contiguous: true,
		read: s.is(sentRead), single: s.is(sentAtomic), before: s.flags & sentFates, recovery: -1,
	}
	t.triggerOf(r, ep, s)
	r.opt.mark(s.num, MarkEpisode)
	t.run = ep
	if len(t.open) >= maxOpenEpisodes {
		t.close(r, t.open[0])
		t.open = append(t.open[:0], t.open[1:]...)
	}
	t.open = append(t.open, ep)
	for i := range t.holes {
		if t.holes[i].lo.Sub(s.psn) >= 0 && ep.trigger != triggerNAK {
			t.holes[i].asked = true
		}
	}
}

// triggerOf finds what made the sender step back.
func (t *trouble) triggerOf(r *requester, ep *episode, s *sent) {
	nak := t.takeNAK(s)
	switch {
	case t.rnrOn && t.rnr.psn.Sub(s.psn) >= 0:
		ep.trigger, ep.verdict = triggerRNR, LostNone
		ep.reaction = s.time - t.rnr.time
	case nak.num != 0:
		ep.trigger, ep.verdict = triggerNAK, t.refine(nak)
		ep.hasNAK, ep.nakPSN = true, nak.psn
		ep.reaction = s.time - nak.time
		if nak.hasGeneration {
			ep.generation = nak.generation
		}
		ep.restart = s.is(sentStart) && s.psn.Sub(nak.psn) < 0
	case s.is(sentRead) && s.cov.Sub(s.psn) > 0:
		ep.trigger = triggerImplied
	default:
		ep.trigger = triggerSilence
	}
	t.rnrOn = false
}

// refine: what is said to have never come has left a gap in the order of
// sending. Without one it came, only not in its turn.
func (t *trouble) refine(n nakNote) lost {
	if n.verdict == LostUpstream && t.reorders && t.holeAt(n.psn) == nil {
		return LostReorder
	}
	return n.verdict
}

// takeNAK returns the sequence NAK that this step back answers: the newest one.
// All that came until now are used up by it, but for one that names the very
// PSN of the next step back: between the tap and the sender two can be on their
// way, and both are answered.
func (t *trouble) takeNAK(s *sent) (n nakNote) {
	switch i := len(t.naks) - 1; {
	case i >= 0:
		n = t.naks[i]
	case t.used.num != 0 && t.used.psn == s.psn && t.usedBy != s.psn && t.una.Sub(s.psn) <= 0:
		n = t.used
		n.hasGeneration = false
	}
	t.used, t.usedBy = n, s.psn
	t.naks = t.naks[:0]
	return n
}

// resent adds a packet to the run.
func (ep *episode) resent(s *sent) {
	ep.packets++
	if s.is(sentRead) {
		ep.reads++
	}
	if s.num < ep.num { // overtook the first one
		if ep.reaction >= 0 {
			ep.reaction -= ep.time - s.time
		}
		ep.quiet -= ep.time - s.time
		ep.num, ep.time, ep.expect = s.num, s.time, s.expect
	}
	if s.end.Sub(ep.end) > 0 {
		ep.end = s.end
	}
	if s.is(sentAckReq) && !ep.haveAsked && !s.is(sentRead) {
		ep.haveAsked, ep.askedEnd = true, s.psn
	}
}

// endRun: the sender goes on with new data, or steps back once more.
func (t *trouble) endRun(r *requester, goesOn bool) {
	ep := t.run
	t.run = nil
	ep.ended, ep.goesOn = true, goesOn
	if ep.trigger == triggerSilence && !ep.read && ep.una.Sub(ep.end) >= 0 {
		ep.trigger = triggerAcked
	}
	t.scheme(ep)
	if !goesOn { // no answer can be told from one to the next run
		t.judge(r, ep)
	}
}

// answer takes a response in the sender's order: NAKs wait for a reaction, the
// newest run gets its answers, recovered episodes are closed.
func (t *trouble) answer(r *requester, s *sent) {
	switch {
	case s.is(sentRNR):
		t.rnr, t.rnrOn = nakNote{psn: s.psn, num: s.num, time: s.time}, true
	case s.is(sentNAK):
		if len(t.naks) >= 16 {
			t.naks = append(t.naks[:0], t.naks[1:]...)
		}
		t.naks = append(t.naks, s.nak)
		for i := range t.holes {
			if s.nak.psn.Sub(t.holes[i].hi) < 0 {
				t.holes[i].asked = true
			}
		}
	}
	if n := len(t.open); n > 0 {
		t.answerRun(r, t.open[n-1], s)
	}
	t.una = s.una
	t.recovered(s)
	if s.is(sentData) {
		t.readUnseen(r, span{s.psn, s.psn.Add(1)})
	}
	t.passedHoles(r, s.cov)
	t.reap(r)
}

// recovered notes the episodes that end with this response: all that had been
// sent before the step back is acknowledged, or all that was sent again, by an
// ACK or below the PSN of a NAK (IBTA 9.7.5.2.8). A READ ends with its own response (9.7.5.1.2), and the
// one before the step back doesn't count.
func (t *trouble) recovered(s *sent) {
	ends := func(ep *episode) bool {
		if s.num <= ep.num {
			return false
		}
		if ep.read {
			return s.is(sentData) && s.psn == ep.psn ||
				ep.una.Sub(ep.psn) <= 0 && s.una.Sub(ep.top) >= 0 && s.is(sentProgress)
		}
		return s.una.Sub(ep.top) >= 0 || ep.ended && s.una.Sub(ep.end) >= 0
	}
	for _, ep := range t.open {
		if !ep.recovered && ends(ep) {
			ep.recovered, ep.recovery = true, s.time-ep.progressed
		}
	}
	for i := 0; t.waiting > 0 && i < len(t.reported); i++ {
		if v := &t.reported[i]; v.waits && s.una.Sub(v.top) >= 0 {
			v.waits, v.RecoveryNS = false, s.time-v.since
			t.waiting--
		}
	}
}

// reap closes the episodes that have all they wait for.
func (t *trouble) reap(r *requester) {
	kept := t.open[:0]
	for _, ep := range t.open {
		if ep.recovered && ep.ended && ep.verdict != lostUnknown {
			t.close(r, ep)
		} else {
			kept = append(kept, ep)
		}
	}
	for i := len(kept); i < len(t.open); i++ {
		t.open[i] = nil
	}
	t.open = kept
}

// close counts an episode and keeps it among the longest.
func (t *trouble) close(r *requester, ep *episode) {
	if ep.counted {
		return
	}
	ep.counted = true
	if ep.verdict == lostUnknown {
		ep.verdict = LostUndetermined
	}
	t.stats.count(ep)
	t.report(r, ep)
}

// finish closes everything that is open: at the end, or for a look in between
// (on a clone).
func (t *trouble) finish(r *requester) {
	t.flush(r)
	t.final = true
	if t.run != nil {
		t.endRun(r, false)
	}
	for _, ep := range t.open {
		if ep.verdict == lostUnknown {
			t.judge(r, ep)
		}
	}
	for _, ep := range t.open {
		t.close(r, ep)
	}
	t.open = t.open[:0]
}

// octave returns the largest e with 4.096 µs · 2^e ≤ ns, in units of the local
// ACK timeout (IBTA 9.7.6.1.3); 0 for less.
func octave(ns int64) int {
	if ns < 4096 {
		return 0
	}
	return min(bits.Len64(uint64(ns/4096))-1, silences-1)
}
