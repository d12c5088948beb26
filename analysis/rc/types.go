package rc

import (
	"sort"

	"rdmascope/decode/roce"
)

// Method is how two flows were found to belong together.
type Method uint8

// Methods, the report's names.
const (
	MethodNone Method = iota
	MethodCM
	MethodSport
	MethodPSN
)

// String returns the report's name.
func (m Method) String() string { return [...]string{"none", "cm", "sport", "psn"}[m] }

// Confidence is how sure a pairing is, in words.
type Confidence uint8

// Confidences.
const (
	Unpaired Confidence = iota
	Ambiguous
	Likely
	Certain
)

// String returns the report's name.
func (c Confidence) String() string { return [...]string{"none", "ambiguous", "likely", "certain"}[c] }

// Moment says how and when a connection opened or closed; How is "" when that
// wasn't seen.
type Moment struct {
	How          string // cm, reused; dreq
	Time, Number int64
}

// Connection is two flows that belong together, or one whose partner isn't
// known.
type Connection struct {
	Flows       [2]*FlowFigures // the second is nil when there is no partner
	Incarnation int32
	Method      Method
	Confidence  Confidence
	Candidates  []int32 // Ambiguous: flows that could be the partner
	Opened      Moment
	Closed      Moment
	CM          *CMConnect
	FirstTime   int64
	LastTime    int64
	FirstNumber int64
}

// Result is what is known at one moment.
type Result struct {
	Connections       []Connection // by first packet
	EvictedIncarnated uint64       // finished incarnations that were forgotten
	RevisedPairings   uint64       // pairings that better evidence took back
}

// Count is a figure that may be impossible to have: then Reason says why.
type Count struct {
	N      uint64
	Known  bool
	Reason Reason
}

func known(n uint64) Count { return Count{N: n, Known: true} }

// Reason says why a figure is null. There is one for many figures of every
// flow, so it is a number and its words are told on demand.
type Reason uint8

// Reasons why a figure is null.
const (
	reasonNone     Reason = iota
	ReasonOneWay          // no response was captured
	ReasonUnpaired        // … or it isn't known which they are
	ReasonService         // UC
	ReasonCut             // the capture cut the headers that tell
)

// String returns the report's words.
func (r Reason) String() string {
	return [...]string{"", "no reverse traffic captured", "the flow of the other direction is not known", "the service acknowledges nothing",
		"the capture cut the headers that tell: RETH of READs or AETH of ACKs"}[r]
}

// Episodes counts steps back of the sender by what moved it.
type Episodes struct {
	Total, NAK, RNR, Timeout, ImpliedNAK, Adaptive, Spurious uint64
	NAKUnheeded                                              uint64 // part of Timeout
}

// Recovery is one episode.
type Recovery struct {
	Kind          string
	FirstTime     int64
	FirstPacket   int64
	PSN           uint32
	ResentPackets uint32
	GenerationNS  int64 // −1: not known
	ReactionNS    int64 // −1: no NAK
	RecoveryNS    int64 // −1: never recovered
	QuietNS       int64 // the sender's silence before it
	Unheeded      bool
	Lost          string
	LostPacket    string // request, response or ""

	trigger trigger
	waits   bool // still open
	since   int64
	top     roce.PSN
}

// Exhausted says that a requester gave up.
type Exhausted struct {
	PSN   uint32
	Times uint32 // sendings of it, or RNR NAKs for it
	RNR   bool   // the responder never had a receive posted
}

// FlowFigures are the figures of one flow, each where METRICS §2 puts it.
type FlowFigures struct {
	ID          int32
	Incarnation int32
	Key         FlowKey
	Service     string // rc, uc
	FirstTime   int64
	LastTime    int64

	// as the flow that carries the packets
	Packets         uint64 // of requests and responses, copies and bad iCRCs too
	Duplicates      uint64
	NetworkCopies   uint64 // part of Duplicates
	CapturedTwice   uint64 // part of Duplicates
	Unseen          Count
	LostUpstream    Count // lower bound
	LostDownstream  Count // lower bound
	BadICRC         uint64
	RepeatedAnswers Count

	// as the requester's flow
	HasRequests        bool
	Messages           uint64
	UCGaps             uint64 // times the PSN jumped forward
	UCSkipped          uint64 // PSNs skipped by that
	Retransmitted      uint64
	RetransmittedBytes uint64
	OutOfOrder         uint64
	OrderFrom          string // ip_id, capture
	FirstPSN, LastPSN  uint32
	PathMTU            uint32 // 0: not seen
	Episodes           Count
	EpisodesBy         Episodes
	EpisodesLost       map[string]uint64
	Scheme             string
	Recoveries         []Recovery
	RecoveryNS         int64 // time with an episode open
	ResentPackets      uint64
	AckTimeoutExponent int // inferred or by CM; 0: not known
	AckTimeoutByCM     bool
	RetriesExhausted   *Exhausted
	Livelock           bool
	LivelockPSN        uint32
	Latency            [latencyKinds]*LatencyBlock
	DuplicateRequests  Count // requests that the responder had already, an estimate
	TimedNS, PausedNS  int64 // latencies of whole operations, and for how much of them they were paused
	MaxOutstanding     Count
	MaxReads           Count
	Unanswered         Count // packets, READ responses included, that nothing acknowledged when it ended
	Unfinished         bool  // the newest request is no message's last packet
	QuietSince         int64 // time of the newest request or answer to one
	ReadDepth          uint8 // negotiated by CM, 0: not known
	MessageSizes       *MessageSizes
	Violations         []Violation

	// as the flow whose packets were answered
	Answered      bool // any response was seen
	AcksCut       bool // ACKs and NAKs can't be told apart
	Acks          uint64
	NAKs          [5]uint64 // by code
	RNRNAKs       uint64
	FirstNAK      [5]int64 // packet of the first of each code, 0 for none
	FirstRNR      int64
	RNRTimers     *[32]uint32 // RNR NAKs by timer code; nil for none
	ReservedNAKs  uint64
	CreditZero    uint64
	FatalNAK      bool
	Forgotten     uint64 // messages in flight beyond what is remembered: they have no latency
	DroppedAnswer uint64 // responses that couldn't be matched for want of a partner
}

// MessageSizes are the sizes of messages in octets.
type MessageSizes struct {
	Min, Max, Sum uint64
	ByLog         [34]uint32 // index k: sizes in [2^(k−1), 2^k)
}

func sortConnections(v []Connection) {
	sort.Slice(v, func(i, j int) bool {
		a, b := &v[i], &v[j]
		if a.FirstNumber != b.FirstNumber {
			return a.FirstNumber < b.FirstNumber
		}
		return a.Flows[0].ID < b.Flows[0].ID
	})
}
