package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// MRALen is the length of the fixed part of a message receipt acknowledgement, which asks for patience; private data follow.
const MRALen = 10

// MRA is a message receipt acknowledgement, which asks for patience (IBTA 12.6.6, table 107), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: Message MRAed 2
//	9: Service Timeout 5   10: private 222
type MRA struct {
	BaseLayer
	LocalCommID    uint32
	RemoteCommID   uint32
	Message        CMMessage // what was received
	ServiceTimeout uint8     // exponent for AckTimeout
	PrivateData    []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *MRA) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, MRALen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.Message = CMMessage(b[8] >> 6)
	m.ServiceTimeout = b[9] >> 3
	m.PrivateData, err = m.cmSplit(data, MRALen, df)
	return err
}

// LayerType returns LayerTypeMRA.
func (m *MRA) LayerType() gopacket.LayerType { return LayerTypeMRA }

// CanDecode returns LayerTypeMRA.
func (m *MRA) CanDecode() gopacket.LayerClass { return LayerTypeMRA }

// NextLayerType returns the payload: there is none.
func (m *MRA) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// CMMessage says which message an MRA or a REJ is about.
type CMMessage uint8

// Messages that an MRA or a REJ can be about.
const (
	CMMessageREQ   CMMessage = iota
	CMMessageREP             //
	CMMessageOther           // REJ: none; MRA: LAP
)

// String returns "REQ", "REP" or "other".
func (m CMMessage) String() string {
	switch m {
	case CMMessageREQ:
		return "REQ"
	case CMMessageREP:
		return "REP"
	}
	return "other"
}
