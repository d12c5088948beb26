package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// SIDRREQLen is the length of the fixed part of a service ID resolution request; private data follow.
const SIDRREQLen = 16

// SIDRREQ is a service ID resolution request (IBTA 12.11.2, table 119), behind the MAD header.
//
//	offset: field
//	0: Request ID   4: P_Key   8: Service ID 64   16: private 216
type SIDRREQ struct {
	BaseLayer
	RequestID   uint32
	PKey        uint16
	ServiceID   ServiceID
	PrivateData []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *SIDRREQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, SIDRREQLen, &scratch)
	m.RequestID = binary.BigEndian.Uint32(b)
	m.PKey = binary.BigEndian.Uint16(b[4:])
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(b[8:]))
	m.PrivateData, err = m.cmSplit(data, SIDRREQLen, df)
	return err
}

// LayerType returns LayerTypeSIDRREQ.
func (m *SIDRREQ) LayerType() gopacket.LayerType { return LayerTypeSIDRREQ }

// CanDecode returns LayerTypeSIDRREQ.
func (m *SIDRREQ) CanDecode() gopacket.LayerClass { return LayerTypeSIDRREQ }

// NextLayerType returns the payload: there is none.
func (m *SIDRREQ) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// IPCM returns the RDMA IP CM header of the private data, as REQ.IPCM does.
func (m *SIDRREQ) IPCM() (h IPCMHeader, ok bool) { return ipcm(m.ServiceID, m.PrivateData) }

// ConsumerPrivateData returns the private data of the application.
func (m *SIDRREQ) ConsumerPrivateData() []byte { return consumer(m.ServiceID, m.PrivateData) }

// SIDRREPLen is the length of the fixed part of a service ID resolution response; private data follow.
const SIDRREPLen = 96

// SIDRREP is a service ID resolution response (IBTA 12.11.3, table 120), behind the MAD header.
//
//	offset: field
//	0: Request ID   4: Status 8   5: Info Length 8   8: QPN 24   12: Service ID 64
//	20: Q_Key   24: Additional Info 576   96: private 136
type SIDRREP struct {
	BaseLayer
	RequestID   uint32
	Status      SIDRStatus
	InfoLen     uint8 // valid bytes of Info, as told; may exceed it
	QPN         QPN
	ServiceID   ServiceID
	QKey        uint32
	Info        [72]byte
	PrivateData []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *SIDRREP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, SIDRREPLen, &scratch)
	m.RequestID = binary.BigEndian.Uint32(b)
	m.Status, m.InfoLen = SIDRStatus(b[4]), b[5]
	m.QPN = QPN(be24(b[8:]))
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(b[12:]))
	m.QKey = binary.BigEndian.Uint32(b[20:])
	copy(m.Info[:], b[24:96])
	m.PrivateData, err = m.cmSplit(data, SIDRREPLen, df)
	return err
}

// LayerType returns LayerTypeSIDRREP.
func (m *SIDRREP) LayerType() gopacket.LayerType { return LayerTypeSIDRREP }

// CanDecode returns LayerTypeSIDRREP.
func (m *SIDRREP) CanDecode() gopacket.LayerClass { return LayerTypeSIDRREP }

// NextLayerType returns the payload: there is none.
func (m *SIDRREP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// SIDRStatus is the outcome of a service ID resolution (IBTA 12.11.3.1).
type SIDRStatus uint8

var sidrStatusNames = [...]string{
	"QPN valid", "service ID not supported", "rejected by the service provider",
	"no QP available", "redirected", "unsupported version",
}

// String returns the outcome in words.
func (s SIDRStatus) String() string {
	if int(s) < len(sidrStatusNames) {
		return sidrStatusNames[s]
	}
	return "reserved"
}
