package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// ImmDtLen is the length of an immediate data header.
const ImmDtLen = 4

// ImmDtFields are the fields of an immediate data header (IBTA 9.3.6).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                         Immediate Data                        |
//	+---------------------------------------------------------------+
type ImmDtFields struct {
	Immediate uint32 // opaque to the transport
}

func (h *ImmDtFields) decode(b []byte) {
	_ = b[ImmDtLen-1]
	h.Immediate = binary.BigEndian.Uint32(b)
}

// ImmDt is an immediate data header as a gopacket layer.
type ImmDt struct {
	BaseLayer
	ImmDtFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *ImmDt) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < ImmDtLen {
		return cut(HeaderImmDt, df)
	}
	h.split(data, ImmDtLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeImmDt.
func (h *ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// CanDecode returns LayerTypeImmDt.
func (h *ImmDt) CanDecode() gopacket.LayerClass { return LayerTypeImmDt }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *ImmDt) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
