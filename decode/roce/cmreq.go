package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// REQLen is the length of the fixed part of a connection request; private data follow.
const REQLen = 140

// REQ is a connection request (IBTA 12.6.5, table 106), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID    8: Service ID 64       16: Local CA GUID 64  28: Local Q_Key
//	32: Local QPN 24     35: Responder Resources 36: Local EECN 24     39: Initiator Depth
//	40: Remote EECN 24   43: Remote CM Response Timeout 5, Transport 2, End-to-End Flow Control 1
//	44: Starting PSN 24  47: Local CM Response Timeout 5, Retry Count 3
//	48: P_Key            50: Path MTU 4, RDC Exists 1, RNR Retry Count 3
//	51: Max CM Retries 4, SRQ 1, Extended Transport 3
//	52: primary path 44  96: alternate path 44 (139, bit 2: SAP Supported)  140: private 92
type REQ struct {
	BaseLayer
	LocalCommID             uint32
	ServiceID               ServiceID
	LocalCAGUID             uint64
	LocalQKey               uint32
	LocalQPN                QPN
	ResponderResources      uint8 // READs and atomics that the sender takes at once
	LocalEECN               uint32
	InitiatorDepth          uint8 // READs and atomics that the sender has open at once
	RemoteEECN              uint32
	RemoteCMResponseTimeout uint8 // exponent for AckTimeout
	TransportType           TransportType
	EndToEndFlowControl     bool
	StartingPSN             PSN // the first that the receiver of this message is to send
	LocalCMResponseTimeout  uint8
	RetryCount              uint8 // 0 to 7
	PKey                    uint16
	PathMTU                 MTU
	RDCExists               bool
	RNRRetryCount           uint8 // 7: without end
	MaxCMRetries            uint8
	SRQ                     bool
	ExtendedTransport       uint8 // 1: XRC, with TransportType 3
	Primary                 Path
	Alternate               Path
	SAPSupported            bool
	PrivateData             []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *REQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, REQLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.ServiceID = ServiceID(binary.BigEndian.Uint64(b[8:]))
	m.LocalCAGUID = binary.BigEndian.Uint64(b[16:])
	m.LocalQKey = binary.BigEndian.Uint32(b[28:])
	m.LocalQPN, m.ResponderResources = QPN(be24(b[32:])), b[35]
	m.LocalEECN, m.InitiatorDepth = be24(b[36:]), b[39]
	m.RemoteEECN = be24(b[40:])
	m.RemoteCMResponseTimeout = b[43] >> 3
	m.TransportType = TransportType(b[43] >> 1 & 3)
	m.EndToEndFlowControl = b[43]&1 != 0
	m.StartingPSN = PSN(be24(b[44:]))
	m.LocalCMResponseTimeout, m.RetryCount = b[47]>>3, b[47]&7
	m.PKey = binary.BigEndian.Uint16(b[48:])
	m.PathMTU, m.RDCExists, m.RNRRetryCount = MTU(b[50]>>4), b[50]&8 != 0, b[50]&7
	m.MaxCMRetries, m.SRQ, m.ExtendedTransport = b[51]>>4, b[51]&8 != 0, b[51]&7
	m.Primary.decode(b[52:])
	m.Alternate.decode(b[96:])
	m.SAPSupported = b[139]&4 != 0
	m.PrivateData, err = m.cmSplit(data, REQLen, df)
	return err
}

// LayerType returns LayerTypeREQ.
func (m *REQ) LayerType() gopacket.LayerType { return LayerTypeREQ }

// CanDecode returns LayerTypeREQ.
func (m *REQ) CanDecode() gopacket.LayerClass { return LayerTypeREQ }

// NextLayerType returns the payload: there is none.
func (m *REQ) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// TransportType is the service that a REQ asks for (IBTA 12.7.6).
type TransportType uint8

// Transport types.
const (
	TransportRC TransportType = iota
	TransportUC
	TransportRD
	TransportExtended // ExtendedTransport tells: 1 is XRC
)

// Service returns the transport service of the requested connection.
func (m *REQ) Service() Service {
	switch m.TransportType {
	case TransportRC:
		return ServiceRC
	case TransportUC:
		return ServiceUC
	case TransportRD:
		return ServiceRD
	}
	if m.ExtendedTransport == 1 {
		return ServiceXRC
	}
	return ServiceUnknown
}

// IPCM returns the RDMA IP CM header of the private data; ok is false when the
// service isn't one of RDMA IP CM or the header is cut or of another version.
func (m *REQ) IPCM() (h IPCMHeader, ok bool) { return ipcm(m.ServiceID, m.PrivateData) }

// ConsumerPrivateData returns what the application put into the request: the
// private data, behind the RDMA IP CM header if there is one.
func (m *REQ) ConsumerPrivateData() []byte { return consumer(m.ServiceID, m.PrivateData) }
