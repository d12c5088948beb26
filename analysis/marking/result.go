package marking

import (
	"sort"

	"rdmascope/analysis/sketch"
	"rdmascope/analysis/slab"
	"rdmascope/decode/wire"
)

// Flow is what is known of one flow's marks.
type Flow struct {
	ID int32
	Markings
	Other int64 // packets of combinations beyond those listed

	Packets, ECNCapable, CE int64 // capable includes CE
	Congestion
}

// Markings are combinations of marks, most packets first.
type Markings []Marking

// Congestion is what only flows with CE marks or CNPs have.
type Congestion struct {
	// DataCE leaves out ACKs, which ask for no CNP; the first of them follows.
	DataCE                     int64
	FirstCETime, FirstCEPacket int64

	// CNPs in this flow: they throttle its peer.
	CNPs                             int64
	FirstCNPTime, FirstCNPPacket     int64
	CNPGap                           Durations
	MalformedCNPs, FirstMalformedCNP int64 // the PSN alone makes none malformed
	CNPFaults                        [FaultCount]int64

	// What the peer's CNPs did to this flow; nil without a peer that sent some.
	Throttle *Throttle
	// CEUnanswered are CE marks that no CNP of the peer followed in time. Without
	// a peer it counts those that no CNP which could be meant followed. Where the
	// flow wasn't told of the peer's CNPs it is 0: nothing is known.
	CEUnanswered int64
}

// Throttle is a data flow's side of its peer's CNPs.
type Throttle struct {
	CNPFlow   int32
	CNPs      int64
	Answered  int64 // CNPs after a new CE mark
	Repeated  int64 // after none since the CNP before, but within the time
	Causeless int64 // no CE mark in the time before: marked behind the tap, or
	SlowStart int64 // of those: after a NAK, which makes some NICs start slowly
	// Untold: the CNPs came while there were more flows between the hosts than a
	// CNP is held against before peers are known. Their number is all that is
	// known then.
	Untold  bool
	CEToCNP *sketch.Summary // ns from the newest CE mark at the tap to the CNP, of those answered
	// RateSamples is how often the rate before and after could be compared;
	// MedianCutPermille by how much it fell (negative: it rose).
	RateSamples       int64
	MedianCutPermille int64
	// RecoverySamples is how often the rate was seen to rise again after a CNP,
	// RecoveryBpsPerMS the median of how steeply: bit/s in a millisecond, from the
	// slowest 50 µs to the next CNP or to 95 % of the rate before. RecoveryNS is
	// the median time from a CNP until the rate was back, of the Recovered ones.
	RecoverySamples, RecoveryBpsPerMS int64
	Recovered, RecoveryNS             int64
	// Why there is no sample of other CNPs: the sender didn't slow down, the next
	// CNP came too soon, or packets are too few to tell.
	NotCut, TooSoon, TooFew int64
	// DipPermille is by how much it fell, on average over those CNPs, in the
	// slowest of the slots of 12.5 µs that followed.
	DipPermille int64
	// Deaf: there were enough CNPs to tell, and the sender went on as if nothing
	// had been said.
	Deaf bool
}

// isDeaf tells whether the sender went on as if nothing had been said (F9).
func (t *Throttle) isDeaf(o *Options) bool {
	return t.CNPs >= o.DeafCNPs && t.RateSamples >= o.DeafCNPs &&
		t.MedianCutPermille < o.DeafCutPermille && t.DipPermille < o.DeafCutPermille
}

// Result is a tracker as it stands. A flow's figures are made when they are
// asked for: with a hundred thousand of them a result is a copy of their state,
// and no more.
type Result struct {
	// LinksRefused are CNPs for which there was no room to note what they meant,
	// Unconnected those which no flow was there for, PacedRefused those that the
	// scope of pacing is judged without.
	LinksRefused, Unconnected, PacedRefused int64

	n     int32
	flows slab.Slab[flow]
	odd   slab.Slab[oddMarks]
	congs []Congestion
	// untold are flows without CE marks whose peers' CNPs they weren't told of.
	untold map[int32]Congestion
	logs   []pairLog
}

