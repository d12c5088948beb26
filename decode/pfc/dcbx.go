package pfc

import "encoding/binary"

// DCBX is what a port announces about PFC in LLDP (IEEE 802.1Q annex D.2.10,
// the PFC configuration TLV of DCBX).
type DCBX struct {
	Enabled uint8 // bit i: PFC is enabled for priority i
	Cap     uint8 // how many priorities may be enabled at once
	Willing bool  // takes the peer's configuration
}

// LLDP TLV types (IEEE 802.1AB §8.4) that are looked at.
const (
	lldpEnd      = 0
	lldpOrg      = 127
	ouiIEEE8021  = 0x0080c2
	subtypePFC   = 0x0b
	pfcTLVLength = 4 + 2
)

// DecodeLLDP looks for the PFC configuration TLV in an LLDP frame; b begins
// behind its EtherType. ok is false when there is none, or when the frame was
// cut or is malformed before it.
//
//	type 7 bits (127) | length 9 bits | OUI 00-80-C2 | subtype 0B |
//	willing 1, MBC 1, reserved 2, cap 4 | enable vector 8
func DecodeLLDP(b []byte) (d DCBX, ok bool) {
	for len(b) >= 2 {
		head := binary.BigEndian.Uint16(b)
		kind, n := head>>9, int(head&0x1ff)
		b = b[2:]
		if kind == lldpEnd || n > len(b) {
			return d, false
		}
		v := b[:n]
		b = b[n:]
		if kind != lldpOrg || n < pfcTLVLength || binary.BigEndian.Uint32(v) != ouiIEEE8021<<8|subtypePFC {
			continue
		}
		return DCBX{Enabled: v[5], Cap: v[4] & 0x0f, Willing: v[4]&0x80 != 0}, true
	}
	return d, false
}
