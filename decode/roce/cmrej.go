package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// REJLen is the length of the fixed part of a rejection; private data follow.
const REJLen = 84

// REJ is a rejection (IBTA 12.6.7, table 108), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: Message REJected 2
//	9: Reject Info Length 7   10: Reason 16   12: ARI 576   84: private 148
type REJ struct {
	BaseLayer
	LocalCommID  uint32 // 0 when the REQ was not known
	RemoteCommID uint32
	Message      CMMessage // what was rejected
	InfoLen      uint8     // valid bytes of ARI, as told; may exceed it
	Reason       RejectReason
	ARI          [72]byte // additional reject information, its meaning depends on Reason
	PrivateData  []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *REJ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, REJLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.Message = CMMessage(b[8] >> 6)
	m.InfoLen = b[9] >> 1
	m.Reason = RejectReason(binary.BigEndian.Uint16(b[10:]))
	copy(m.ARI[:], b[12:84])
	m.PrivateData, err = m.cmSplit(data, REJLen, df)
	return err
}

// LayerType returns LayerTypeREJ.
func (m *REJ) LayerType() gopacket.LayerType { return LayerTypeREJ }

// CanDecode returns LayerTypeREJ.
func (m *REJ) CanDecode() gopacket.LayerClass { return LayerTypeREJ }

// NextLayerType returns the payload: there is none.
func (m *REJ) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
