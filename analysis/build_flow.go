package analysis

import (
	"math/bits"
	"slices"
	"strconv"

	"rdmascope/analysis/rc"
	"rdmascope/decode/roce"
)

// plainFlow fills in what the packets of a flow say one by one. fl is empty, and
// filled field by field: it is large, and a value of it would be made elsewhere and
// copied.
func (a *arena) plainFlow(fl *Flow, k FlowKey, f *flow) {
	fl.SrcIP, fl.DstIP, fl.DestQP = a.address(k.Src), a.address(k.Dst), a.int(int64(k.DestQP))
	fl.Packets, fl.WireBytes, fl.PayloadBytes = f.packets, f.wire, f.payload
	fl.ICRCChecked, fl.ICRCBad, fl.ChecksumBad = f.icrcChecked, f.icrcBad, a.int(f.checksumBad)
	fl.Opcodes = f.opcodeNames()
	fl.UDPSrcPorts = a.list(len(f.ports.list()))
	for _, p := range f.ports.list() {
		fl.UDPSrcPorts = append(fl.UDPSrcPorts, int64(p))
	}
	slices.Sort(fl.UDPSrcPorts)
	fl.VLANIDs = a.list(len(f.vlans.list()))
	for _, v := range f.vlans.list() {
		fl.VLANIDs = append(fl.VLANIDs, int64(v))
	}
	slices.Sort(fl.VLANIDs)
}

// opcodeNames counts packets by the names of their opcodes.
func (f *flow) opcodeNames() Counts {
	names := Counts{}
	for i := range f.opcodes.n { // one comes again when its count was full
		names[roce.Opcode(f.opcodes.ops[i]).String()] += int64(f.opcodes.counts[i])
	}
	if f.more != nil {
		for op, n := range f.more {
			if n > 0 {
				names[roce.Opcode(op).String()] += n
			}
		}
	}
	return names
}

