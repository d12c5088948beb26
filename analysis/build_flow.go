package analysis

import (
	"math/bits"
	"slices"
	"strconv"

	"rdmascope/analysis/rc"
	"rdmascope/decode/roce"
)

// plainFlow fills in what the packets of a flow say one by one.
func plainFlow(k FlowKey, f *flow) Flow {
	fl := Flow{
		SrcIP: k.Src.String(), DstIP: k.Dst.String(), DestQP: Int(int64(k.DestQP)),
		Packets: f.packets, WireBytes: f.wire, PayloadBytes: f.payload,
		ICRCChecked: f.icrcChecked, ICRCBad: f.icrcBad,
		Opcodes: Counts{},
	}
	if f.checksumBad > 0 {
		fl.ChecksumBad = Int(f.checksumBad)
	} else {
		fl.ChecksumBad = Int(0)
	}
	for _, p := range f.ports.list() {
		fl.UDPSrcPorts = append(fl.UDPSrcPorts, int64(p))
	}
	slices.Sort(fl.UDPSrcPorts)
	for _, v := range f.vlans.list() {
		fl.VLANIDs = append(fl.VLANIDs, int64(v))
	}
	slices.Sort(fl.VLANIDs)
	f.eachOpcode(func(op uint8, n int64) { fl.Opcodes[roce.Opcode(op).String()] += n })
	return fl
}

// untracked says why a flow that no tracker of connections knows has no
// figures of that kind.
func untracked(fl *Flow, service string, why *reasons) {
	reason := "datagrams: nothing acknowledges them, and no order is promised"
	if service != "ud" {
		reason = "this service's connections are not tracked"
	}
	for _, name := range []string{"messages", "acks", "naks", "rnr_naks", "retransmitted_packets", "retransmitted_bytes",
		"repeated_response_packets", "out_of_order_packets", "duplicate_packets", "network_duplicate_packets", "unseen_packets",
		"lost_upstream_packets", "lost_downstream_packets", "unanswered_packets", "episodes", "latency", "psn_gaps", "psn_gap_packets"} {
		fl.Reasons = why.with(fl.Reasons, name, reason)
	}
}

// service is the transport service that the flow's opcodes name.
func (f *flow) service() string {
	name := ""
	f.eachOpcode(func(op uint8, _ int64) {
		if s := serviceName(roce.Opcode(op).Service()); s != "" && name == "" {
			name = s
		}
	})
	return name
}

// reliableFlow adds what tracking the connection gave, each figure where
// METRICS puts it.
func reliableFlow(f *rc.FlowFigures, k FlowKey, base *flow, why *reasons) Flow {
	fl := plainFlow(k, base)
	count := func(name string, c rc.Count) *int64 {
		if c.Known {
			return Int(int64(c.N))
		}
		fl.Reasons = why.with(fl.Reasons, name, c.Reason.String())
		return nil
	}
	fl.Duplicates, fl.NetDuplicates = Int(int64(f.Duplicates)), Int(int64(f.NetworkCopies))
	fl.Unseen = count("unseen_packets", f.Unseen)
	fl.LostUpstream = count("lost_upstream_packets", f.LostUpstream)
	fl.LostDownstream = count("lost_downstream_packets", f.LostDownstream)
	switch up, down := f.LostUpstream.Known, f.LostDownstream.Known; {
	case up && down:
		fl.Bounds = lossBounds
	case up:
		fl.Bounds = Map[string]{"lost_upstream_packets": "lower"}
	case down:
		fl.Bounds = Map[string]{"lost_downstream_packets": "lower"}
	}
	fl.RepeatResponses = count("repeated_response_packets", f.RepeatedAnswers)
	requesterFigures(&fl, f, count, why)
	answerFigures(&fl, f, why)
	return fl
}

