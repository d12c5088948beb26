package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// FETHLen is the length of a flush extended transport header.
const FETHLen = 4

// FETHFields are the fields of a flush extended transport header (IBTA A19).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                       resv26                      |SEL|  PLT  |
//	+---------------------------------------------------+---+-------+
type FETHFields struct {
	PLT Placement
	SEL Selectivity
}

func (h *FETHFields) decode(b []byte) {
	_ = b[FETHLen-1]
	w := binary.BigEndian.Uint32(b)
	h.PLT = Placement(w & 0xf)
	h.SEL = Selectivity(w >> 4 & 3)
}

// Placement says what a FLUSH guarantees, a set of bits.
type Placement uint8

// Placement types.
const (
	PlacementGlobal     Placement = 1 // visible to all agents at the responder
	PlacementPersistent Placement = 2 // survives power loss
)

// String returns the guarantees in words.
func (p Placement) String() string {
	switch p {
	case PlacementGlobal:
		return "global visibility"
	case PlacementPersistent:
		return "persistence"
	case PlacementGlobal | PlacementPersistent:
		return "global visibility and persistence"
	}
	return "reserved"
}

// Selectivity says what a FLUSH applies to.
type Selectivity uint8

// Selectivity levels.
const (
	SelectivityRange  Selectivity = 0 // the range of the RETH
	SelectivityRegion Selectivity = 1 // the whole memory region of its R_Key
)

// String returns the level in words.
func (s Selectivity) String() string {
	switch s {
	case SelectivityRange:
		return "memory range"
	case SelectivityRegion:
		return "memory region"
	}
	return "reserved"
}

// FETH is a flush extended transport header as a gopacket layer.
type FETH struct {
	BaseLayer
	FETHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *FETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < FETHLen {
		return cut(HeaderFETH, df)
	}
	h.split(data, FETHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeFETH.
func (h *FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// CanDecode returns LayerTypeFETH.
func (h *FETH) CanDecode() gopacket.LayerClass { return LayerTypeFETH }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *FETH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
