package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// LRHLen is the length of a local route header.
const LRHLen = 8

// LNH is the link next header: what follows an LRH (IBTA 7.7.5).
type LNH uint8

// Link next headers.
const (
	LNHRaw       LNH = iota // raw header and EtherType, no ICRC
	LNHRawIPv6              // IPv6, no ICRC
	LNHIBALocal             // BTH
	LNHIBAGlobal            // GRH
)

// String returns the next header in words.
func (n LNH) String() string {
	return [...]string{"raw", "raw IPv6", "IBA local", "IBA global"}[n&3]
}

// LRHFields are the fields of a local route header (IBTA 7.7), the first header
// of a packet on a native InfiniBand link.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-------+-------+---+---+-------------------------------+
//	|  VL   | LVer  |  SL   |rsv|LNH|             DLID              |
//	+-------+-+-----+-------+---+---+-------------------------------+
//	|  resv5  |       PktLen        |             SLID              |
//	+---------+---------------------+-------------------------------+
type LRHFields struct {
	VL     uint8 // virtual lane; 15 is subnet management
	LVer   uint8 // 0
	SL     uint8 // service level
	LNH    LNH
	DLID   uint16
	PktLen uint16 // in words of 4 bytes, from the LRH to the end of the ICRC
	SLID   uint16
}

func (h *LRHFields) decode(b []byte) {
	_ = b[LRHLen-1]
	h.VL = b[0] >> 4
	h.LVer = b[0] & 15
	h.SL = b[1] >> 4
	h.LNH = LNH(b[1] & 3)
	h.DLID = binary.BigEndian.Uint16(b[2:])
	h.PktLen = binary.BigEndian.Uint16(b[4:]) & 0x7ff
	h.SLID = binary.BigEndian.Uint16(b[6:])
}

// Bytes returns the packet's length from the LRH to the end of the ICRC; the
// VCRC follows, unless the capture tool took it off.
func (h *LRHFields) Bytes() int { return int(h.PktLen) * 4 }

// Decode decodes the header at the start of b. The fields are set even with
// ErrLRHVersion and ErrLRHLength.
func (h *LRHFields) Decode(b []byte) error {
	if len(b) < LRHLen {
		return cutErrors[HeaderLRH]
	}
	h.decode(b)
	switch {
	case h.LVer != 0:
		return ErrLRHVersion
	case h.Bytes() < LRHLen:
		return ErrLRHLength
	case h.LNH >= LNHIBALocal && h.Bytes() < LRHLen+BTHLen+ICRCLen:
		return ErrLRHLength
	}
	return nil
}

// LRH is the local route header as a gopacket layer.
type LRH struct {
	BaseLayer
	LRHFields
}

// DecodeFromBytes decodes the header at the start of data. The payload ends
// where PktLen says, without the VCRC, as far as data goes.
func (h *LRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.Decode(data); err != nil {
		if err == error(cutErrors[HeaderLRH]) && df != nil {
			df.SetTruncated()
		}
		return err
	}
	h.split(data, LRHLen)
	if n := h.Bytes() - LRHLen; n <= len(h.Payload) {
		h.Payload = h.Payload[:n]
	} else if df != nil {
		df.SetTruncated()
	}
	return nil
}

// LayerType returns LayerTypeLRH.
func (h *LRH) LayerType() gopacket.LayerType { return LayerTypeLRH }

// CanDecode returns LayerTypeLRH.
func (h *LRH) CanDecode() gopacket.LayerClass { return LayerTypeLRH }

// NextLayerType returns what LNH says.
func (h *LRH) NextLayerType() gopacket.LayerType {
	switch h.LNH {
	case LNHIBALocal:
		return LayerTypeBTH
	case LNHIBAGlobal:
		return LayerTypeGRH
	}
	return gopacket.LayerTypePayload
}
