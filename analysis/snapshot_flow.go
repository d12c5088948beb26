package analysis

import (
	"rdmascope/analysis/iwarp"
	"rdmascope/analysis/marking"
)

// Flow is one direction of a connection. A figure stands at the flow on which
// the packet travelled, at the requester's flow, or at the flow which it
// answers, as METRICS has it; null where the capture or this version cannot
// tell, with the reason in Reasons.
type Flow struct {
	SrcIP           string      `json:"src_ip" doc:"source address (RoCEv1 and InfiniBand: the GID)"`
	DstIP           string      `json:"dst_ip" doc:"destination address"`
	DestQP          *int64      `json:"dest_qp" doc:"destination QPN; null for iWARP"`
	SrcPort         *int64      `json:"src_port,omitempty" doc:"TCP source port (iWARP only)"`
	DstPort         *int64      `json:"dst_port,omitempty" doc:"TCP destination port (iWARP only)"`
	UDPSrcPorts     List[int64] `json:"udp_src_ports" doc:"UDP source ports used"`
	VLANIDs         List[int64] `json:"vlan_ids" doc:"outer VLAN ids seen"`
	DSCP            ByNumber    `json:"dscp" doc:"packets by DSCP"`
	PCP             ByNumber    `json:"pcp" doc:"VLAN tagged packets by priority code point"`
	Packets         int64       `json:"packets" doc:"packets on this flow, copies and bad iCRCs too"`
	WireBytes       int64       `json:"wire_bytes" doc:"frame lengths without FCS, preamble and gap"`
	PayloadBytes    int64       `json:"payload_bytes" doc:"upper layer bytes, without headers, padding and iCRC"`
	Messages        *int64      `json:"messages" doc:"messages asked for on this flow, each counted once"`
	Opcodes         Counts      `json:"opcodes" doc:"packets (iWARP: FPDUs) by operation, named as in Wireshark"`
	PathMTUBytes    *int64      `json:"path_mtu_bytes" doc:"path MTU shown by the packets"`
	FirstPSN        *int64      `json:"first_psn" doc:"first request PSN seen"`
	LastPSN         *int64      `json:"last_psn" doc:"newest request PSN seen"`
	PSNGaps         *int64      `json:"psn_gaps" doc:"times the PSN jumped forward at the tap (UC only)"`
	PSNGapPackets   *int64      `json:"psn_gap_packets" doc:"PSNs skipped by those jumps; out_of_order_packets tells how many came late (UC only)"`
	Retransmitted   *int64      `json:"retransmitted_packets" doc:"packets sent again by the requester"`
	RetransBytes    *int64      `json:"retransmitted_bytes" doc:"their frame bytes"`
	RepeatResponses *int64      `json:"repeated_response_packets" doc:"responses sent again because they were asked for again"`
	OutOfOrder      *int64      `json:"out_of_order_packets" doc:"first sendings that arrived after a packet sent later"`
	Duplicates      *int64      `json:"duplicate_packets" doc:"copies"`
	NetDuplicates   *int64      `json:"network_duplicate_packets" doc:"copies that the receiver answered: made by the network"`
	Unseen          *int64      `json:"unseen_packets" doc:"packets proved delivered, not in the capture"`
	UnseenBytes     *int64      `json:"unseen_bytes" doc:"TCP octets acknowledged, not in the capture (iWARP)"`
	LostUpstream    *int64      `json:"lost_upstream_packets" doc:"sendings proved lost before the tap: a lower bound"`
	LostDownstream  *int64      `json:"lost_downstream_packets" doc:"sendings proved lost after the tap: a lower bound"`
	ICRCChecked     int64       `json:"icrc_checked_packets" doc:"packets whose iCRC could be computed"`
	ICRCBad         int64       `json:"icrc_bad_packets" doc:"packets whose iCRC is wrong"`
	ChecksumBad     *int64      `json:"checksum_bad_packets" doc:"packets with a wrong TCP or IP checksum that no offload explains"`
	Acks            *int64      `json:"acks" doc:"ACKs that answer this flow"`
	Naks            *Naks       `json:"naks" doc:"NAKs that answer this flow, by code"`
	RNRNaks         *int64      `json:"rnr_naks" doc:"RNR NAKs that answer this flow"`
	RNRTimers       ByNumber    `json:"rnr_timers" doc:"those RNR NAKs by timer code"`
	ECNCapable      int64       `json:"ecn_capable_packets" doc:"packets with ECT(0), ECT(1) or CE"`
	ECNCE           int64       `json:"ecn_ce_packets" doc:"packets with CE"`
	CNP             *int64      `json:"cnp_packets" doc:"CNPs that name this flow's sender"`

	Episodes       *Episodes      `json:"episodes" doc:"steps back of the sender, by trigger"`
	EpisodesLost   *EpisodesLost  `json:"episodes_lost" doc:"the same by where the packet was lost"`
	RecoveryScheme Text           `json:"recovery_scheme" enum:"go_back_n|selective|go_back_0|unknown" doc:"how the sender recovers"`
	Recoveries     List[Recovery] `json:"recoveries" doc:"at most 100, longest first"`
	Latency        Latencies      `json:"latency" doc:"from tap to responder and back to the tap"`

	Reasons            Map[string]   `json:"reasons" doc:"why a figure of this flow is null, by its name"`
	Bounds             Map[string]   `json:"bounds" doc:"figures that are bounds (lower), by name"`
	AckTimeoutInferred *int64        `json:"ack_timeout_exponent_inferred" doc:"ACK timeout exponent read from the silences"`
	RecoveryTimeNS     *int64        `json:"recovery_time_ns" doc:"time lost to recovery"`
	Amplification      *Decimal      `json:"amplification_ratio" doc:"packets resent per packet proved lost"`
	RetriesExhausted   *bool         `json:"retries_exhausted" doc:"the sender gave up"`
	Livelock           *bool         `json:"livelock" doc:"recovery without progress"`
	ThroughputBps      *int64        `json:"throughput_bps" doc:"payload bits per second of its life"`
	MessageRate        *Decimal      `json:"message_rate_per_s" doc:"messages per second of its life"`
	MessageSizes       Counts        `json:"message_sizes" doc:"messages by size in bytes, powers of two"`
	MaxOutstanding     *int64        `json:"max_outstanding_packets" doc:"most request packets unacknowledged at once"`
	MaxReads           *int64        `json:"max_outstanding_reads" doc:"most READs and atomics open at once"`
	Unanswered         *int64        `json:"unanswered_packets" doc:"request packets, and response packets of READs, that nothing had answered when the capture or the connection ended"`
	PauseOverlap       *Decimal      `json:"pause_overlap_ratio" doc:"share of the latency that overlaps a pause"`
	CEToCNP            *Latency      `json:"ce_to_cnp" doc:"CE mark at the tap to the CNP"`
	Markings           List[Marking] `json:"markings" doc:"packets by kind and by what they are marked with, most first"`
	CNPGapMinNS        *int64        `json:"cnp_gap_min_ns" doc:"smallest time between two CNPs"`
	CNPScope           Text          `json:"cnp_scope" doc:"what the CNP pacing is kept for: qp, ip_pair or port"`
	RateReduction      *Decimal      `json:"rate_reduction_ratio" doc:"median cut of the rate after a CNP; null without CNPs"`
	RateRecovery       *int64        `json:"rate_recovery_bps_per_ms" doc:"median slope, bit/s in a millisecond, at which the rate rises again after a CNP; null without CNPs"`
	RateRecoveryNS     *int64        `json:"rate_recovery_ns" doc:"median time from a CNP until the rate is back at 95 %, of those after which it was; null without CNPs"`

	TCP        *TCP            `json:"tcp,omitempty" doc:"TCP figures (iWARP only)"`
	MPA        *MPA            `json:"mpa,omitempty" doc:"MPA figures (iWARP only)"`
	Turnround  *Latency        `json:"turnround,omitempty" doc:"lone SEND to the peer's next SEND: how long the application took (iWARP only)"`
	Reads      *Reads          `json:"reads,omitempty" doc:"RDMA Reads (iWARP only)"`
	Terminates List[Terminate] `json:"terminates,omitzero" doc:"Terminate messages (iWARP only)"`
	Holes      List[Hole]      `json:"holes,omitzero" doc:"gaps of the octet stream, at most 100 (iWARP only)"`

	duplicateRequests *int64              // that its receiver had already, an estimate; for NIC counters
	stream            *iwarp.Flow         // the tracker's own figures (iWARP); evidence of findings
	markings          marking.Markings    // evidence of findings about marks, as congestion is
	congestion        *marking.Congestion // nil with neither CE marks nor CNPs, see congested
	quietSince        Time                // of the newest request or answer to one
	unfinished        bool                // the newest request ends no message
	firstNak          [5]int64            // number of the first NAK of each code, 0 for none; evidence of findings
	firstRNR          int64
}

