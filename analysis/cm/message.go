package cm

import (
	"errors"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Kind is the kind of a CM message.
type Kind uint8

// Kinds, in the order of the attribute IDs 0x10…0x1A (IBTA table 106).
const (
	REQ Kind = iota
	MRA
	REJ
	REP
	RTU
	DREQ
	DREP
	SIDRREQ
	SIDRREP
	LAP
	APR
	kindCount
)

// KindCount is the number of kinds, for tables indexed by Kind.
const KindCount = int(kindCount)

var kindNames = [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"}

// String returns the specification's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// retries tells whether the sender repeats the message until it is answered.
// The others answer something and are sent again only because that was.
func (k Kind) retries() bool { return k == REQ || k == REP || k == DREQ || k == SIDRREQ }

// State is how far a dialogue came.
type State uint8

// States, each implying the ones before it where they apply. NoReply isn't
// stored: it is what a request becomes when its time is over.
const (
	Requested State = iota
	Replied
	Established
	Rejected
	Disconnecting
	Closed
	NoReply
)

var stateNames = [...]string{"requested", "replied", "established", "rejected", "disconnecting", "closed", "no_reply"}

// String returns the word used in reports.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "invalid"
}

// Side is an end of a dialogue.
type Side uint8

// Sides: A began the dialogue (or, when its beginning was not captured, sent
// the first message that was).
const (
	A Side = iota
	B
)

// String returns "a" or "b".
func (s Side) String() string { return string("ab"[s&1]) }

func (s Side) other() Side { return s ^ 1 }

// Reject is a REJ (IBTA 12.6.7).
type Reject struct {
	Reason   roce.RejectReason
	Rejected roce.CMMessage // what was rejected
	By       Side
	// PrivateData is the private data without trailing zeros: the field has a
	// fixed length and none inside it, so zeros at its end can't be told from
	// padding.
	PrivateData []byte
}

// message is the part common to all CM messages; the rest is in Tracker.cm.
type message struct {
	kind          Kind
	tid           uint64
	local, remote uint32 // SIDR: the request ID is local
	captured      int    // octets of the message that the capture has
	about         roce.CMMessage
}

// read decodes the packet's MAD into t.msg and t.cm; ok tells whether it is a
// CM message that names its dialogue.
func (t *Tracker) read(p *wire.Packet) (ok bool) {
	b := p.Payload()
	if err := t.mad.DecodeFromBytes(b, nil); err != nil {
		t.faults.book(err)
		return false
	}
	t.mads.add(t.mad.MgmtClass, t.mad.AttributeID, 1)
	if t.mad.MgmtClass != roce.MgmtClassCommMgt {
		return false
	}
	if err := t.cm.Decode(&t.mad.MADFields, b[roce.MADHeaderLen:], p.RoCE.PayloadLen-roce.MADHeaderLen); err != nil {
		t.faults.book(err)
		if !errors.Is(err, roce.ErrTruncated) {
			return false
		}
	}
	m := &t.msg
	*m = message{kind: Kind(t.cm.ID - roce.AttributeREQ), tid: t.mad.TransactionID, captured: t.cm.Captured, about: roce.CMMessageOther}
	return m.fill(&t.cm)
}

// fill copies what all kinds have. A message whose IDs were cut off is of no
// use.
func (m *message) fill(c *roce.CM) (ok bool) {
	need := 8
	switch m.kind {
	case REQ:
		need, m.local = 4, c.REQ.LocalCommID
	case MRA:
		m.local, m.remote, m.about = c.MRA.LocalCommID, c.MRA.RemoteCommID, c.MRA.Message
	case REJ:
		m.local, m.remote, m.about = c.REJ.LocalCommID, c.REJ.RemoteCommID, c.REJ.Message
	case REP:
		m.local, m.remote = c.REP.LocalCommID, c.REP.RemoteCommID
	case RTU:
		m.local, m.remote = c.RTU.LocalCommID, c.RTU.RemoteCommID
	case DREQ:
		m.local, m.remote = c.DREQ.LocalCommID, c.DREQ.RemoteCommID
	case DREP:
		m.local, m.remote = c.DREP.LocalCommID, c.DREP.RemoteCommID
	case SIDRREQ:
		need, m.local = 4, c.SIDRREQ.RequestID
	case SIDRREP:
		need, m.local = 4, c.SIDRREP.RequestID
	case LAP:
		m.local, m.remote = c.LAP.LocalCommID, c.LAP.RemoteCommID
	case APR:
		m.local, m.remote = c.APR.LocalCommID, c.APR.RemoteCommID
	}
	if m.kind == REJ || m.kind == MRA {
		need = 9 // what it is about tells the direction
	}
	return m.captured >= need
}

// sidr tells whether the message is of the service ID resolution protocol,
// whose request IDs are a space of their own.
func (m *message) sidr() bool { return m.kind == SIDRREQ || m.kind == SIDRREP }

// byResponder tells whether only the responder sends such a message.
func (m *message) byResponder() bool {
	switch m.kind {
	case REP, SIDRREP:
		return true
	case REJ, MRA:
		return m.about == roce.CMMessageREQ
	}
	return false
}

// tellsInitiator tells whether the message shows who began the dialogue.
func (m *message) tellsInitiator() bool {
	switch m.kind {
	case REQ, REP, RTU, SIDRREQ, SIDRREP:
		return true
	case REJ, MRA:
		return m.about != roce.CMMessageOther
	}
	return false
}
