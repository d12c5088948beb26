package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// VCRCLen is the length of the variant CRC that ends a packet on a native
// InfiniBand link.
const VCRCLen = 2

// vcrcTable is for the polynomial 0x100b (IBTA 7.8.2), reflected 0xd008.
var vcrcTable = func() (t [256]uint16) {
	for i := range t {
		v := uint16(i)
		for range 8 {
			if v&1 != 0 {
				v = v>>1 ^ 0xd008
			} else {
				v >>= 1
			}
		}
		t[i] = v
	}
	return t
}()

// VCRCSum returns the variant CRC over pkt: from the LRH to the end of the ICRC.
// The wire has its low byte first.
func VCRCSum(pkt []byte) uint16 {
	r := uint16(0xffff)
	for _, b := range pkt {
		r = r>>8 ^ vcrcTable[uint8(r)^b]
	}
	return ^r
}

// VCRC is the link's trailer as a gopacket layer.
type VCRC struct {
	BaseLayer
	Value uint16 // as a number; the wire has its low byte first
	OK    bool   // it is that of the packet it was decoded with
}

// DecodeFromBytes decodes the trailer at the start of data. It cannot be
// checked by itself: OK is false.
func (h *VCRC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < VCRCLen {
		return cut(HeaderLRH, df)
	}
	h.split(data, VCRCLen)
	h.Value, h.OK = binary.LittleEndian.Uint16(data), false
	return nil
}

// LayerType returns LayerTypeVCRC.
func (h *VCRC) LayerType() gopacket.LayerType { return LayerTypeVCRC }

// CanDecode returns LayerTypeVCRC.
func (h *VCRC) CanDecode() gopacket.LayerClass { return LayerTypeVCRC }

// NextLayerType returns the payload.
func (h *VCRC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

func decodeVCRC(data []byte, p gopacket.PacketBuilder) error { return addLayer(p, new(VCRC), data) }