type pairLog struct {
	key    pairKey
	events []cnpEvent
}

// Finish tells that no packet will follow, so that results needn't be copies.
func (t *Tracker) Finish() { t.finished = true }

// Result returns what is known at time now. peerOf gives a flow's way back, or
// -1; nil takes the peers that SetPeer told.
func (t *Tracker) Result(now int64, peerOf func(id int32) int32) *Result {
	r := &Result{LinksRefused: t.linksRefused, Unconnected: t.unconnected, PacedRefused: t.pacedRefused,
		n: t.n, flows: t.flows, odd: t.odd, congs: make([]Congestion, len(t.congs))}
	if !t.finished {
		r.flows, r.odd = t.flows.Clone(), t.odd.Clone()
	}
	for id := range t.n {
		f := t.flows.At(id)
		if odd := r.odd.At(id); odd.more != nil && !t.finished {
			odd.more = odd.more.clone()
		}
		if f.cong == 0 {
			continue
		}
		peer := f.peer - 1
		if peerOf != nil {
			peer = peerOf(id)
		}
		r.congs[f.cong-1] = t.congestion(f, peer, now)
		if n := t.cnpsOf(id); n > 0 && peer >= 0 && peer < t.n && t.flows.At(peer).cong == 0 {
			if r.untold == nil {
				r.untold = make(map[int32]Congestion)
			}
			r.untold[peer] = Congestion{Throttle: &Throttle{CNPFlow: id, CNPs: n, Untold: true}}
		}
	}
	for i := range t.usedPairs {
		if pr := t.pairs.At(i); pr.cnps != nil {
			r.logs = append(r.logs, pairLog{pr.key, append([]cnpEvent(nil), pr.cnps.events...)})
		}
	}
	return r
}

// Len is the number of flows, those that were forgotten included.
func (r *Result) Len() int { return int(r.n) }

// Flow returns the figures of a flow.
func (r *Result) Flow(id int32) Flow {
	f := r.flows.At(id)
	fl := f.figures(id, r.odd.At(id))
	if f.cong != 0 {
		fl.Congestion = r.congs[f.cong-1]
	} else if c, ok := r.untold[id]; ok {
		fl.Congestion = c
	}
	return fl
}

// EachMarking calls f for every combination of marks in a flow, in no order;
// one whose count ran over 32 bits comes twice.
func (r *Result) EachMarking(id int32, f func(Marking)) {
	r.flows.At(id).tally.each(r.odd.At(id), func(m mark, count, first int64) { f(m.marking(count, first)) })
}

// Flow returns the figures of a flow as they stand at time now, peer being its
// way back, or -1: what a caller keeps of a flow that it is about to forget.
func (t *Tracker) Flow(id, peer int32, now int64) Flow {
	if id >= t.n {
		return Flow{ID: id}
	}
	f := t.flows.At(id)
	fl := f.figures(id, t.odd.At(id))
	if f.cong != 0 {
		fl.Congestion = t.congestion(f, peer, now)
	} else if n := t.cnpsOf(peer); n > 0 {
		fl.Throttle = &Throttle{CNPFlow: peer, CNPs: n, Untold: true}
	}
	return fl
}

// cnpsOf is how many CNPs a flow had, -1 being no flow.
func (t *Tracker) cnpsOf(id int32) int64 {
	if id < 0 || id >= t.n {
		return 0
	}
	if c := t.flows.At(id).cong; c != 0 && t.congs[c-1].cnps != nil {
		return t.congs[c-1].cnps.n
	}
	return 0
}

// figures are those that every flow has.
func (f *flow) figures(id int32, odd *oddMarks) Flow {
	r := Flow{ID: id}
	r.Markings, r.Other = f.tally.list(odd)
	r.Packets = r.Other
	for _, m := range r.Markings {
		r.Packets += m.Packets
		if m.ECN != 0 {
			r.ECNCapable += m.Packets
		}
		if m.ECN == 3 {
			r.CE += m.Packets
		}
	}
	return r
}

