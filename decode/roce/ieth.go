package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// IETHLen is the length of an invalidate extended transport header.
const IETHLen = 4

// IETHFields are the fields of an invalidate extended transport header (IBTA 9.3.7).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                             R_Key                             |
//	+---------------------------------------------------------------+
type IETHFields struct {
	RKey uint32 // the key that the receiver invalidates
}

func (h *IETHFields) decode(b []byte) {
	_ = b[IETHLen-1]
	h.RKey = binary.BigEndian.Uint32(b)
}

// IETH is an invalidate extended transport header as a gopacket layer.
type IETH struct {
	BaseLayer
	IETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *IETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < IETHLen {
		return cut(HeaderIETH, df)
	}
	h.split(data, IETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeIETH.
func (h *IETH) LayerType() gopacket.LayerType { return LayerTypeIETH }

// CanDecode returns LayerTypeIETH.
func (h *IETH) CanDecode() gopacket.LayerClass { return LayerTypeIETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *IETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
