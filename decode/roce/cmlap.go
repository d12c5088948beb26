package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// LAPLen is the length of the fixed part of a request to load an alternate path; private data follow.
const LAPLen = 64

// LAP is a request to load an alternate path (IBTA 12.8.1, table 115), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   12: Remote QPN 24   15: Remote CM Response Timeout 5
//	20: Local LID   22: Remote LID   24: Local GID 128   40: Remote GID 128   56: Flow Label 20
//	59: Traffic Class   60: Hop Limit   61: Packet Rate 6 (low bits)   62: SL 4, Subnet Local 1
//	63: Local ACK Timeout 5   64: private 168
type LAP struct {
	BaseLayer
	LocalCommID             uint32
	RemoteCommID            uint32
	RemoteQPN               QPN   // or EECN: that of the receiver
	RemoteCMResponseTimeout uint8 // exponent for AckTimeout
	Alternate               Path
	PrivateData             []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *LAP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, LAPLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.RemoteQPN, m.RemoteCMResponseTimeout = QPN(be24(b[12:])), b[15]>>3
	m.alternate(b)
	m.PrivateData, err = m.cmSplit(data, LAPLen, df)
	return err
}

// LayerType returns LayerTypeLAP.
func (m *LAP) LayerType() gopacket.LayerType { return LayerTypeLAP }

// CanDecode returns LayerTypeLAP.
func (m *LAP) CanDecode() gopacket.LayerClass { return LayerTypeLAP }

// NextLayerType returns the payload: there is none.
func (m *LAP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// alternate decodes the path, whose last fields are laid out otherwise than in
// a REQ.
func (m *LAP) alternate(b []byte) {
	_ = b[63]
	p := &m.Alternate
	p.LocalLID = binary.BigEndian.Uint16(b[20:])
	p.RemoteLID = binary.BigEndian.Uint16(b[22:])
	copy(p.LocalGID[:], b[24:40])
	copy(p.RemoteGID[:], b[40:56])
	p.FlowLabel = binary.BigEndian.Uint32(b[56:]) >> 12
	p.TrafficClass, p.HopLimit = b[59], b[60]
	p.PacketRate = b[61] & 0x3f
	p.SL, p.SubnetLocal = b[62]>>4, b[62]&8 != 0
	p.LocalACKTimeout = b[63] >> 3
}

// APRLen is the length of the fixed part of an answer to LAP; private data follow.
const APRLen = 84

// APR is an answer to LAP (IBTA 12.8.2, table 116), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: Info Length 8   9: AP Status 8
//	12: Additional Info 576   84: private 148
type APR struct {
	BaseLayer
	LocalCommID  uint32
	RemoteCommID uint32
	InfoLen      uint8 // valid bytes of Info, as told; may exceed it
	Status       APStatus
	Info         [72]byte
	PrivateData  []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *APR) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, APRLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.InfoLen, m.Status = b[8], APStatus(b[9])
	copy(m.Info[:], b[12:84])
	m.PrivateData, err = m.cmSplit(data, APRLen, df)
	return err
}

// LayerType returns LayerTypeAPR.
func (m *APR) LayerType() gopacket.LayerType { return LayerTypeAPR }

// CanDecode returns LayerTypeAPR.
func (m *APR) CanDecode() gopacket.LayerClass { return LayerTypeAPR }

// NextLayerType returns the payload: there is none.
func (m *APR) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// APStatus is the outcome of loading an alternate path (IBTA 12.8.2.1).
type APStatus uint8

var apStatusNames = [...]string{
	"alternate path loaded", "invalid communication instance", "alternate paths not supported",
	"rejected", "rejected, redirected", "alternate path is the current one",
	"invalid QPN or EECN", "invalid LID", "invalid GID", "invalid flow label", "invalid traffic class",
	"invalid hop limit", "invalid packet rate", "invalid SL",
}

// String returns the outcome in words.
func (s APStatus) String() string {
	if int(s) < len(apStatusNames) {
		return apStatusNames[s]
	}
	return "reserved"
}