var uncongested marking.Congestion

// congested is what the tracker of marks says of CE marks and CNPs, to be read
// only.
func (fl *Flow) congested() *marking.Congestion {
	if fl.congestion == nil {
		return &uncongested
	}
	return fl.congestion
}

// Marking is one combination of marks for quality of service in a flow.
type Marking struct {
	Kind    string `json:"kind" enum:"data|request|ack|read_response|cnp" doc:"kind of packet; request: READ and atomics, which carry no data"`
	DSCP    int64  `json:"dscp" doc:"differentiated services code point"`
	ECN     string `json:"ecn" enum:"not_ect|ect1|ect0|ce" doc:"explicit congestion notification"`
	PCP     *int64 `json:"pcp" doc:"priority code point of the VLAN tag; null without tag"`
	VLANID  *int64 `json:"vlan_id" doc:"VLAN id; null without tag"`
	Packets int64  `json:"packets" doc:"packets"`
}

// Naks counts NAKs by AETH syndrome code (IBTA vol 1, 9.7.5.2.8).
type Naks struct {
	PSNSequenceError       int64 `json:"psn_sequence_error" doc:"code 0"`
	InvalidRequest         int64 `json:"invalid_request" doc:"code 1"`
	RemoteAccessError      int64 `json:"remote_access_error" doc:"code 2"`
	RemoteOperationalError int64 `json:"remote_operational_error" doc:"code 3"`
	InvalidRDRequest       int64 `json:"invalid_rd_request" doc:"code 4"`
}

