package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// Lengths of a management datagram.
const (
	MADLen       = 256
	MADHeaderLen = 24
)

// MADFields are the fields of the header common to all management datagrams
// (IBTA 13.4.3). A MAD is the payload of a UD SEND Only to QP0 or QP1.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+---------------+---------------+-+-------------+
//	|  BaseVersion  |   MgmtClass   | ClassVersion  |R|   Method    |
//	+---------------+---------------+---------------+-+-------------+
//	|            Status             |         ClassSpecific         |
//	+-------------------------------+-------------------------------+
//	|                     TransactionID (63:32)                     |
//	+---------------------------------------------------------------+
//	|                     TransactionID (31:0)                      |
//	+-------------------------------+-------------------------------+
//	|          AttributeID          |            resv16             |
//	+-------------------------------+-------------------------------+
//	|                       AttributeModifier                       |
//	+---------------------------------------------------------------+
type MADFields struct {
	BaseVersion       uint8 // 1
	MgmtClass         MgmtClass
	ClassVersion      uint8
	Method            Method // with the response bit R
	Status            uint16
	ClassSpecific     uint16 // directed route SMPs: hop pointer and hop count
	TransactionID     uint64
	AttributeID       AttributeID
	AttributeModifier uint32
}

func (h *MADFields) decode(b []byte) {
	_ = b[MADHeaderLen-1]
	h.BaseVersion = b[0]
	h.MgmtClass = MgmtClass(b[1])
	h.ClassVersion = b[2]
	h.Method = Method(b[3])
	h.Status = binary.BigEndian.Uint16(b[4:])
	h.ClassSpecific = binary.BigEndian.Uint16(b[6:])
	h.TransactionID = binary.BigEndian.Uint64(b[8:])
	h.AttributeID = AttributeID(binary.BigEndian.Uint16(b[16:]))
	h.AttributeModifier = binary.BigEndian.Uint32(b[20:])
}

// MAD is the common MAD header as a gopacket layer. Its payload are the bytes
// behind it, up to the 256 that a MAD has.
type MAD struct {
	BaseLayer
	MADFields
}

// Decode decodes the header at the start of b, a UD payload whose true length
// is wireLen; b may be cut. A datagram shorter than 256 bytes is malformed.
func (h *MADFields) Decode(b []byte, wireLen int) error {
	switch {
	case wireLen < MADHeaderLen:
		return roomErrors[HeaderMAD]
	case len(b) < MADHeaderLen:
		return cutErrors[HeaderMAD]
	}
	h.decode(b)
	switch {
	case h.BaseVersion != 1:
		return ErrMADVersion
	case wireLen < MADLen:
		return ErrMADLength
	}
	return nil
}

// DecodeFromBytes decodes the header at the start of data. Fewer than 256 bytes
// count as cut: the length on the wire isn't known here.
func (h *MAD) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < MADHeaderLen {
		return cut(HeaderMAD, df)
	}
	if len(data) < MADLen && df != nil {
		df.SetTruncated()
	}
	h.split(data[:min(len(data), MADLen)], MADHeaderLen)
	h.decode(data)
	if h.BaseVersion != 1 {
		return ErrMADVersion
	}
	return nil
}

// LayerType returns LayerTypeMAD.
func (h *MAD) LayerType() gopacket.LayerType { return LayerTypeMAD }

// CanDecode returns LayerTypeMAD.
func (h *MAD) CanDecode() gopacket.LayerClass { return LayerTypeMAD }

// NextLayerType returns the CM message of the attribute, else the payload.
func (h *MAD) NextLayerType() gopacket.LayerType {
	if h.MgmtClass == MgmtClassCommMgt && h.ClassVersion == CMVersion {
		return h.AttributeID.cmLayerType()
	}
	return gopacket.LayerTypePayload
}

// CarriesMAD tells whether the payload is a management datagram: a UD SEND Only
// to QP0 or QP1.
func (h *Headers) CarriesMAD() bool {
	return h.BTH.Opcode == OpcodeUDSendOnly && h.BTH.DestQP <= QPNGSI && h.Present.Has(HeaderDETH)
}

func decodeMAD(data []byte, p gopacket.PacketBuilder) error { return addLayer(p, new(MAD), data) }
