package roce

import (
	"github.com/google/gopacket"
)

// RDETHLen is the length of a reliable datagram extended transport header.
const RDETHLen = 4

// RDETHFields are the fields of a reliable datagram extended transport header (IBTA 9.3.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|     resv8     |                      EECN                     |
//	+---------------+-----------------------------------------------+
type RDETHFields struct {
	EECN uint32 // end-to-end context, 24 bits
}

func (h *RDETHFields) decode(b []byte) {
	_ = b[RDETHLen-1]
	h.EECN = be24(b[1:])
}

// RDETH is a reliable datagram extended transport header as a gopacket layer.
type RDETH struct {
	BaseLayer
	RDETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *RDETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < RDETHLen {
		return cut(HeaderRDETH, df)
	}
	h.split(data, RDETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeRDETH.
func (h *RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// CanDecode returns LayerTypeRDETH.
func (h *RDETH) CanDecode() gopacket.LayerClass { return LayerTypeRDETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *RDETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
