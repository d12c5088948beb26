package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// CMLen is the length of a connection management message: what a MAD has
// behind its common header.
const CMLen = MADLen - MADHeaderLen

// Attributes of the class CommMgt: the messages of connection management
// (IBTA 12.6, 16.7.3).
const (
	AttributeCMClassPortInfo AttributeID = 0x0001
	AttributeREQ             AttributeID = 0x0010
	AttributeMRA             AttributeID = 0x0011
	AttributeREJ             AttributeID = 0x0012
	AttributeREP             AttributeID = 0x0013
	AttributeRTU             AttributeID = 0x0014
	AttributeDREQ            AttributeID = 0x0015
	AttributeDREP            AttributeID = 0x0016
	AttributeSIDRREQ         AttributeID = 0x0017
	AttributeSIDRREP         AttributeID = 0x0018
	AttributeLAP             AttributeID = 0x0019
	AttributeAPR             AttributeID = 0x001a
)

var cmNames = [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"}

// CMName returns the name of a connection management message: "REQ",
// "SIDR_REP" and so on, or "" for other attributes.
func (a AttributeID) CMName() string {
	if a < AttributeREQ || a > AttributeAPR {
		return ""
	}
	return cmNames[a-AttributeREQ]
}

func (a AttributeID) cmLayerType() gopacket.LayerType {
	if a < AttributeREQ || a > AttributeAPR {
		return gopacket.LayerTypePayload
	}
	return LayerTypeREQ + gopacket.LayerType(a-AttributeREQ) // numbered alike
}

// CMVersion is the ClassVersion of connection management.
const CMVersion = 2

// CM is a connection management message of any kind. It is meant to be reused:
// Decode overwrites it. Only the message that ID names is valid; the others are
// left over from earlier packets.
//
// "Local" in a message is always the one who sent it, "remote" the one who
// gets it. Private data are slices of the packet, not copies.
type CM struct {
	ID      AttributeID
	REQ     REQ
	MRA     MRA
	REJ     REJ
	REP     REP
	RTU     RTU
	DREQ    DREQ
	DREP    DREP
	SIDRREQ SIDRREQ
	SIDRREP SIDRREP
	LAP     LAP
	APR     APR

	// Captured is how many of the message's CMLen bytes the capture has. With
	// an error that is ErrTruncated, fields beyond it are zero and mean
	// nothing; without, only private data may be missing.
	Captured int
}

// CarriesCM tells whether the datagram is a connection management message.
func (h *MADFields) CarriesCM() bool {
	return h.MgmtClass == MgmtClassCommMgt && h.AttributeID.CMName() != ""
}

// Decode decodes the message behind the header mad. b are the bytes behind it
// and wireLen their true length, which is CMLen unless the packet is malformed.
// b may be cut.
func (c *CM) Decode(mad *MADFields, b []byte, wireLen int) error {
	c.ID, c.Captured = mad.AttributeID, 0
	switch {
	case !mad.CarriesCM():
		return ErrCMAttribute
	case mad.ClassVersion != CMVersion:
		return ErrCMVersion
	case wireLen < CMLen:
		return ErrMADLength
	}
	b = b[:min(len(b), CMLen)]
	c.Captured = len(b)
	switch c.ID {
	case AttributeREQ:
		return c.REQ.DecodeFromBytes(b, nil)
	case AttributeMRA:
		return c.MRA.DecodeFromBytes(b, nil)
	case AttributeREJ:
		return c.REJ.DecodeFromBytes(b, nil)
	case AttributeREP:
		return c.REP.DecodeFromBytes(b, nil)
	case AttributeRTU:
		return c.RTU.DecodeFromBytes(b, nil)
	case AttributeDREQ:
		return c.DREQ.DecodeFromBytes(b, nil)
	case AttributeDREP:
		return c.DREP.DecodeFromBytes(b, nil)
	case AttributeSIDRREQ:
		return c.SIDRREQ.DecodeFromBytes(b, nil)
	case AttributeSIDRREP:
		return c.SIDRREP.DecodeFromBytes(b, nil)
	case AttributeLAP:
		return c.LAP.DecodeFromBytes(b, nil)
	}
	return c.APR.DecodeFromBytes(b, nil)
}

// cmFixed is the longest fixed part of a message, that of a REQ.
const cmFixed = 140

// cmHead returns the n fixed bytes of a message. Where data is shorter, it is
// completed with zeroes in scratch, so that what is there gets decoded.
func cmHead(data []byte, n int, scratch *[cmFixed]byte) []byte {
	if len(data) >= n {
		return data
	}
	clear(scratch[copy(scratch[:], data):])
	return scratch[:]
}

// cmSplit sets contents and private data of a message whose fixed part is n
// bytes long.
func (b *BaseLayer) cmSplit(data []byte, n int, df gopacket.DecodeFeedback) (private []byte, err error) {
	data = data[:min(len(data), CMLen)]
	b.Contents, b.Payload = data, nil
	if len(data) < CMLen && df != nil {
		df.SetTruncated()
	}
	if len(data) < n {
		return nil, cutErrors[HeaderCM]
	}
	return data[n:], nil
}

// Path is one of the paths of a REQ (IBTA 12.7.10 to 12.7.21, 12.7.28 and
// following).
type Path struct {
	LocalLID        uint16 // 0xffff on RoCE, usually
	RemoteLID       uint16
	LocalGID        [16]byte
	RemoteGID       [16]byte
	FlowLabel       uint32 // 20 bits; decides the UDP source port
	PacketRate      uint8  // 6 bits, a code
	TrafficClass    uint8
	HopLimit        uint8
	SL              uint8
	SubnetLocal     bool
	LocalACKTimeout uint8 // exponent for AckTimeout
}

// path decodes the 44 bytes of a path in a REQ.
func (p *Path) decode(b []byte) {
	_ = b[43]
	p.LocalLID = binary.BigEndian.Uint16(b)
	p.RemoteLID = binary.BigEndian.Uint16(b[2:])
	copy(p.LocalGID[:], b[4:20])
	copy(p.RemoteGID[:], b[20:36])
	p.FlowLabel = binary.BigEndian.Uint32(b[36:]) >> 12
	p.PacketRate = b[39] & 0x3f
	p.TrafficClass = b[40]
	p.HopLimit = b[41]
	p.SL = b[42] >> 4
	p.SubnetLocal = b[42]&8 != 0
	p.LocalACKTimeout = b[43] >> 3
}
