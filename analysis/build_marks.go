package analysis

import (
	"rdmascope/analysis/marking"
	"rdmascope/decode/wire"
)

// pacer is a host that sends CNPs, at one interface.
type pacer struct {
	iface uint16
	addr  wire.Addr
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
	m := b.p.marks.Flow(base.mark)
	fl.markings = m.Markings
	if m.Congestion != (marking.Congestion{}) {
		c := m.Congestion
		fl.congestion = &c
	}
	// A packet that several interfaces saw is CE when any sighting is.
	fl.ECNCE = m.CE + b.p.taps.CEMissed(base.mark)
	fl.ECNCapable = max(m.ECNCapable, fl.ECNCE)
	fl.DSCP = ByNumber{}
	fl.Markings = make(List[Marking], 0, len(m.Markings))
	for i := range m.Markings {
		fl.Markings = append(fl.Markings, b.marking(&m.Markings[i]))
	}
	for _, k := range m.Markings {
		fl.DSCP[int(k.DSCP)] += k.Packets
		if k.Tagged {
			if fl.PCP == nil {
				fl.PCP = ByNumber{}
			}
			fl.PCP[int(k.PCP)] += k.Packets
		}
	}
	t := m.Throttle
	if t == nil {
		if len(fl.Reasons) == 0 || fl.Reasons["acks"] == "" { // the way back was seen, without a CNP
			fl.CNP = b.int(0)
		} else {
			fl.Reasons = b.with(fl.Reasons, "cnp_packets", "no acknowledgement shows that the way back was captured")
		}
		return
	}
	peer := b.p.marks.Flow(t.CNPFlow)
	fl.CNP = b.int(peer.CNPs)
	if peer.CNPGap.Count > 0 {
		fl.CNPGapMinNS = b.int(peer.CNPGap.MinNS)
	}
	if t.Untold {
		const why = "its CNPs passed before it did, or while there were more flows between the hosts than a CNP is matched with before queue pairs are known"
		for _, name := range [...]string{"ce_to_cnp", "rate_reduction_ratio", "rate_recovery_bps_per_ms", "rate_recovery_ns"} {
			fl.Reasons = b.with(fl.Reasons, name, why)
		}
	}
	key := b.p.keys[base.id]
	if p, ok := b.pacings[pacer{key.Iface, key.Dst}]; ok && p.Scope != marking.ScopeUnknown {
		fl.CNPScope = Text(p.Scope.String())
	}
	if c := t.CEToCNP; c != nil {
		fl.CEToCNP = place(&b.latencies, Latency{Count: c.Count, MinNS: c.Min, P50NS: c.P50, P90NS: c.P90, P99NS: c.P99, P999NS: c.P999, MaxNS: c.Max, MeanNS: c.MeanDown})
	}
	if !t.Untold {
		b.reaction(fl, t)
	}
}

// reaction fills in what the sender did after CNPs.
func (b *connectionBuilder) reaction(fl *Flow, t *marking.Throttle) {
	why := func(name, reason string) { fl.Reasons = b.with(fl.Reasons, name, reason) }
	if t.RateSamples > 0 {
		fl.RateReduction = b.decimal(Decimal(t.MedianCutPermille) / 1000)
	} else {
		why("rate_reduction_ratio", "nothing was sent in the 50 µs before a CNP, or the capture ends too soon after it")
	}
	if t.RecoverySamples > 0 {
		fl.RateRecovery = b.int(t.RecoveryBpsPerMS)
	} else {
		why("rate_recovery_bps_per_ms", noRecovery(t))
	}
	switch {
	case t.Recovered > 0:
		fl.RateRecoveryNS = b.int(t.RecoveryNS)
	case t.RecoverySamples > 0:
		why("rate_recovery_ns", "the rate rose, but was never back at 95 % within 3.2 ms or before the next CNP")
	default:
		why("rate_recovery_ns", noRecovery(t))
	}
}

// noRecovery says why the rate wasn't seen to rise again.
func noRecovery(t *marking.Throttle) string {
	most := max(t.NotCut, t.TooSoon, t.TooFew)
	switch {
	case most == 0:
		return "the flow sent too little after its CNPs"
	case most == t.NotCut:
		return "the rate wasn't cut"
	case most == t.TooSoon:
		return "the next CNP came before the rate could be seen to rise"
	}
	return "too few packets to tell the rate of 50 µs"
}

var ecnNames = [...]string{"not_ect", "ect1", "ect0", "ce"}

func (a *arena) marking(m *marking.Marking) Marking {
	out := Marking{Kind: m.Kind.String(), DSCP: int64(m.DSCP), ECN: ecnNames[m.ECN&3], Packets: m.Packets}
	if m.Tagged {
		out.PCP, out.VLANID = a.int(int64(m.PCP)), a.int(int64(m.VID))
	}
	return out
}
