package cm

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Sighting is how often a kind of message was seen in a dialogue, and when.
type Sighting struct {
	Count                   int64 // copies of the same packet left out
	FirstTime, LastTime     int64
	FirstPacket, LastPacket int64
}

// Seen tells whether the message was captured at all.
func (s *Sighting) Seen() bool { return s.Count > 0 }

// again is the number of sightings beyond the first.
func (s *Sighting) again() int64 { return max(s.Count-1, 0) }

// End is what the dialogue told of one of its ends.
type End struct {
	Addr           wire.Addr
	CommID         uint32
	QPN            roce.QPN
	StartingPSN    roce.PSN // the first that this end sends; the *other* end's REQ or REP told it
	CAGUID         uint64
	HasCommID      bool
	HasQPN         bool
	HasStartingPSN bool
}

// Parameters are the terms of a REQ; zero where HasParameters is false.
type Parameters struct {
	PathMTUBytes       int
	AckTimeoutExponent uint8 // local ACK timeout is 4.096 µs × 2^this, 0: none
	RetryCount         uint8
	RNRRetryCount      uint8 // of the *responder's* queue pair; see Dialogue.RNRRetryCount
	InitiatorDepth     uint8 // READs and atomics that the initiator wants to have open
	ResponderResources uint8 // those that it serves at once
	FlowLabel          uint32
	PKey               uint16
	ResponseTimeout    uint8 // exponent of the time that the initiator waits for a REP
	MaxCMRetries       uint8
	SRQ                bool
}

// ReplyTerms are what a REP answers to them; zero where no REP was captured.
type ReplyTerms struct {
	InitiatorDepth     uint8 // READs and atomics that the responder wants to have open
	ResponderResources uint8 // those that it serves at once
	RNRRetryCount      uint8 // of the *initiator's* queue pair
	TargetAckDelay     uint8 // exponent
	SRQ                bool
}

// Dialogue is everything known of one dialogue.
type Dialogue struct {
	Iface     uint16
	Transport wire.Kind
	Service   roce.Service // ServiceUnknown when no request was captured
	A, B      End
	// InitiatorKnown: a REQ, REP or RTU told who began, so that A is the
	// initiator and not merely who was seen first.
	InitiatorKnown bool
	TransactionID  uint64 // of the first message seen

	State  State
	Seen   [KindCount]Sighting
	Copies int64 // the same packet captured again, not counted in Seen

	HasParameters bool
	Parameters    Parameters
	HasReply      bool
	Reply         ReplyTerms

	ServiceID    roce.ServiceID
	HasServiceID bool
	Port         uint16 // of an RDMA-CM service ID
	HasPort      bool
	ULP          string // "nvme", "iser", "nfs", "smbdirect", or ""
	SrcPort      uint16 // initiator's port as its IP-CM header tells, 0: not told

	// RequestPrivate and ReplyPrivate are the consumer's private data (behind
	// the IP-CM header), trailing zeros left out.
	RequestPrivate, ReplyPrivate []byte

	Reject     *Reject         // the first REJ; nil when there was none
	SIDRStatus roce.SIDRStatus // valid when a SIDR_REP was seen

	FirstTime, LastTime     int64
	FirstPacket, LastPacket int64
}

// Requests is the number of REQ and SIDR_REQ messages.
func (d *Dialogue) Requests() int64 { return d.Seen[REQ].Count + d.Seen[SIDRREQ].Count }

// Replies is the number of REP and SIDR_REP messages.
func (d *Dialogue) Replies() int64 { return d.Seen[REP].Count + d.Seen[SIDRREP].Count }

// Retried is the number of messages that were sent again because no answer
// came in time. RTU, DREP and SIDR_REP are left out: they are repeated because
// the other side was.
func (d *Dialogue) Retried() int64 {
	var n int64
	for k := range kindCount {
		if k.retries() {
			n += d.Seen[k].again()
		}
	}
	return n
}

