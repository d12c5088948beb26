package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// MPA start-up frame, the first octets of each direction (RFC 5044 §7.1.1,
// RFC 6581 §6):
//
//	 0                   1                   2                   3
//	+---------------------------------------------------------------+
//	|          Key, 16 octets: "MPA ID Req Frame" / "MPA ID Rep Frame"
//	+-+-+-+-+-------+---------------+-------------------------------+
//	|M|C|R|S|  Res  |      Rev      |          PD_Length            |
//	+-+-+-+-+-------+---------------+-------------------------------+
//	|  Private Data, 0..512 octets; with S (revision 2) it begins with
//	|A|B|    IRD (14)               |C|D|    ORD (14)               |
const (
	MPAKeyLen     = 16
	MPAHeaderLen  = 20  // key, flags, revision, PD_Length
	MPAMaxPrivate = 512 // RFC 5044 §7.1.1: PD_Length must not exceed 512
	MPAMaxLen     = MPAHeaderLen + MPAMaxPrivate

	mpaKeyRequest = "MPA ID Req Frame"
	mpaKeyReply   = "MPA ID Rep Frame"
)

// Flag bits of octet 16.
const (
	MPAFlagM = 0x80 // the sender of this frame wants markers in what it receives
	MPAFlagC = 0x40 // the sender wants CRCs; either side's wish binds both
	MPAFlagR = 0x20 // rejected; only in a reply
	MPAFlagS = 0x10 // revision 2: private data begins with IRD and ORD
)

// IRDORDNone in IRD or ORD says "do not negotiate" (RFC 6581 §9.1).
const IRDORDNone = 0x3fff

// MPAFrame is an MPA start-up request or reply.
type MPAFrame struct {
	Reply         bool
	Markers       bool // M
	CRC           bool // C
	Reject        bool // R
	Enhanced      bool // S of a revision-2 frame: the RFC 6581 word is present
	Flags         uint8
	Revision      uint8
	PrivateLength uint16 // PD_Length as told, the IRD/ORD word included

	// The fields below are valid with Enhanced.
	PeerToPeer bool   // A
	RTRSend    bool   // B: a zero-length Send may open the stream
	RTRWrite   bool   // C: a zero-length RDMA Write may
	RTRRead    bool   // D: a zero-length RDMA Read may
	IRD        uint16 // reads that the sender answers at one time
	ORD        uint16 // reads that the sender has outstanding at one time

	// Private is the application's part, behind the IRD/ORD word. It aliases
	// the decoded octets and may be shorter than told when these were cut.
	Private []byte

	contents, payload []byte
}

type keyMatch uint8

const (
	keyNone   keyMatch = iota
	keyPrefix          // the octets are a proper prefix of a key
	keyWhole
)

// matchKey compares the head of b with both keys, which differ in octet 9 only
// ('q' or 'p').
func matchKey(b []byte) keyMatch {
	n := min(len(b), MPAKeyLen)
	for i := range n {
		if b[i] != mpaKeyRequest[i] && b[i] != mpaKeyReply[i] {
			return keyNone
		}
	}
	if n < MPAKeyLen {
		return keyPrefix
	}
	return keyWhole
}

// DecodeFromBytes reads a start-up frame. Cut private data are kept as far as
// they go and reported with ErrTruncated; all else is then valid.
func (m *MPAFrame) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*m = MPAFrame{}
	if matchKey(data) == keyNone {
		return ErrKey
	}
	if len(data) < MPAHeaderLen {
		df.SetTruncated()
		return ErrTruncated
	}
	m.Reply = data[9] == mpaKeyReply[9]
	m.Flags = data[16]
	m.Markers = m.Flags&MPAFlagM != 0
	m.CRC = m.Flags&MPAFlagC != 0
	m.Reject = m.Flags&MPAFlagR != 0
	m.Revision = data[17]
	m.PrivateLength = binary.BigEndian.Uint16(data[18:])
	if m.PrivateLength > MPAMaxPrivate {
		m.contents = data[:MPAHeaderLen]
		return ErrPrivate
	}
	end := min(len(data), m.Len())
	m.contents, m.payload = data[:end], data[end:]
	err := m.decodePrivate(data[MPAHeaderLen:end])
	if end < m.Len() {
		df.SetTruncated()
		return ErrTruncated
	}
	return err
}

// decodePrivate splits the RFC 6581 word off. S counts from revision 2 only:
// in revision 1 the bit is reserved (RFC 5044 §7.1.1).
func (m *MPAFrame) decodePrivate(pd []byte) error {
	m.Private = pd
	if m.Revision < 2 || m.Flags&MPAFlagS == 0 {
		return nil
	}
	if m.PrivateLength < 4 {
		return ErrLength
	}
	if len(pd) < 4 {
		return nil
	}
	m.Enhanced = true
	ird, ord := binary.BigEndian.Uint16(pd), binary.BigEndian.Uint16(pd[2:])
	m.PeerToPeer, m.RTRSend = ird&0x8000 != 0, ird&0x4000 != 0
	m.RTRWrite, m.RTRRead = ord&0x8000 != 0, ord&0x4000 != 0
	m.IRD, m.ORD = ird&IRDORDNone, ord&IRDORDNone
	m.Private = pd[4:]
	return nil
}

// Len is the length of the whole frame as its header tells it.
func (m *MPAFrame) Len() int { return MPAHeaderLen + int(m.PrivateLength) }

// Name is the frame's name.
func (m *MPAFrame) Name() string {
	switch {
	case !m.Reply:
		return "MPA Request"
	case m.Reject:
		return "MPA Reply (rejected)"
	}
	return "MPA Reply"
}

func (m *MPAFrame) LayerType() gopacket.LayerType     { return LayerTypeMPAFrame }
func (m *MPAFrame) CanDecode() gopacket.LayerClass    { return LayerTypeMPAFrame }
func (m *MPAFrame) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (m *MPAFrame) LayerContents() []byte             { return m.contents }
func (m *MPAFrame) LayerPayload() []byte              { return m.payload }
