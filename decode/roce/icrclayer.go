package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// ICRCLen is the length of the invariant CRC.
const ICRCLen = 4

// ICRC is the trailer of every IBA packet (IBTA 7.8.1) as a gopacket layer.
//
//	+---------------------------------------------------------------+
//	|            ICRC, the least significant byte first             |
//	+---------------------------------------------------------------+
type ICRC struct {
	BaseLayer
	Value uint32    // as a number; the wire has its low byte first
	State ICRCState // of the packet it was decoded with
}

// DecodeFromBytes decodes the trailer at the start of data. It cannot be
// checked by itself: State is ICRCUncheckable.
func (h *ICRC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < ICRCLen {
		return cut(HeaderICRC, df)
	}
	h.split(data, ICRCLen)
	h.Value, h.State = binary.LittleEndian.Uint32(data), ICRCUncheckable
	return nil
}

// LayerType returns LayerTypeICRC.
func (h *ICRC) LayerType() gopacket.LayerType { return LayerTypeICRC }

// CanDecode returns LayerTypeICRC.
func (h *ICRC) CanDecode() gopacket.LayerClass { return LayerTypeICRC }

// NextLayerType returns the payload.
func (h *ICRC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

func decodeICRC(data []byte, p gopacket.PacketBuilder) error { return addLayer(p, new(ICRC), data) }