// RejectText says in words why the dialogue was refused, "" when it was not.
func (d *Dialogue) RejectText() string {
	switch {
	case d.Reject != nil && d.Reject.Reason == roce.RejectInvalidServiceID:
		return d.Reject.Reason.String() + ": nothing listens there"
	case d.Reject != nil:
		return d.Reject.Reason.String()
	case d.Seen[SIDRREP].Seen() && d.SIDRStatus != 0:
		return d.SIDRStatus.String()
	}
	return ""
}

// RNRRetryCount is how often the queue pair of an end repeats after RNR NAKs, 7
// for without end. Each message tells what the *other* end is to do, the REP
// the initiator, the REQ the responder (IBTA 12.7.38).
func (d *Dialogue) RNRRetryCount(s Side) (n uint8, ok bool) {
	if s == A {
		return d.Reply.RNRRetryCount, d.HasReply
	}
	return d.Parameters.RNRRetryCount, d.HasParameters
}

// ReadDepth is how many READs and atomics an end may have open: what it wants,
// as far as the other end serves that many.
func (d *Dialogue) ReadDepth(s Side) (n uint8, ok bool) {
	if !d.HasParameters || !d.HasReply {
		return 0, false
	}
	if s == A {
		return min(d.Parameters.InitiatorDepth, d.Reply.ResponderResources), true
	}
	return min(d.Reply.InitiatorDepth, d.Parameters.ResponderResources), true
}

// RequestToReply is the time from the first request to the first reply: what
// the initiator waited, retries included.
func (d *Dialogue) RequestToReply() (ns int64, ok bool) {
	for _, pair := range [...][2]Kind{{REQ, REP}, {SIDRREQ, SIDRREP}} {
		if q, r := &d.Seen[pair[0]], &d.Seen[pair[1]]; q.Seen() && r.Seen() && r.FirstTime >= q.FirstTime {
			return r.FirstTime - q.FirstTime, true
		}
	}
	return 0, false
}

// ReplyToReady is the time from the first REP to the first RTU.
func (d *Dialogue) ReplyToReady() (ns int64, ok bool) {
	p, u := &d.Seen[REP], &d.Seen[RTU]
	if !p.Seen() || !u.Seen() || u.FirstTime < p.FirstTime {
		return 0, false
	}
	return u.FirstTime - p.FirstTime, true
}

// end returns the end on a side.
func (d *Dialogue) end(s Side) *End {
	if s == A {
		return &d.A
	}
	return &d.B
}

// raise moves the state forward, never back.
func (d *Dialogue) raise(s State) {
	if s > d.State {
		d.State = s
	}
}

// advance takes the message's step. A rejection after the leave-taking isn't
// one: a late retry of an old REQ is answered with "stale connection".
func (d *Dialogue) advance(k Kind) {
	switch k {
	case REP, SIDRREP:
		d.raise(Replied)
	case RTU:
		d.raise(Established)
	case REJ:
		d.raise(Rejected)
	case DREQ:
		d.raise(Disconnecting)
	case DREP:
		d.raise(Closed)
	}
}

// noReply tells whether a request's time is over at time now with nothing
// said: it was repeated, or its one attempt's time went by.
func (d *Dialogue) noReply(now int64) bool {
	if d.State != Requested || d.Seen[MRA].Seen() || d.Requests() == 0 {
		return false
	}
	q := &d.Seen[REQ]
	if d.Seen[SIDRREQ].Seen() {
		q = &d.Seen[SIDRREQ]
	}
	if q.Count > 1 {
		return true
	}
	exp := uint8(defaultResponseExponent)
	if d.HasParameters {
		exp = d.Parameters.ResponseTimeout
	}
	return now-q.LastTime > int64(roce.AckTimeout(exp))
}

// defaultResponseExponent is what Linux asks for (CMA_CM_RESPONSE_TIMEOUT,
// drivers/infiniband/core/cma.c): 4.3 s.
const defaultResponseExponent = 20
