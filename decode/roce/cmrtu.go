package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// RTULen is the length of the fixed part of a ready-to-use message, which ends the handshake; private data follow.
const RTULen = 8

// RTU is a ready-to-use message, which ends the handshake (IBTA 12.6.9, table 111), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: private 224
type RTU struct {
	BaseLayer
	LocalCommID  uint32
	RemoteCommID uint32
	PrivateData  []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *RTU) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, RTULen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.PrivateData, err = m.cmSplit(data, RTULen, df)
	return err
}

// LayerType returns LayerTypeRTU.
func (m *RTU) LayerType() gopacket.LayerType { return LayerTypeRTU }

// CanDecode returns LayerTypeRTU.
func (m *RTU) CanDecode() gopacket.LayerClass { return LayerTypeRTU }

// NextLayerType returns the payload: there is none.
func (m *RTU) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
