package roce

import (
	"github.com/google/gopacket"
)

// XRCETHLen is the length of an extended reliable connection transport header.
const XRCETHLen = 4

// XRCETHFields are the fields of an extended reliable connection transport header (IBTA A14).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|     resv8     |                     XRCSRQ                    |
//	+---------------+-----------------------------------------------+
type XRCETHFields struct {
	XRCSRQ uint32 // shared receive queue at the receiver, 24 bits
}

func (h *XRCETHFields) decode(b []byte) {
	_ = b[XRCETHLen-1]
	h.XRCSRQ = be24(b[1:])
}

// XRCETH is an extended reliable connection transport header as a gopacket layer.
type XRCETH struct {
	BaseLayer
	XRCETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *XRCETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < XRCETHLen {
		return cut(HeaderXRCETH, df)
	}
	h.split(data, XRCETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeXRCETH.
func (h *XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// CanDecode returns LayerTypeXRCETH.
func (h *XRCETH) CanDecode() gopacket.LayerClass { return LayerTypeXRCETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *XRCETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