// Total is the sum over all codes.
func (n Naks) Total() int64 {
	return n.PSNSequenceError + n.InvalidRequest + n.RemoteAccessError + n.RemoteOperationalError + n.InvalidRDRequest
}

// Episodes counts steps back of the sender by what triggered them.
type Episodes struct {
	Total       int64 `json:"total" doc:"sum of the kinds"`
	Nak         int64 `json:"nak" doc:"a sequence NAK"`
	RNR         int64 `json:"rnr" doc:"an RNR NAK"`
	Timeout     int64 `json:"timeout" doc:"the ACK timer"`
	ImpliedNak  int64 `json:"implied_nak" doc:"a later response told the requester"`
	Adaptive    int64 `json:"adaptive" doc:"less silence than an ACK timeout"`
	Spurious    int64 `json:"spurious" doc:"all of it was acknowledged already"`
	NakUnheeded int64 `json:"nak_unheeded" doc:"part of timeout: a NAK had come and moved nothing"`
}

// EpisodesLost counts episodes by where the packet was lost.
type EpisodesLost struct {
	Upstream     int64 `json:"upstream" doc:"before the tap"`
	Downstream   int64 `json:"downstream" doc:"after the tap"`
	Ack          int64 `json:"ack" doc:"the acknowledgement"`
	Corrupt      int64 `json:"corrupt" doc:"arrived with a bad iCRC"`
	Reorder      int64 `json:"reorder" doc:"came late, nothing lost"`
	None         int64 `json:"none" doc:"nothing lost"`
	Undetermined int64 `json:"undetermined" doc:"cannot be told from the tap"`
}

// Recovery is one episode.
type Recovery struct {
	Kind            string `json:"kind" enum:"rnr|nak|implied_nak|timeout|adaptive|spurious" doc:"what triggered it"`
	FirstTime       Time   `json:"first_time" doc:"first packet resent"`
	FirstPacket     *int64 `json:"first_packet" doc:"its number"`
	PSN             int64  `json:"psn" doc:"PSN gone back to"`
	ResentPackets   int64  `json:"resent_packets" doc:"packets resent"`
	NakGenerationNS *int64 `json:"nak_generation_ns" doc:"packet out of order at the tap to the NAK"`
	NakReactionNS   *int64 `json:"nak_reaction_ns" doc:"NAK to the first packet resent"`
	RecoveryNS      *int64 `json:"recovery_ns" doc:"last progress to the PSN acknowledged"`
	Lost            string `json:"lost" enum:"upstream|downstream|ack|corrupt|reorder|none|undetermined" doc:"where"`
	LostPacket      Text   `json:"lost_packet" enum:"request|response" doc:"what"`
}

// Latencies of a requester's flow; a block is null when there was no sample.
type Latencies struct {
	Ack       *Latency `json:"ack" doc:"last packet of a SEND or WRITE to the response that covers it"`
	Message   *Latency `json:"message" doc:"first packet of a SEND or WRITE to the same response"`
	ReadFirst *Latency `json:"read_first" doc:"READ request to its first response"`
	ReadLast  *Latency `json:"read_last" doc:"READ request to its last response"`
	Atomic    *Latency `json:"atomic" doc:"atomic request to its answer"`
}

// Latency sums up samples. Min and max are exact, quantiles nearest rank
// within 1 %.
type Latency struct {
	Count     int64 `json:"count" doc:"samples"`
	Coalesced int64 `json:"coalesced" doc:"messages that a later one's response covered: no sample"`
	Recovered int64 `json:"recovered" doc:"samples that contain a retransmission"`
	MinNS     int64 `json:"min_ns" doc:"exact"`
	P50NS     int64 `json:"p50_ns" doc:"median"`
	P90NS     int64 `json:"p90_ns" doc:"90th percentile"`
	P99NS     int64 `json:"p99_ns" doc:"99th percentile"`
	P999NS    int64 `json:"p999_ns" doc:"99.9th percentile"`
	MaxNS     int64 `json:"max_ns" doc:"exact"`
	MeanNS    int64 `json:"mean_ns" doc:"mean, rounded down"`

	samples buckets // for histograms; nil when made by hand
}

// buckets are the samples that a tracker keeps: *rc.LatencyBlock or
// *iwarp.Latency.
type buckets interface {
	Buckets(f func(from, to, n int64))
}

// Buckets calls f for each half octave that holds samples, in ascending order:
// n of them are at least from and less than to, in ns.
func (l *Latency) Buckets(f func(from, to, n int64)) {
	if l != nil && l.samples != nil {
		l.samples.Buckets(f)
	}
}
