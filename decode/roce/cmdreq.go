package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// DREQLen is the length of the fixed part of a disconnect request; private data follow.
const DREQLen = 12

// DREQ is a disconnect request (IBTA 12.6.10, table 112), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: Remote QPN 24   12: private 220
type DREQ struct {
	BaseLayer
	LocalCommID  uint32
	RemoteCommID uint32
	RemoteQPN    QPN // or EECN: that of the receiver
	PrivateData  []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *DREQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, DREQLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.RemoteQPN = QPN(be24(b[8:]))
	m.PrivateData, err = m.cmSplit(data, DREQLen, df)
	return err
}

// LayerType returns LayerTypeDREQ.
func (m *DREQ) LayerType() gopacket.LayerType { return LayerTypeDREQ }

// CanDecode returns LayerTypeDREQ.
func (m *DREQ) CanDecode() gopacket.LayerClass { return LayerTypeDREQ }

// NextLayerType returns the payload: there is none.
func (m *DREQ) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DREPLen is the length of the fixed part of a reply to a disconnect request; private data follow.
const DREPLen = 8

// DREP is a reply to a disconnect request (IBTA 12.6.11, table 113), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID   4: Remote Comm ID   8: private 224
type DREP struct {
	BaseLayer
	LocalCommID  uint32
	RemoteCommID uint32
	PrivateData  []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *DREP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, DREPLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.PrivateData, err = m.cmSplit(data, DREPLen, df)
	return err
}

// LayerType returns LayerTypeDREP.
func (m *DREP) LayerType() gopacket.LayerType { return LayerTypeDREP }

// CanDecode returns LayerTypeDREP.
func (m *DREP) CanDecode() gopacket.LayerClass { return LayerTypeDREP }

// NextLayerType returns the payload: there is none.
func (m *DREP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
