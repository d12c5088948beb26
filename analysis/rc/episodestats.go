package rc

import (
	"sort"

	"rdmascope/decode/roce"
)

const silences = 32

// episodeStats counts episodes in such a way that they can be named later: what
// counts as a timeout depends on the ACK timeout, and without CM that is only
// known from the silences themselves.
type episodeStats struct {
	byTrigger [triggers][silences]uint32 // by octave of the reaction (NAK) or silence
	silent    [silences]int64            // ns of silence that may have been a timer's
	lost      [lostKinds]uint64
	rnr       uint64
	ackedLost [silences]uint32 // triggerAcked: verdict depends on the kind
	goBackN   uint32
	selective uint32
	goBack0   uint32
	starts    [16]struct { // PSNs that started episodes, newest
		psn roce.PSN
		n   uint32
	}
	nStarts    int
	livelock   bool
	livePSN    roce.PSN
	unanswered uint32 // timeouts in a row at one PSN, without an answer
	lastPSN    roce.PSN
	resent     uint64
	spans      []timeSpan // what was spent in recovery, merged
	rate       sendRate
}

// sendRate compares, second by second, what a sender in trouble sends with what
// of it is new.
type sendRate struct {
	since       int64
	packets     uint32
	sent, fresh uint64 // PSNs
	counts      bool
}

const (
	livelockNS      = int64(1e9) // METRICS §3
	livelockPackets = 10         // in that time: a retry now and then on an idle connection is none
)

// add takes a request in sending order; true at the end of a second in which
// goodput was below a tenth of the throughput.
func (w *sendRate) add(s *sent, fresh bool) (livelock bool) {
	if !w.counts || s.time-w.since >= livelockNS {
		livelock = w.counts && s.time-w.since < 2*livelockNS && w.packets >= livelockPackets && w.fresh*10 < w.sent
		*w = sendRate{since: s.time, counts: true}
	}
	n := uint64(max(s.end.Sub(s.psn), 1))
	w.packets++
	w.sent += n
	if fresh {
		w.fresh += n
	}
	return livelock
}

type timeSpan struct{ lo, hi int64 }

func (s *episodeStats) clone() episodeStats {
	c := *s
	c.spans = append([]timeSpan(nil), s.spans...)
	return c
}

// count adds a closed episode.
func (s *episodeStats) count(ep *episode) {
	q := ep.quiet
	if ep.trigger == triggerNAK {
		q = ep.reaction
	}
	o := octave(q)
	s.byTrigger[ep.trigger][o]++
	s.resent += uint64(ep.packets)
	switch ep.trigger {
	case triggerRNR:
		s.rnr++
		s.lost[LostNone]++
	case triggerAcked:
		s.ackedLost[o]++
	default:
		s.lost[ep.verdict]++
	}
	if floor := int64(1e6); ep.trigger != triggerRNR {
		if ep.trigger == triggerNAK || ep.trigger == triggerImplied {
			floor = 16e6 // below, a slow reaction is likelier than a timer
		}
		if q >= floor {
			s.silent[o] += q
		}
	}
	if ep.trigger != triggerRNR {
		s.repeated(ep)
	}
	if ep.recovery > 0 {
		s.spans = addSpan(s.spans, timeSpan{ep.progressed, ep.progressed + ep.recovery})
	}
}

// repeated watches for one PSN that starts episode after episode.
func (s *episodeStats) repeated(ep *episode) {
	if ep.psn == s.lastPSN && !ep.recovered && ep.trigger != triggerNAK {
		s.unanswered++
	} else {
		s.unanswered = 1
	}
	s.lastPSN = ep.psn
	for i := range s.starts {
		if p := &s.starts[i]; p.n > 0 && p.psn == ep.psn {
			p.n++
			if p.n >= 3 && (ep.recovered || ep.hasNAK) {
				s.livelock, s.livePSN = true, ep.psn
			}
			return
		}
	}
	p := &s.starts[s.nStarts%len(s.starts)]
	p.psn, p.n = ep.psn, 1
	s.nStarts++
}

