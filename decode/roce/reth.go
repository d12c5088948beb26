package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// RETHLen is the length of an RDMA extended transport header.
const RETHLen = 16

// RETHFields are the fields of an RDMA extended transport header (IBTA 9.3.3).
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
//	|                             DMALen                            |
//	+---------------------------------------------------------------+
type RETHFields struct {
	VA     uint64 // remote virtual address
	RKey   uint32
	DMALen uint32 // of the whole message, not of this packet
}

func (h *RETHFields) decode(b []byte) {
	_ = b[RETHLen-1]
	h.VA = binary.BigEndian.Uint64(b)
	h.RKey = binary.BigEndian.Uint32(b[8:])
	h.DMALen = binary.BigEndian.Uint32(b[12:])
}

// Wraps tells whether the region runs over the end of the address space, which
// no sender has reason to ask for.
func (h *RETHFields) Wraps() bool {
	return h.DMALen > 0 && h.VA > ^uint64(0)-uint64(h.DMALen-1)
}

// Offset returns how far into the region [VA, VA+DMALen) the n bytes at va
// begin, and whether they lie inside it as a whole. A region that wraps around
// 2^64 is handled as the modular arithmetic of the addresses says.
func (h *RETHFields) Offset(va, n uint64) (offset uint64, inside bool) {
	offset = va - h.VA
	size := uint64(h.DMALen)
	return offset, offset <= size && n <= size-offset
}

// ReadPackets returns how many response packets, and so PSNs, a READ of dmaLen
// bytes takes at a path MTU of pmtu bytes: at least one (IBTA 9.7.5.1.4). It is
// 0 when pmtu isn't positive.
func ReadPackets(dmaLen uint32, pmtu int) uint32 {
	switch {
	case pmtu <= 0:
		return 0
	case dmaLen == 0:
		return 1
	}
	return uint32((uint64(dmaLen) + uint64(pmtu) - 1) / uint64(pmtu))
}

// RETH is an RDMA extended transport header as a gopacket layer.
type RETH struct {
	BaseLayer
	RETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *RETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < RETHLen {
		return cut(HeaderRETH, df)
	}
	h.split(data, RETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// CanDecode returns LayerTypeRETH.
func (h *RETH) CanDecode() gopacket.LayerClass { return LayerTypeRETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *RETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
