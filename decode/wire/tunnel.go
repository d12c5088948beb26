package wire

// vxlan decodes a VXLAN header (RFC 7348 §5): flags 1 (0x08 = VNI valid),
// reserved 3, VNI 3, reserved 1, then an Ethernet frame.
func (f *frame) vxlan(off int) {
	if !f.enter(LayerVXLAN, off) || !f.need(off, 8, LayerVXLAN) {
		return
	}
	if f.b[off]&0x08 == 0 {
		return // something else on that port
	}
	f.p.Encap.push(EncapVXLAN, be32(f.b, off+4)>>8)
	f.ethernet(off + 8)
}

// vxlanGPE decodes the generic protocol extension (draft-ietf-nvo3-vxlan-gpe
// §3.2): flags 1 (0x04 = next protocol valid), reserved 2, next protocol 1, VNI
// 3, reserved 1. Without a next protocol an Ethernet frame follows, as in VXLAN.
func (f *frame) vxlanGPE(off int) {
	if !f.enter(LayerVXLAN, off) || !f.need(off, 8, LayerVXLAN) {
		return
	}
	flags := f.b[off]
	if flags&0x30 != 0 {
		f.stop(LayerVXLAN, ReasonUnknown)
		return
	}
	f.p.Encap.push(EncapVXLAN, be32(f.b, off+4)>>8)
	next := f.b[off+3]
	if flags&0x04 == 0 {
		next = nextEthernet
	}
	f.next(next, off+8, LayerVXLAN)
}

// Next protocols of VXLAN-GPE and NSH (RFC 8300 §2.2).
const (
	nextIPv4     = 1
	nextIPv6     = 2
	nextEthernet = 3
	nextNSH      = 4
	nextMPLS     = 5
)

// next goes on with what a next protocol of header l names.
func (f *frame) next(protocol uint8, off int, l Layer) {
	switch protocol {
	case nextIPv4:
		f.ipv4(off)
	case nextIPv6:
		f.ipv6(off)
	case nextEthernet:
		f.ethernet(off)
	case nextNSH:
		f.nsh(off)
	case nextMPLS:
		f.mpls(off)
	default:
		f.stop(l, ReasonUnknown)
	}
}

// geneve decodes a GENEVE header (RFC 8926 §3.4): version 2 bits, option
// length 6 bits in 4-octet units, flags 1, protocol 2, VNI 3, reserved 1.
func (f *frame) geneve(off int) {
	if !f.enter(LayerGENEVE, off) || !f.need(off, 8, LayerGENEVE) {
		return
	}
	if f.b[off]>>6 != 0 {
		f.stop(LayerGENEVE, ReasonUnknown)
		return
	}
	n := 8 + 4*int(f.b[off]&0x3f)
	if !f.need(off, n, LayerGENEVE) {
		return
	}
	f.p.Encap.push(EncapGENEVE, be32(f.b, off+4)>>8)
	switch proto := be16(f.b, off+2); proto {
	case etherTEB:
		f.ethernet(off + n)
	default:
		f.tagged(proto, off+n)
	}
}

// gre decodes a GRE header (RFC 2784, RFC 2890): flags and version 2, protocol
// 2, then 4 octets each for checksum, key and sequence where flagged.
func (f *frame) gre(off int) {
	if !f.enter(LayerGRE, off) || !f.need(off, 4, LayerGRE) {
		return
	}
	flags, proto := be16(f.b, off), be16(f.b, off+2)
	if flags&7 != 0 { // version 1 is PPTP
		f.stop(LayerGRE, ReasonUnknown)
		return
	}
	n, key := 4, uint32(0)
	if flags&0x8000 != 0 {
		n += 4
	}
	if flags&0x2000 != 0 {
		if !f.need(off, n+4, LayerGRE) {
			return
		}
		key = be32(f.b, off+n)
		n += 4
	}
	seq := flags&0x1000 != 0
	if seq {
		n += 4
	}
	if !f.need(off, n, LayerGRE) {
		return
	}
	off += n
	switch proto {
	case etherTEB:
		f.p.Encap.push(EncapGRE, key)
		f.ethernet(off)
	case etherERSPAN2:
		// Type I has neither sequence nor a header of its own.
		if !seq {
			f.p.Encap.push(EncapERSPAN1, 0)
			f.ethernet(off)
			return
		}
		f.erspan2(off)
	case etherERSPAN3:
		f.erspan3(off)
	default:
		f.p.Encap.push(EncapGRE, key)
		f.tagged(proto, off)
	}
}

// nsh passes over a network service header (RFC 8300 §2.2): version 2 bits, O,
// unassigned, TTL 6, length 6 in 4-octet units, unassigned 4, MD type 4, next
// protocol 8 (1 IPv4, 2 IPv6, 3 Ethernet, 5 MPLS); service path 3, index 1.
func (f *frame) nsh(off int) {
	if !f.enter(LayerNSH, off) || !f.need(off, 8, LayerNSH) {
		return
	}
	w := be32(f.b, off)
	if w>>30 != 0 {
		f.stop(LayerNSH, ReasonUnknown)
		return
	}
	n := 4 * int(w>>16&0x3f)
	if n < 8 {
		f.stop(LayerNSH, ReasonLength)
		return
	}
	if !f.need(off, n, LayerNSH) {
		return
	}
	f.p.Encap.push(EncapNSH, be32(f.b, off+4)>>8)
	f.next(uint8(w), off+n, LayerNSH)
}
