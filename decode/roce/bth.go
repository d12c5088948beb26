package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// BTHLen is the length of a base transport header.
const BTHLen = 12

// BTHFields are the fields of the base transport header (IBTA 9.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+-+-+---+-------+-------------------------------+
//	|    OpCode     |S|M|Pad| TVer  |             P_Key             |
//	+-+-+-----------+-+-+---+-------+-------------------------------+
//	|F|B|   resv6   |                    DestQP                     |
//	+-+-+-----------+-----------------------------------------------+
//	|A|    resv7    |                      PSN                      |
//	+-+-------------+-----------------------------------------------+
//
// There is no source QP: only DETH has one.
type BTHFields struct {
	Opcode Opcode
	PadCnt uint8  // pad bytes between payload and ICRC, 0 to 3
	TVer   uint8  // transport header version, always 0
	SE     bool   // solicited event
	MigReq bool   // migration state; no use in telling packets apart
	FECN   bool   // forward congestion notification, not covered by the ICRC
	BECN   bool   // backward congestion notification, set in a CNP
	AckReq bool   // the requester asks for an acknowledgement (no promise on UC and UD)
	Resv6  uint8  // 6 bits beside FECN and BECN, not covered by the ICRC
	Resv7  uint8  // 7 bits beside AckReq
	PKey   uint16 // partition key, bit 15: full member
	DestQP QPN
	PSN    PSN
}

func (h *BTHFields) decode(b []byte) {
	_ = b[BTHLen-1]
	w0 := binary.BigEndian.Uint32(b)
	w1 := binary.BigEndian.Uint32(b[4:])
	w2 := binary.BigEndian.Uint32(b[8:])
	h.Opcode = Opcode(w0 >> 24)
	h.SE = w0&(1<<23) != 0
	h.MigReq = w0&(1<<22) != 0
	h.PadCnt = uint8(w0>>20) & 3
	h.TVer = uint8(w0>>16) & 15
	h.PKey = uint16(w0)
	h.FECN = w1&(1<<31) != 0
	h.BECN = w1&(1<<30) != 0
	h.Resv6 = uint8(w1>>24) & 0x3f
	h.DestQP = QPN(w1 & mask24)
	h.AckReq = w2&(1<<31) != 0
	h.Resv7 = uint8(w2>>24) & 0x7f
	h.PSN = PSN(w2 & mask24)
}

// FullMember tells whether the P_Key is that of a full partition member
// (IBTA 10.9.1.1).
func (h *BTHFields) FullMember() bool { return h.PKey&0x8000 != 0 }

// BTH is the base transport header as a gopacket layer. Its payload is
// everything behind it, pad and ICRC included, since only an outer header
// knows where the packet ends; Transport separates them.
type BTH struct {
	BaseLayer
	BTHFields
}

// DecodeFromBytes decodes the header at the start of data.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < BTHLen {
		return cut(HeaderBTH, df)
	}
	h.split(data, BTHLen)
	h.decode(data)
	return nil
}

// LayerType returns LayerTypeBTH.
func (h *BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (h *BTH) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType returns the first extension header by the opcode table.
func (h *BTH) NextLayerType() gopacket.LayerType { return opcodeTable[h.Opcode].Headers[0].layerType() }
