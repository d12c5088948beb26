package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// REPLen is the length of the fixed part of a reply to a connection request; private data follow.
const REPLen = 36

// REP is a reply to a connection request (IBTA 12.6.8, table 110), behind the MAD header.
//
//	offset: field
//	0: Local Comm ID    4: Remote Comm ID    8: Local Q_Key     12: Local QPN 24
//	16: Local EECN 24    20: Starting PSN 24  24: Responder Resources  25: Initiator Depth
//	26: Target ACK Delay 5, Failover Accepted 2, End-to-End Flow Control 1
//	27: RNR Retry Count 3, SRQ 1   28: Local CA GUID 64   36: private 196
type REP struct {
	BaseLayer
	LocalCommID         uint32
	RemoteCommID        uint32
	LocalQKey           uint32
	LocalQPN            QPN
	LocalEECN           uint32 // of XRC: the QPN
	StartingPSN         PSN    // the first that the receiver of this message is to send
	ResponderResources  uint8  // READs and atomics that the sender takes at once
	InitiatorDepth      uint8  // READs and atomics that the sender has open at once
	TargetACKDelay      uint8  // exponent for AckTimeout
	FailoverAccepted    uint8
	EndToEndFlowControl bool
	RNRRetryCount       uint8 // 7: without end
	SRQ                 bool
	LocalCAGUID         uint64
	PrivateData         []byte
}

// DecodeFromBytes decodes the message at the start of data. Of a message that
// is cut within its fields, what is there is decoded and the rest is zero.
func (m *REP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	var scratch [cmFixed]byte
	b := cmHead(data, REPLen, &scratch)
	m.LocalCommID = binary.BigEndian.Uint32(b)
	m.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	m.LocalQKey = binary.BigEndian.Uint32(b[8:])
	m.LocalQPN = QPN(be24(b[12:]))
	m.LocalEECN = be24(b[16:])
	m.StartingPSN = PSN(be24(b[20:]))
	m.ResponderResources, m.InitiatorDepth = b[24], b[25]
	m.TargetACKDelay, m.FailoverAccepted = b[26]>>3, b[26]>>1&3
	m.EndToEndFlowControl = b[26]&1 != 0
	m.RNRRetryCount, m.SRQ = b[27]>>5, b[27]&0x10 != 0
	m.LocalCAGUID = binary.BigEndian.Uint64(b[28:])
	m.PrivateData, err = m.cmSplit(data, REPLen, df)
	return err
}

// LayerType returns LayerTypeREP.
func (m *REP) LayerType() gopacket.LayerType { return LayerTypeREP }

// CanDecode returns LayerTypeREP.
func (m *REP) CanDecode() gopacket.LayerClass { return LayerTypeREP }

// NextLayerType returns the payload: there is none.
func (m *REP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