// requesterFigures are those that stand at the flow whose sender asks.
func requesterFigures(fl *Flow, f *rc.FlowFigures, count func(string, rc.Count) *int64, why *reasons) {
	fl.Messages = Int(int64(f.Messages))
	fl.Retransmitted, fl.RetransBytes = Int(int64(f.Retransmitted)), Int(int64(f.RetransmittedBytes))
	fl.OutOfOrder = Int(int64(f.OutOfOrder))
	if f.HasRequests {
		fl.FirstPSN, fl.LastPSN = Int(int64(f.FirstPSN)), Int(int64(f.LastPSN))
	}
	if f.PathMTU > 0 {
		fl.PathMTUBytes = Int(int64(f.PathMTU))
	}
	if total := count("episodes", f.Episodes); total != nil {
		e := &f.EpisodesBy
		fl.Episodes = &Episodes{Total: *total, Nak: int64(e.NAK), RNR: int64(e.RNR), Timeout: int64(e.Timeout), ImpliedNak: int64(e.ImpliedNAK),
			Adaptive: int64(e.Adaptive), Spurious: int64(e.Spurious), NakUnheeded: int64(e.NAKUnheeded)}
		lost := func(name string) int64 { return int64(f.EpisodesLost[name]) }
		fl.EpisodesLost = &EpisodesLost{Upstream: lost("upstream"), Downstream: lost("downstream"), Ack: lost("ack"), Corrupt: lost("corrupt"),
			Reorder: lost("reorder"), None: lost("none"), Undetermined: lost("undetermined")}
		fl.RecoveryTimeNS = Int(f.RecoveryNS)
	}
	fl.RecoveryScheme = Text(f.Scheme)
	for i := range f.Recoveries {
		fl.Recoveries = append(fl.Recoveries, recovery(&f.Recoveries[i]))
	}
	if f.AckTimeoutExponent > 0 && !f.AckTimeoutByCM {
		fl.AckTimeoutInferred = Int(int64(f.AckTimeoutExponent))
	}
	if f.HasRequests {
		fl.Livelock = Bool(f.Livelock)
		if f.Unseen.Known {
			fl.RetriesExhausted = Bool(f.RetriesExhausted != nil)
		} else { // without the way back, nobody knows whether it was answered
			fl.Reasons = why.with(fl.Reasons, "retries_exhausted", f.Unseen.Reason.String())
		}
		fl.MaxOutstanding = count("max_outstanding_packets", f.MaxOutstanding)
		fl.MaxReads = count("max_outstanding_reads", f.MaxReads)
		fl.Unanswered = count("unanswered_packets", f.Unanswered)
		fl.quietSince, fl.unfinished = Time(f.QuietSince), f.Unfinished
		rates(fl, f)
	}
	if lost := orZero(fl.LostUpstream) + orZero(fl.LostDownstream); lost > 0 {
		fl.Amplification = Quotient(int64(f.Retransmitted), lost)
	}
	fl.Latency = Latencies{
		Ack: latencyOf(f.Latency[rc.LatencyAck]), Message: latencyOf(f.Latency[rc.LatencyMessage]),
		ReadFirst: latencyOf(f.Latency[rc.LatencyReadFirst]), ReadLast: latencyOf(f.Latency[rc.LatencyReadLast]),
		Atomic: latencyOf(f.Latency[rc.LatencyAtomic]),
	}
	if f.DuplicateRequests.Known {
		fl.duplicateRequests = Int(int64(f.DuplicateRequests.N))
	}
	if f.TimedNS > 0 {
		fl.PauseOverlap = Quotient(f.PausedNS, f.TimedNS)
	}
	if f.MessageSizes != nil {
		fl.MessageSizes = messageSizes(f.MessageSizes)
	}
	if f.Service == "uc" {
		fl.PSNGaps, fl.PSNGapPackets = Int(int64(f.UCGaps)), Int(int64(f.UCSkipped))
	}
}

// rates are means over the flow's life.
func rates(fl *Flow, f *rc.FlowFigures) {
	life := f.LastTime - f.FirstTime
	if life <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(fl.PayloadBytes)*8, 1e9)
	if hi < uint64(life) {
		bps, _ := bits.Div64(hi, lo, uint64(life))
		fl.ThroughputBps = Int(int64(bps))
	}
	rate := Decimal(float64(f.Messages) / (float64(life) / 1e9))
	fl.MessageRate = &rate
}

// answerFigures are those of the responses to the flow's packets.
func answerFigures(fl *Flow, f *rc.FlowFigures, why *reasons) {
	reason := ""
	switch {
	case f.AcksCut:
		reason = rc.ReasonCut.String()
	case !f.Answered && f.Unseen.Reason == rc.ReasonOneWay:
		reason = rc.ReasonOneWay.String()
	case f.Service == "uc":
		reason = rc.ReasonService.String()
	}
	if reason != "" {
		for _, name := range []string{"acks", "naks", "rnr_naks"} {
			fl.Reasons = why.with(fl.Reasons, name, reason)
		}
		return
	}
	fl.Acks = Int(int64(f.Acks))
	fl.RNRNaks = Int(int64(f.RNRNAKs))
	fl.firstNak, fl.firstRNR = f.FirstNAK, f.FirstRNR
	fl.Naks = &Naks{
		PSNSequenceError: int64(f.NAKs[0]), InvalidRequest: int64(f.NAKs[1]), RemoteAccessError: int64(f.NAKs[2]),
		RemoteOperationalError: int64(f.NAKs[3]), InvalidRDRequest: int64(f.NAKs[4]),
	}
	if f.RNRTimers == nil {
		return
	}
	fl.RNRTimers = ByNumber{}
	for code, n := range f.RNRTimers {
		if n > 0 {
			fl.RNRTimers[code] = int64(n)
		}
	}
}

func recovery(r *rc.Recovery) Recovery {
	out := Recovery{Kind: r.Kind, FirstTime: Time(r.FirstTime), FirstPacket: Int(r.FirstPacket), PSN: int64(r.PSN), ResentPackets: int64(r.ResentPackets),
		Lost: r.Lost, LostPacket: Text(r.LostPacket), NakGenerationNS: known(r.GenerationNS), NakReactionNS: known(r.ReactionNS), RecoveryNS: known(r.RecoveryNS)}
	return out
}

func latencyOf(b *rc.LatencyBlock) *Latency {
	if b == nil {
		return nil
	}
	return &Latency{Count: int64(b.Count), Coalesced: int64(b.Coalesced), Recovered: int64(b.Recovered), MinNS: b.MinNS, P50NS: b.P50NS,
		P90NS: b.P90NS, P99NS: b.P99NS, P999NS: b.P999NS, MaxNS: b.MaxNS, MeanNS: b.MeanNS, samples: b}
}

// messageSizes counts messages by the power of two that their size is below.
func messageSizes(m *rc.MessageSizes) Counts {
	c := Counts{}
	for k, n := range m.ByLog {
		if n > 0 {
			name := "0"
			if k > 0 {
				name = strconv.FormatInt(int64(1)<<(k-1), 10)
			}
			c[name] = int64(n)
		}
	}
	return c
}
