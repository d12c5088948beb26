package analysis

import (
	"rdmascope/analysis/marking"
	"rdmascope/decode"
)

// pacer is a host that sends CNPs, at one interface.
type pacer struct {
	iface uint16
	addr  decode.Addr
}

// pacings is how each host spaces its CNPs, over all partitions.
func pacings(r *merged) map[pacer]marking.Pacing {
	results := make([]*marking.Result, len(r.partitions))
	for i := range r.partitions {
		results[i] = r.partitions[i].marks
	}
	m := map[pacer]marking.Pacing{}
	for _, p := range marking.Pacings(results...) {
		m[pacer{p.Iface, p.Src}] = p
	}
	return m
}

// marks fills in what a flow's packets were marked with, and what congestion
// notification made of it.
func (b *connectionBuilder) marks(fl *Flow, base *flow) {
	if base.packets == 0 {
		return
	}
	fl.marks = b.p.marks.Flow(base.mark)
	m := &fl.marks
	// A packet that several interfaces saw is CE when any sighting is.
	fl.ECNCE = m.CE + b.p.taps.CEMissed(base.mark)
	fl.ECNCapable = max(m.ECNCapable, fl.ECNCE)
	fl.DSCP, fl.PCP = ByNumber{}, ByNumber{}
	fl.Markings = make(List[Marking], 0, len(m.Markings))
	for i := range m.Markings {
		fl.Markings = append(fl.Markings, markingOf(&m.Markings[i]))
	}
	for _, k := range m.Markings {
		fl.DSCP[int(k.DSCP)] += k.Packets
		if k.Tagged {
			fl.PCP[int(k.PCP)] += k.Packets
		}
	}
	t := m.Throttle
	if t == nil {
		if len(fl.Reasons) == 0 || fl.Reasons["acks"] == "" { // the way back was seen, without a CNP
			fl.CNP = Int(0)
		}
		return
	}
	peer := b.p.marks.Flow(t.CNPFlow)
	fl.CNP = Int(peer.CNPs)
	if peer.CNPGap.Count > 0 {
		fl.CNPGapMinNS = Int(peer.CNPGap.MinNS)
	}
	key := b.p.keys[base.id]
	if p, ok := b.pacings[pacer{key.Iface, key.Dst}]; ok && p.Scope != marking.ScopeUnknown {
		fl.CNPScope = Text(p.Scope.String())
	}
	if c := t.CEToCNP; c != nil {
		fl.CEToCNP = &Latency{Count: c.Count, MinNS: c.Min, P50NS: c.P50, P90NS: c.P90, P99NS: c.P99, P999NS: c.P999, MaxNS: c.Max, MeanNS: c.MeanDown}
	}
	if t.RateSamples > 0 {
		cut := Decimal(t.MedianCutPermille) / 1000
		fl.RateReduction = &cut
	}
}

var ecnNames = [...]string{"not_ect", "ect1", "ect0", "ce"}

func markingOf(m *marking.Marking) Marking {
	out := Marking{Kind: m.Kind.String(), DSCP: int64(m.DSCP), ECN: ecnNames[m.ECN&3], Packets: m.Packets}
	if m.Tagged {
		out.PCP, out.VLANID = Int(int64(m.PCP)), Int(int64(m.VID))
	}
	return out
}
