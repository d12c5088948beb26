package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// AETHLen is the length of an acknowledge extended transport header.
const AETHLen = 4

// AETHFields are the fields of an acknowledge extended transport header (IBTA 9.3.5).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|    Syndrome   |                      MSN                      |
//	+---------------+-----------------------------------------------+
type AETHFields struct {
	Syndrome Syndrome
	MSN      MSN // messages that the responder has completed
}

func (h *AETHFields) decode(b []byte) {
	_ = b[AETHLen-1]
	w := binary.BigEndian.Uint32(b)
	h.Syndrome = Syndrome(w >> 24)
	h.MSN = MSN(w & mask24)
}

// AETH is an acknowledge extended transport header as a gopacket layer.
type AETH struct {
	BaseLayer
	AETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *AETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < AETHLen {
		return cut(HeaderAETH, df)
	}
	h.split(data, AETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// CanDecode returns LayerTypeAETH.
func (h *AETH) CanDecode() gopacket.LayerClass { return LayerTypeAETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *AETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
