package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// DETHLen is the length of a datagram extended transport header.
const DETHLen = 8

// DETHFields are the fields of a datagram extended transport header (IBTA 9.3.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                             Q_Key                             |
//	+---------------------------------------------------------------+
//	|     resv8     |                     SrcQP                     |
//	+---------------+-----------------------------------------------+
type DETHFields struct {
	QKey  uint32
	SrcQP QPN // the only source QP on the wire
}

func (h *DETHFields) decode(b []byte) {
	_ = b[DETHLen-1]
	h.QKey = binary.BigEndian.Uint32(b)
	h.SrcQP = QPN(be24(b[5:]))
}

// QKeyGSI is the well-known Q_Key of QP1 (IBTA 10.2.5).
const QKeyGSI = 0x80010000

// DETH is a datagram extended transport header as a gopacket layer.
type DETH struct {
	BaseLayer
	DETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *DETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < DETHLen {
		return cut(HeaderDETH, df)
	}
	h.split(data, DETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeDETH.
func (h *DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// CanDecode returns LayerTypeDETH.
func (h *DETH) CanDecode() gopacket.LayerClass { return LayerTypeDETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *DETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
