package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// AtomicAckETHLen is the length of an atomic acknowledge extended transport header.
const AtomicAckETHLen = 8

// AtomicAckETHFields are the fields of an atomic acknowledge extended transport header (IBTA 9.5.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                  Original Remote Data (63:32)                 |
//	+---------------------------------------------------------------+
//	|                  Original Remote Data (31:0)                  |
//	+---------------------------------------------------------------+
type AtomicAckETHFields struct {
	Original uint64 // what the memory held before the operation
}

func (h *AtomicAckETHFields) decode(b []byte) {
	_ = b[AtomicAckETHLen-1]
	h.Original = binary.BigEndian.Uint64(b)
}

// AtomicAckETH is an atomic acknowledge extended transport header as a gopacket layer.
type AtomicAckETH struct {
	BaseLayer
	AtomicAckETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *AtomicAckETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < AtomicAckETHLen {
		return cut(HeaderAtomicAckETH, df)
	}
	h.split(data, AtomicAckETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// CanDecode returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicAckETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *AtomicAckETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
