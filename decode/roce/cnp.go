package roce

import (
	"github.com/google/gopacket"
)

// CNPLen is the length of the body of a congestion notification packet.
const CNPLen = 16

// CNPFields are the fields of the body of a congestion notification packet (A17.9.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                         resv (127:96)                         |
//	+---------------------------------------------------------------+
//	|                          resv (95:64)                         |
//	+---------------------------------------------------------------+
//	|                          resv (63:32)                         |
//	+---------------------------------------------------------------+
//	|                          resv (31:0)                          |
//	+---------------------------------------------------------------+
type CNPFields struct {
	Reserved [16]byte // zero
}

func (h *CNPFields) decode(b []byte) {
	_ = b[CNPLen-1]
	copy(h.Reserved[:], b[:CNPLen])
}

// Clean tells whether the reserved bytes are zero, as they have to be.
func (h *CNPFields) Clean() bool { return h.Reserved == [16]byte{} }

// CNP is the body of a congestion notification packet as a gopacket layer.
type CNP struct {
	BaseLayer
	CNPFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *CNP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < CNPLen {
		return cut(HeaderCNP, df)
	}
	h.split(data, CNPLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeCNP.
func (h *CNP) LayerType() gopacket.LayerType { return LayerTypeCNP }

// CanDecode returns LayerTypeCNP.
func (h *CNP) CanDecode() gopacket.LayerClass { return LayerTypeCNP }

// NextLayerType returns the payload: only the BTH knows what follows.
func (h *CNP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
