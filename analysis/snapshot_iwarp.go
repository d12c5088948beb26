package analysis

// TCP is what TCP did for one direction of an iWARP connection.
type TCP struct {
	DataSegments       int64    `json:"data_segments" doc:"segments with payload"`
	Retransmitted      *int64   `json:"retransmitted_segments" doc:"segments sent again"`
	RetransmittedBytes *int64   `json:"retransmitted_bytes" doc:"their octets"`
	OutOfOrder         *int64   `json:"out_of_order_segments" doc:"segments overtaken on the way"`
	DuplicateAcks      *int64   `json:"duplicate_acks" doc:"as RFC 5681 defines them"`
	FastRetransmits    *int64   `json:"fast_retransmits" doc:"asked for by SACK or three duplicate ACKs"`
	Timeouts           *int64   `json:"timeouts" doc:"sent again after silence"`
	TailProbes         *int64   `json:"tail_probes" doc:"tail loss probes"`
	UnknownRetransmits *int64   `json:"unknown_retransmits" doc:"none of these"`
	SpuriousSegments   *int64   `json:"spurious_segments" doc:"sent again though they had arrived"`
	DSACKs             *int64   `json:"dsacks" doc:"duplicate SACKs"`
	ZeroWindows        *int64   `json:"zero_windows" doc:"times the receive window closed"`
	HandshakeNS        *int64   `json:"handshake_ns" doc:"SYN to SYN-ACK"`
	RTT                *Latency `json:"rtt" doc:"newest segment that an ACK covers to that ACK"`
}

// MPA is the framing of one direction (RFC 5044, RFC 6581).
type MPA struct {
	Revision         *int64 `json:"revision" doc:"revision of the request or reply"`
	Markers          *bool  `json:"markers" doc:"this direction carries markers"`
	CRC              *bool  `json:"crc" doc:"CRCs are on"`
	Reject           *bool  `json:"reject" doc:"the reply rejected the connection"`
	IRD              *int64 `json:"ird" doc:"inbound READ depth"`
	ORD              *int64 `json:"ord" doc:"outbound READ depth"`
	FPDUs            int64  `json:"fpdus" doc:"FPDUs, each once"`
	LongestFPDU      *int64 `json:"longest_fpdu_bytes" doc:"longest FPDU, length field to CRC"`
	SendMSS          *int64 `json:"send_mss_bytes" doc:"largest segment that the peer's SYN allows"`
	AboveMSS         *int64 `json:"fpdus_above_mss" doc:"FPDUs that no segment can hold"`
	CRCChecked       *int64 `json:"crc_checked" doc:"FPDUs whose CRC was computed"`
	CRCBad           *int64 `json:"crc_bad" doc:"FPDUs whose CRC is wrong; null without CRCs"`
	MarkerFaults     *int64 `json:"marker_faults" doc:"markers that point to the wrong place"`
	PrivateDataBytes *int64 `json:"private_data_bytes" doc:"length of the private data"`
	Segments         int64  `json:"segments" doc:"data segments"`
	AlignedSegments  int64  `json:"aligned_segments" doc:"of these, such as begin with an FPDU"`
}

// Reads counts RDMA Reads that one direction asked for.
type Reads struct {
	Requests           int64  `json:"requests" doc:"Read Requests"`
	Answered           int64  `json:"answered" doc:"answered in full"`
	MatchedByOrderOnly int64  `json:"matched_by_order_only" doc:"paired by order alone: STag and offset did not fit"`
	MaxOutstanding     *int64 `json:"max_outstanding" doc:"most open at once"`
}

// Terminate is one Terminate message (RFC 5040, section 4.8).
type Terminate struct {
	Layer  int64  `json:"layer" doc:"layer code"`
	Type   int64  `json:"type" doc:"error type"`
	Code   int64  `json:"code" doc:"error code"`
	Text   string `json:"text" doc:"in words"`
	Order  string `json:"order" enum:"normal|swapped|ambiguous|unknown" doc:"swapped: nibbles as Linux siw writes them"`
	Packet *int64 `json:"packet" doc:"number of the packet"`
}

// Hole is a gap of the octet stream and what waited behind it.
type Hole struct {
	FirstTime       Time   `json:"first_time" doc:"when it opened"`
	FirstPacket     *int64 `json:"first_packet" doc:"number of the packet that showed it"`
	Bytes           *int64 `json:"bytes" doc:"octets missing"`
	Lost            string `json:"lost" enum:"upstream|downstream|reorder|corrupt|unseen|undetermined" doc:"where"`
	BlockedNS       *int64 `json:"blocked_ns" doc:"how long the stream waited; after the tap a lower bound"`
	DelayedMessages *int64 `json:"delayed_messages" doc:"messages wholly behind it"`
}
