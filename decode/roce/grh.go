package roce

import (
	"encoding/binary"
	"net/netip"

	"github.com/google/gopacket"
)

// GRHLen is the length of a global route header.
const GRHLen = 40

// NxtHdrIBA is the next-header value of a GRH before a BTH (IBTA 8.3.6).
const NxtHdrIBA = 0x1b

// GRHFields are the fields of a global route header (IBTA 8.3): that of an
// IPv6 header. RoCEv1 has it behind EtherType 0x8915 (A16), native InfiniBand
// behind an LRH with LNH 3.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+---------------+---------------------------------------+
//	| IPVer |    TClass     |               FlowLabel               |
//	+-------+---------------+-------+---------------+---------------+
//	|            PayLen             |    NxtHdr     |    HopLmt     |
//	+-------------------------------+---------------+---------------+
//	|                        SGID (16 bytes)                        |
//	+---------------------------------------------------------------+
//	|                        DGID (16 bytes)                        |
//	+---------------------------------------------------------------+
type GRHFields struct {
	IPVer     uint8 // 6
	TClass    uint8
	FlowLabel uint32 // 20 bits
	PayLen    uint16 // from the BTH to the end of the ICRC
	NxtHdr    uint8  // NxtHdrIBA before a BTH
	HopLmt    uint8
	SGID      [16]byte
	DGID      [16]byte
}

func (h *GRHFields) decode(b []byte) {
	_ = b[GRHLen-1]
	w := binary.BigEndian.Uint32(b)
	h.IPVer = uint8(w >> 28)
	h.TClass = uint8(w >> 20)
	h.FlowLabel = w & 0xfffff
	h.PayLen = binary.BigEndian.Uint16(b[4:])
	h.NxtHdr = b[6]
	h.HopLmt = b[7]
	copy(h.SGID[:], b[8:24])
	copy(h.DGID[:], b[24:40])
}

// Decode decodes the header at the start of b. A version other than 6 is
// ErrGRHVersion; the fields are set nevertheless.
func (h *GRHFields) Decode(b []byte) error {
	if len(b) < GRHLen {
		return cutErrors[HeaderGRH]
	}
	h.decode(b)
	if h.IPVer != 6 {
		return ErrGRHVersion
	}
	return nil
}

// Src returns the SGID as an address, IPv4 when it maps one (A16.4.1).
func (h *GRHFields) Src() netip.Addr { return netip.AddrFrom16(h.SGID).Unmap() }

// Dst returns the DGID as an address, IPv4 when it maps one.
func (h *GRHFields) Dst() netip.Addr { return netip.AddrFrom16(h.DGID).Unmap() }

// GRH is the global route header as a gopacket layer.
type GRH struct {
	BaseLayer
	GRHFields
}

// DecodeFromBytes decodes the header at the start of data. The payload ends
// where PayLen says, as far as data goes.
func (h *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.Decode(data); err != nil {
		if err == error(cutErrors[HeaderGRH]) && df != nil {
			df.SetTruncated()
		}
		return err
	}
	h.split(data, GRHLen)
	if n := int(h.PayLen); n <= len(h.Payload) {
		h.Payload = h.Payload[:n]
	} else if df != nil {
		df.SetTruncated()
	}
	return nil
}

// LayerType returns LayerTypeGRH.
func (h *GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode returns LayerTypeGRH.
func (h *GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

// NextLayerType returns the BTH, or the payload after any other next header.
func (h *GRH) NextLayerType() gopacket.LayerType {
	if h.NxtHdr == NxtHdrIBA {
		return LayerTypeBTH
	}
	return gopacket.LayerTypePayload
}
