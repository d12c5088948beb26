package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// AtomicETHLen is the length of an atomic extended transport header.
const AtomicETHLen = 28

// AtomicETHFields are the fields of an atomic extended transport header (IBTA 9.3.4).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                           VA (63:32)                          |
//	+---------------------------------------------------------------+
//	|                           VA (31:0)                           |
//	+---------------------------------------------------------------+
//	|                             R_Key                             |
//	+---------------------------------------------------------------+
//	|                    Swap or Add Data (63:32)                   |
//	+---------------------------------------------------------------+
//	|                    Swap or Add Data (31:0)                    |
//	+---------------------------------------------------------------+
//	|                      Compare Data (63:32)                     |
//	+---------------------------------------------------------------+
//	|                      Compare Data (31:0)                      |
//	+---------------------------------------------------------------+
type AtomicETHFields struct {
	VA      uint64 // remote virtual address
	RKey    uint32
	SwapAdd uint64 // CmpSwap: the new value; FetchAdd: the addend
	Compare uint64 // CmpSwap only; FetchAdd has 0
}

func (h *AtomicETHFields) decode(b []byte) {
	_ = b[AtomicETHLen-1]
	h.VA = binary.BigEndian.Uint64(b)
	h.RKey = binary.BigEndian.Uint32(b[8:])
	h.SwapAdd = binary.BigEndian.Uint64(b[12:])
	h.Compare = binary.BigEndian.Uint64(b[20:])
}

// AtomicETH is an atomic extended transport header as a gopacket layer.
type AtomicETH struct {
	BaseLayer
	AtomicETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *AtomicETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < AtomicETHLen {
		return cut(HeaderAtomicETH, df)
	}
	h.split(data, AtomicETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeAtomicETH.
func (h *AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// CanDecode returns LayerTypeAtomicETH.
func (h *AtomicETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *AtomicETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
