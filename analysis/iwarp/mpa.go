package iwarp

import "rdmascope/decode/iwarp"

// Frame is a start-up frame as far as it is kept.
type Frame struct {
	Seen          bool
	Reply         bool
	Packet, Time  int64
	Flags         uint8
	Revision      uint8
	Markers, CRC  bool
	Reject        bool
	Enhanced      bool // the fields below it are valid
	PeerToPeer    bool
	RTRSend       bool
	RTRWrite      bool
	RTRRead       bool
	IRD, ORD      uint16
	PrivateLength uint16 // as told, the word of IRD and ORD included
	private       [privateKept]byte
	privateLen    uint8
}

// privateKept is as much of the application's private data as protocols are
// recognised by (NVMe over Fabrics has 32 octets).
const privateKept = 64

// Private is the begin of the application's private data, behind IRD and ORD.
func (f *Frame) Private() []byte { return f.private[:f.privateLen] }

func (f *Frame) set(m *iwarp.MPAFrame, packet, at int64) {
	*f = Frame{Seen: true, Reply: m.Reply, Packet: packet, Time: at, Flags: m.Flags, Revision: m.Revision, Markers: m.Markers,
		CRC: m.CRC, Reject: m.Reject && m.Reply, Enhanced: m.Enhanced, PeerToPeer: m.PeerToPeer, RTRSend: m.RTRSend,
		RTRWrite: m.RTRWrite, RTRRead: m.RTRRead, IRD: m.IRD, ORD: m.ORD, PrivateLength: m.PrivateLength}
	f.privateLen = uint8(copy(f.private[:], m.Private))
}

// FaultKind is a rule of RFC 5044 or RFC 6581 that a start-up broke.
type FaultKind uint8

const (
	// FaultPrivate: more than 512 octets of private data (RFC 5044 §7.1.1).
	FaultPrivate FaultKind = iota
	// FaultRevision: neither 1 nor 2, or the reply's isn't the request's
	// (RFC 5044 §7.1.1, RFC 6581 §4.1).
	FaultRevision
	// FaultKey: both sides sent a request, or both a reply.
	FaultKey
	// FaultRejectInRequest: R is the reply's (RFC 5044 §7.1.1).
	FaultRejectInRequest
	// FaultEnhanced: the reply is enhanced and the request is not.
	FaultEnhanced
	// FaultRTR: the reply asks for a ready-to-receive message that the request
	// did not offer, or another one came (RFC 6581 §9.2).
	FaultRTR
	// FaultEarly: the initiator sent an FPDU before the reply came, or the
	// responder one before the initiator's first (RFC 5044 §7.1.2, RFC 6581 §5).
	FaultEarly
	// FaultORD: the reply's IRD or ORD is above what the request offered
	// (RFC 6581 §9.1).
	FaultORD
	mpaFaults
)

var faultWords = [mpaFaults]string{
	"private data above 512 octets",
	"revision unknown or different in the reply",
	"both sides sent the same kind of start-up frame",
	"reject flag in a request",
	"enhanced reply to a plain request",
	"ready-to-receive message that was not agreed",
	"FPDU before the other side may receive it",
	"read depth of the reply above the request's",
}

func (k FaultKind) String() string {
	if k < mpaFaults {
		return faultWords[k]
	}
	return "unknown"
}

// Fault is how often a rule was broken, and by which packet first.
type Fault struct {
	Kind   FaultKind
	Count  int64
	Packet int64
}

func (d *direction) fault(k FaultKind) {
	f := &d.framing.faults[k]
	f.Kind = k
	if f.Count++; f.Count == 1 {
		f.Packet = d.feedingNumber
	}
}

func (d *direction) checkFrame(m *iwarp.MPAFrame, err error) {
	if err == iwarp.ErrPrivate || m.PrivateLength > iwarp.MPAMaxPrivate {
		d.fault(FaultPrivate)
	}
	if m.Revision < 1 || m.Revision > 2 {
		d.fault(FaultRevision)
	}
	if m.Reject && !m.Reply {
		d.fault(FaultRejectInRequest)
	}
	p := &d.peer().framing.frame
	if !p.Seen {
		return
	}
	switch {
	case p.Reply == m.Reply:
		d.fault(FaultKey)
	case m.Reply && !m.Reject:
		d.checkReply(m, p)
	}
}

// checkReply holds a reply against its request. A rejecting one may name
// another revision: the highest that its sender knows.
func (d *direction) checkReply(m *iwarp.MPAFrame, request *Frame) {
	if m.Revision != request.Revision {
		d.fault(FaultRevision)
	}
	if !m.Enhanced {
		return
	}
	switch {
	case !request.Enhanced:
		d.fault(FaultEnhanced)
		return
	case m.PeerToPeer && !request.PeerToPeer,
		m.RTRSend && !request.RTRSend, m.RTRWrite && !request.RTRWrite, m.RTRRead && !request.RTRRead:
		d.fault(FaultRTR)
	}
	// What the responder will send (its ORD) the initiator must be able to
	// answer (its IRD), unless one of them left it open.
	if m.ORD != iwarp.IRDORDNone && request.IRD != iwarp.IRDORDNone && m.ORD > request.IRD {
		d.fault(FaultORD)
	}
}

// checkBegin looks at the first FPDU of a direction.
func (d *direction) checkBegin(f *iwarp.FPDU) {
	m, p := &d.framing, &d.peer().framing
	if m.fpdus > 0 || !m.frame.Seen {
		return
	}
	early := !m.frame.Reply && d.haveAck && !p.frame.Seen && !d.peer().lost() ||
		m.frame.Reply && p.frame.Seen && p.fpdus == 0 && !d.peer().lost()
	if early {
		d.fault(FaultEarly)
	}
	if !m.frame.Reply && p.frame.Seen && p.frame.Enhanced && p.frame.PeerToPeer && !f.HeaderCut && !p.frame.ready(f) {
		d.fault(FaultRTR)
	}
}

// ready tells whether an initiator's first FPDU is one of the ready-to-receive
// messages that the reply asks for, none meaning any (RFC 6581 §9.2).
func (f *Frame) ready(first *iwarp.FPDU) bool {
	switch {
	case !f.RTRSend && !f.RTRWrite && !f.RTRRead:
		return true
	case first.DDP.Opcode == iwarp.RDMAReadReq:
		return f.RTRRead
	case first.PayloadLength() != 0:
		return false
	case first.DDP.Opcode == iwarp.RDMAWrite:
		return f.RTRWrite
	}
	return f.RTRSend && first.DDP.Opcode.IsSend()
}

// readDepth is how many reads a side may have open: its own ORD or the peer's
// IRD, whichever is smaller (RFC 6581 §9.1).
func (d *direction) readDepth() Count {
	own, peer := &d.framing.frame, &d.peer().framing.frame
	if !own.Enhanced || !peer.Enhanced {
		return Unknown("no enhanced start-up frames of both sides")
	}
	if own.ORD == iwarp.IRDORDNone || peer.IRD == iwarp.IRDORDNone {
		return Unknown("a side left it open")
	}
	return Known(int64(min(own.ORD, peer.IRD)))
}

// lost tells whether something of a direction is missing, so that what did not
// come may have come unseen.
func (d *direction) lost() bool {
	return len(d.cover.holes) > 0 || d.figures.unseen > 0 || d.framing.holes > 0 || d.volume.packets == 0
}
