package iwarp

import (
	"rdmascope/decode/iwarp"
	"rdmascope/decode/wire"
)

// Count is a figure that may be unknown: then Why tells the reason, and N means
// nothing.
type Count struct {
	N   int64
	Why string
}

// Known makes a figure.
func Known(n int64) Count { return Count{N: n} }

// Unknown makes a figure that can't be had, with the reason.
func Unknown(why string) Count { return Count{Why: why} }

// OK tells whether the figure is known.
func (c Count) OK() bool { return c.Why == "" }

// Result is what a Tracker knows.
type Result struct {
	// Connections that proved to be iWARP, by first packet. What is pointed to
	// never changes: a later result has the same, where nothing happened.
	Connections []*Connection
	Evictions   Evictions
	// Plain, Candidates and Pending are the TCP connections in the other
	// stages now.
	Plain, Candidates, Pending int
	WaitingOctets              int64 // payload that waits behind holes now
}

// Connection is one iWARP connection. Side 0 of every pair is A of the key.
type Connection struct {
	Key         Key
	Incarnation uint32 // of the key, from 0
	Initiator   int    // side that opened it: TCP's, else MPA's; -1 unknown
	FirstTime   int64
	LastTime    int64
	FirstPacket int64
	Closed      Closing
	Resets      int64
	Rejected    bool
	CRC         iwarp.CRCMode
	// Handshake tells that a start-up frame was seen; else it was recognised in
	// mid-stream, by evidence.
	Handshake bool
	ReplyTime Count // ns from the MPA request to the reply
	ULP       string
	ULPFrom   string // port | private | "" unknown
	Flows     [2]Flow
}

// Flow is one direction. TCP figures stand at the flow whose data they speak
// about, METRICS §8.
type Flow struct {
	Src, Dst         wire.Addr
	SrcPort, DstPort uint16

	Packets, WireBytes     int64
	TCPPayloadBytes        int64    // octets of sequence space seen, each once
	MAC                    wire.MAC // of the sender, as seen first
	HasMAC                 bool
	DSCP, VLAN             map[uint16]int64 // packets by value
	DSCPOthers, VLANOthers int64            // packets of further values
	PCP                    [8]int64         // tagged packets by priority
	ECNCapable, ECNCE      int64
	Copies, NetworkCopies  int64
	ChecksumBad            int64
	PartialChecksums       int64
	UnseenBytes            Count
	LateBytes              int64 // seen only after the receiver acknowledged them
	PayloadBytes, Messages int64
	Opcodes                map[string]int64 // FPDUs
	MessagesByOpcode       map[string]int64
	OpcodesUnseen          int64 // FPDUs whose header lies in a hole
	MessageRunning         bool
	MessageSizes           [sizeClasses]int64 // messages by bits.Len of their payload: [2^(i-1), 2^i) octets

	LostUpstream, LostDownstream Count
	CorruptHoles                 int64 // holes where a segment with a wrong checksum stood

	AckLatency, ReadFirst, ReadLast, Atomic *Latency
	Turnround                               *Latency // a lone SEND's last octet to the peer's next SEND

	SYN        SYN
	TCP        TCP
	MPA        MPA
	Reads      Reads
	Queues     []Queue
	SharedMSN  bool // one MSN counter over all queues, as the first softiwarp has it
	Terminates []Terminate
	MoreTerms  int64
	Holes      []Hole
	HolesTotal int64
	Faults     []Fault
	FirstSend  []byte // begin of the first SEND's payload
}

// SYN is what a direction's SYN offered.
type SYN struct {
	Seen        bool
	MSS         Count
	WindowScale Count
	SACK        bool
	Timestamps  bool
}

// TCP is what TCP did for a direction's data. Counts of what was sent again are
// lower bounds whenever LostUpstream is above 0: a resent segment may be lost
// before the tap as well, and one of the newest octets looks like a first one.
type TCP struct {
	DataSegments                                  int64
	Retransmitted, RetransmittedBytes, OutOfOrder int64
	Likely                                        int64 // retransmissions told by a duplicate ACK or SACK only
	DuplicateAcks                                 Count
	Timeouts, Fast, TailProbes, UnknownResends    Count
	Spurious, DSACKs, ZeroWindows                 Count
	Keepalives, Implausible                       int64
	HandshakeNS                                   Count
	RTT                                           *Latency
	RTTSkipped                                    int64 // ACKs that gave no sample, by Karn's rule
	IdentificationUsable                          bool
}

// MPA is the framing of a direction.
type MPA struct {
	Frame                  Frame
	Markers                Count // 0 or 1
	FPDUs                  int64
	CRCGood, CRCBad        Count
	FirstBadCRC            int64 // packet
	CRCUnchecked           int64
	MarkerCount            int64
	MarkerFaults           int64
	Segments, Aligned      int64
	Longest                int64 // octets
	SendMSS                Count
	AboveMSS               int64
	OddQueues              int64
	Partial, Aborted       int64
	Desyncs, Locks         int64
	SkippedOctets          int64
	FramesSeen             int64
	Synchronised           bool
	UnframedOctets         int64
	WaitingOctets, Waiting int64
}

// Reads are what a side asked for.
type Reads struct {
	Requests, Answered, ByOrder, Unanswered int64
	Orphans                                 int64 // responses without a request
	Recovered                               int64
	MaxOutstanding                          int64 // atomics included: both take from the ORD
	Atomics, AtomicsAnswered                int64
	LittleEndian                            bool
	Depth                                   Count // reads that may be open: own ORD or the peer's IRD, the smaller
}

// Queue is one untagged queue.
type Queue struct {
	QN             uint32
	Messages, Gaps int64
}

// Terminate is one Terminate message.
type Terminate struct {
	iwarp.TerminateError
	Order        iwarp.TerminateOrder
	Other        iwarp.TerminateError // second reading where the order is ambiguous
	Packet, Time int64
	DDPValid     bool
	FailedOpcode iwarp.Opcode // of the header it quotes, with DDPValid
	FailedSTag   uint32
}