// congestion are the figures of a flow with CE marks or CNPs.
func (t *Tracker) congestion(f *flow, peer int32, now int64) Congestion {
	c := t.congs[f.cong-1]
	r := Congestion{DataCE: c.ce, FirstCETime: c.firstCE, FirstCEPacket: c.firstCEPacket}
	if n := c.cnps; n != nil {
		r.CNPs, r.FirstCNPTime, r.FirstCNPPacket, r.CNPGap = n.n, n.first, n.firstPacket, n.gaps.summary()
		r.MalformedCNPs, r.FirstMalformedCNP, r.CNPFaults = n.malformed, n.badPacket, n.faults
	}
	open := c.open
	if peer >= 0 {
		// What other flows' CNPs answered doesn't count once the peer is known.
		var l *link
		if peer < t.n {
			l = c.link(peer, t.flows.At(peer).gen)
		}
		open = c.openFor(l)
		if n := t.cnpsOf(peer); l == nil && n > 0 {
			r.Throttle = &Throttle{CNPFlow: peer, CNPs: n, Untold: true}
			return r
		}
		if l != nil {
			r.Throttle = &Throttle{CNPFlow: peer, CNPs: l.answered + l.repeated + l.causeless, Answered: l.answered,
				Repeated: l.repeated, Causeless: l.causeless, SlowStart: l.slowStart, CEToCNP: l.delay.Summary(),
				RateSamples: l.measured, MedianCutPermille: l.medianCut(), DipPermille: l.profile.dip(c.rate.width),
				RecoverySamples: l.recovery.slopes.n, RecoveryBpsPerMS: l.recovery.slopes.median(), Recovered: l.recovery.times.n, RecoveryNS: l.recovery.times.median(),
				NotCut: l.recovery.uncut, TooSoon: l.recovery.short, TooFew: l.recovery.tooCoarse}
			r.Throttle.Deaf = r.Throttle.isDeaf(&t.opt)
		}
	}
	open.expire(now, t.opt.AnswerNS)
	r.CEUnanswered = open.total
	return r
}

// openFor returns the marks that the peer's CNPs, those of l, left unanswered:
// all of them when it sent none.
func (c *congestion) openFor(l *link) unanswered {
	if l != nil {
		return l.open
	}
	if len(c.links) == 0 {
		return c.open
	}
	return unanswered{total: c.ce}
}

// KindPackets is how many packets of a kind the flow had.
func (l Markings) KindPackets(k Kind) (n int64) {
	for _, m := range l {
		if m.Kind == k {
			n += m.Packets
		}
	}
	return n
}

// DSCP is the code point that most packets of a kind had.
func (l Markings) DSCP(k Kind) (dscp uint8, ok bool) {
	var n [64]int64
	best := int64(0)
	for _, m := range l {
		if m.Kind != k {
			continue
		}
		if n[m.DSCP] += m.Packets; n[m.DSCP] > best {
			best, dscp, ok = n[m.DSCP], m.DSCP, true
		}
	}
	return dscp, ok
}

// Pacings infers, for each host that sent CNPs, by what it paces them, from
// all shards' results.
func Pacings(rs ...*Result) []Pacing {
	type sender struct {
		iface uint16
		src   wire.Addr
	}
	all := map[sender][]pacedEvent{}
	for part, r := range rs {
		for pr, l := range r.logs {
			s := sender{l.key.iface, l.key.src}
			for _, e := range l.events {
				all[s] = append(all[s], pacedEvent{e, part, pr})
			}
		}
	}
	out := make([]Pacing, 0, len(all))
	for s, l := range all {
		out = append(out, pacing(pairKey{iface: s.iface, src: s.src}, l))
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Iface != out[j].Iface {
			return out[i].Iface < out[j].Iface
		}
		return out[i].Src.Less(out[j].Src)
	})
	return out
}