// addSpan keeps the newest spans apart and merges those that overlap.
func addSpan(v []timeSpan, s timeSpan) []timeSpan {
	for len(v) > 0 && v[len(v)-1].hi >= s.lo {
		s.lo = min(s.lo, v[len(v)-1].lo)
		s.hi = max(s.hi, v[len(v)-1].hi)
		v = v[:len(v)-1]
	}
	if len(v) >= 64 { // the sum survives in the oldest one
		v[1].lo = v[1].lo - (v[0].hi - v[0].lo)
		v = append(v[:0], v[1:]...)
	}
	return append(v, s)
}

// scheme learns from a run how the sender recovers.
func (t *trouble) scheme(ep *episode) {
	if ep.trigger == triggerRNR {
		return
	}
	s := &t.stats
	switch {
	case ep.restart:
		s.goBack0++
	case ep.goesOn && ep.end.Sub(ep.top) < 0:
		s.selective++
	case !ep.contiguous:
		s.selective++
	case ep.packets >= 2:
		s.goBackN++
	}
}

// timeout infers the exponent of the local ACK timeout from the silences: the
// octave in which the sender was silent longest, or the one below when much of
// it fell there (a timer may fire up to four times late). ok is false when no
// silence looks like a timer's.
func (s *episodeStats) timeout() (exponent int, ok bool) {
	best := -1
	for i, ns := range s.silent {
		if ns > 0 && (best < 0 || ns >= s.silent[best]) {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	if best > 0 && s.silent[best-1] > s.silent[best]/4 {
		best--
	}
	return best, true
}

// halfTimeout returns half the ACK timeout, as CM told it or as it is inferred.
func (r *requester) halfTimeout() int64 {
	if e, _, ok := r.timeoutExponent(); ok {
		return 4096 << e / 2
	}
	return 1 << 62
}

// timeoutExponent returns the exponent of the ACK timeout and whether CM told.
func (r *requester) timeoutExponent() (exponent int, told, ok bool) {
	if cm, ok := r.f.agreed(); ok && cm.AckTimeoutExp > 0 {
		return int(cm.AckTimeoutExp), true, true
	}
	if r.t == nil {
		return 0, false, false
	}
	e, ok := r.t.stats.timeout()
	return e, false, ok
}

// report keeps the longest recoveries one by one.
func (t *trouble) report(r *requester, ep *episode) {
	v := Recovery{
		trigger: ep.trigger, FirstTime: ep.time, FirstPacket: ep.num, PSN: uint32(ep.psn), ResentPackets: ep.packets,
		GenerationNS: ep.generation, ReactionNS: ep.reaction, RecoveryNS: ep.recovery, QuietNS: ep.quiet,
		Lost: LostNames[ep.verdict],
	}
	if ep.verdict == LostUpstream || ep.verdict == LostDownstream || ep.verdict == LostCorrupt {
		v.LostPacket = "request"
		if ep.response {
			v.LostPacket = "response"
		}
	}
	if !ep.recovered && !t.final {
		v.waits, v.since, v.top = true, ep.progressed, ep.top
	}
	t.keep(v, r.opt.MaxRecoveries)
}

// keep keeps v if it is among the longest. One that still goes on is longer
// than those that are over, and the oldest of these is the longest.
func (t *trouble) keep(v Recovery, limit int) {
	if len(t.reported) < limit {
		t.reported = append(t.reported, v)
		if v.waits {
			t.waiting++
		}
		return
	}
	shortest := -1
	for i := range t.reported {
		if x := &t.reported[i]; !x.waits && (shortest < 0 || x.RecoveryNS < t.reported[shortest].RecoveryNS) {
			shortest = i
		}
	}
	if shortest < 0 || !v.waits && t.reported[shortest].RecoveryNS >= v.RecoveryNS {
		return
	}
	t.reported[shortest] = v
	if v.waits {
		t.waiting++
	}
}

// sortRecoveries puts the longest first, equal ones in order of time.
func sortRecoveries(v []Recovery) {
	sort.Slice(v, func(i, j int) bool {
		if v[i].RecoveryNS != v[j].RecoveryNS {
			return v[i].RecoveryNS > v[j].RecoveryNS
		}
		return v[i].FirstPacket < v[j].FirstPacket
	})
}