// untracked says why a flow that no tracker of connections knows has no
// figures of that kind.
func (a *arena) untracked(fl *Flow, service string) {
	reason := "datagrams: nothing acknowledges them, and no order is promised"
	if service != "ud" {
		reason = "this service's connections are not tracked"
	}
	for _, name := range []string{"messages", "acks", "naks", "rnr_naks", "retransmitted_packets", "retransmitted_bytes",
		"repeated_response_packets", "out_of_order_packets", "duplicate_packets", "network_duplicate_packets", "unseen_packets",
		"lost_upstream_packets", "lost_downstream_packets", "unanswered_packets", "episodes", "latency", "psn_gaps", "psn_gap_packets"} {
		fl.Reasons = a.with(fl.Reasons, name, reason)
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
func (a *arena) reliableFlow(fl *Flow, f *rc.FlowFigures, k FlowKey, base *flow) {
	a.plainFlow(fl, k, base)
	count := func(name string, c rc.Count) *int64 {
		if c.Known {
			return a.int(int64(c.N))
		}
		fl.Reasons = a.with(fl.Reasons, name, c.Reason.String())
		return nil
	}
	fl.Duplicates, fl.NetDuplicates = a.int(int64(f.Duplicates)), a.int(int64(f.NetworkCopies))
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
	a.requesterFigures(fl, f, count)
	a.answerFigures(fl, f)
}

// requesterFigures are those that stand at the flow whose sender asks.
func (a *arena) requesterFigures(fl *Flow, f *rc.FlowFigures, count func(string, rc.Count) *int64) {
	fl.Messages = a.int(int64(f.Messages))
	fl.Retransmitted, fl.RetransBytes = a.int(int64(f.Retransmitted)), a.int(int64(f.RetransmittedBytes))
	fl.OutOfOrder = a.int(int64(f.OutOfOrder))
	if f.HasRequests {
		fl.FirstPSN, fl.LastPSN = a.int(int64(f.FirstPSN)), a.int(int64(f.LastPSN))
	}
	if f.PathMTU > 0 {
		fl.PathMTUBytes = a.int(int64(f.PathMTU))
	}
	if total := count("episodes", f.Episodes); total != nil {
		fl.Episodes, fl.EpisodesLost = a.episodesOf(f, *total)
		fl.RecoveryTimeNS = a.int(f.RecoveryNS)
	}
	fl.RecoveryScheme = Text(f.Scheme)
	if len(f.Recoveries) > 0 {
		fl.Recoveries = make(List[Recovery], 0, len(f.Recoveries))
	}
	for i := range f.Recoveries {
		fl.Recoveries = append(fl.Recoveries, a.recovery(&f.Recoveries[i]))
	}
	if f.AckTimeoutExponent > 0 && !f.AckTimeoutByCM {
		fl.AckTimeoutInferred = a.int(int64(f.AckTimeoutExponent))
	}
	if f.HasRequests {
		fl.Livelock = a.bool(f.Livelock)
		if f.Unseen.Known {
			fl.RetriesExhausted = a.bool(f.RetriesExhausted != nil)
		} else { // without the way back, nobody knows whether it was answered
			fl.Reasons = a.with(fl.Reasons, "retries_exhausted", f.Unseen.Reason.String())
		}
		fl.MaxOutstanding = count("max_outstanding_packets", f.MaxOutstanding)
		fl.MaxReads = count("max_outstanding_reads", f.MaxReads)
		fl.Unanswered = count("unanswered_packets", f.Unanswered)
		fl.quietSince, fl.unfinished = Time(f.QuietSince), f.Unfinished
		a.rates(fl, f)
	}
	if lost := orZero(fl.LostUpstream) + orZero(fl.LostDownstream); lost > 0 {
		fl.Amplification = a.quotient(int64(f.Retransmitted), lost)
	}
	fl.Latency = Latencies{
		Ack: a.latency(f.Latency[rc.LatencyAck]), Message: a.latency(f.Latency[rc.LatencyMessage]),
		ReadFirst: a.latency(f.Latency[rc.LatencyReadFirst]), ReadLast: a.latency(f.Latency[rc.LatencyReadLast]),
		Atomic: a.latency(f.Latency[rc.LatencyAtomic]),
	}
	if f.DuplicateRequests.Known {
		fl.duplicateRequests = a.int(int64(f.DuplicateRequests.N))
	}
	if f.TimedNS > 0 {
		fl.PauseOverlap = a.quotient(f.PausedNS, f.TimedNS)
	}
	if f.MessageSizes != nil {
		fl.MessageSizes = messageSizes(f.MessageSizes)
	}
	if f.Service == "uc" {
		fl.PSNGaps, fl.PSNGapPackets = a.int(int64(f.UCGaps)), a.int(int64(f.UCSkipped))
	}
}

// noEpisodes and noneLost are shared by all flows without trouble, as noNaks is,
// and never changed.
var (
	noEpisodes Episodes
	noneLost   EpisodesLost
	noNaks     Naks
)

func (a *arena) episodesOf(f *rc.FlowFigures, total int64) (*Episodes, *EpisodesLost) {
	if total == 0 && f.EpisodesBy == (rc.Episodes{}) && len(f.EpisodesLost) == 0 {
		return &noEpisodes, &noneLost
	}
	e := &f.EpisodesBy
	lost := func(name string) int64 { return int64(f.EpisodesLost[name]) }
	return place(&a.episodes, Episodes{Total: total, Nak: int64(e.NAK), RNR: int64(e.RNR), Timeout: int64(e.Timeout), ImpliedNak: int64(e.ImpliedNAK),
			Adaptive: int64(e.Adaptive), Spurious: int64(e.Spurious), NakUnheeded: int64(e.NAKUnheeded)}),
		place(&a.lost, EpisodesLost{Upstream: lost("upstream"), Downstream: lost("downstream"), Ack: lost("ack"), Corrupt: lost("corrupt"),
			Reorder: lost("reorder"), None: lost("none"), Undetermined: lost("undetermined")})
}

// rates are means over the flow's life.
func (a *arena) rates(fl *Flow, f *rc.FlowFigures) {
	life := f.LastTime - f.FirstTime
	if life <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(fl.PayloadBytes)*8, 1e9)
	if hi < uint64(life) {
		bps, _ := bits.Div64(hi, lo, uint64(life))
		fl.ThroughputBps = a.int(int64(bps))
	}
	fl.MessageRate = a.decimal(Decimal(float64(f.Messages) / (float64(life) / 1e9)))
}

// answerFigures are those of the responses to the flow's packets.
func (a *arena) answerFigures(fl *Flow, f *rc.FlowFigures) {
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
			fl.Reasons = a.with(fl.Reasons, name, reason)
		}
		return
	}
	fl.Acks = a.int(int64(f.Acks))
	fl.RNRNaks = a.int(int64(f.RNRNAKs))
	fl.firstNak, fl.firstRNR = f.FirstNAK, f.FirstRNR
	fl.Naks = a.naksOf(f)
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

func (a *arena) naksOf(f *rc.FlowFigures) *Naks {
	if f.NAKs == [5]uint64{} {
		return &noNaks
	}
	return place(&a.naks, Naks{
		PSNSequenceError: int64(f.NAKs[0]), InvalidRequest: int64(f.NAKs[1]), RemoteAccessError: int64(f.NAKs[2]),
		RemoteOperationalError: int64(f.NAKs[3]), InvalidRDRequest: int64(f.NAKs[4]),
	})
}

func (a *arena) recovery(r *rc.Recovery) Recovery {
	out := Recovery{Kind: r.Kind, FirstTime: Time(r.FirstTime), FirstPacket: a.int(r.FirstPacket), PSN: int64(r.PSN), ResentPackets: int64(r.ResentPackets),
		Lost: r.Lost, LostPacket: Text(r.LostPacket), NakGenerationNS: a.known(r.GenerationNS), NakReactionNS: a.known(r.ReactionNS), RecoveryNS: a.known(r.RecoveryNS)}
	return out
}

func (a *arena) latency(b *rc.LatencyBlock) *Latency {
	if b == nil {
		return nil
	}
	return place(&a.latencies, Latency{Count: int64(b.Count), Coalesced: int64(b.Coalesced), Recovered: int64(b.Recovered), MinNS: b.MinNS, P50NS: b.P50NS,
		P90NS: b.P90NS, P99NS: b.P99NS, P999NS: b.P999NS, MaxNS: b.MaxNS, MeanNS: b.MeanNS, samples: b})
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
