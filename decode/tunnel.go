package decode

// vxlan decodes a VXLAN header (RFC 7348 §5): flags 1 (0x08 = VNI valid),
// reserved 3, VNI 3, reserved 1, then an Ethernet frame.
func (f *frame) vxlan(off int) {
	if !f.enter(LayerVXLAN) || !f.need(off, 8, LayerVXLAN) {
		return
	}
	if f.b[off]&0x08 == 0 {
		return // something else on that port
	}
	f.p.Encap.push(EncapVXLAN, be32(f.b, off+4)>>8)
	f.ethernet(off + 8)
}

// geneve decodes a GENEVE header (RFC 8926 §3.4): version 2 bits, option
// length 6 bits in 4-octet units, flags 1, protocol 2, VNI 3, reserved 1.
func (f *frame) geneve(off int) {
	if !f.enter(LayerGENEVE) || !f.need(off, 8, LayerGENEVE) {
		return
	}
	if f.b[off]>>6 != 0 {
		f.stop(LayerGENEVE, ReasonVersion)
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
	if !f.enter(LayerGRE) || !f.need(off, 4, LayerGRE) {
		return
	}
	flags, proto := be16(f.b, off), be16(f.b, off+2)
	if flags&7 != 0 { // version 1 is PPTP
		f.stop(LayerGRE, ReasonVersion)
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

// erspan2 decodes an ERSPAN type II header (draft-foschiano-erspan-03 §4.2):
// version 4 bits (1), VLAN 12, COS 3, encapsulation 2, truncated 1, session 10;
// reserved 12, index 20. The frame that follows has no FCS.
func (f *frame) erspan2(off int) {
	if !f.enter(LayerERSPAN) || !f.need(off, 8, LayerERSPAN) {
		return
	}
	w := be32(f.b, off)
	if w>>28 != 1 {
		f.stop(LayerERSPAN, ReasonVersion)
		return
	}
	f.erspanTruncated(w)
	f.p.Encap.push(EncapERSPAN2, w&0x3ff)
	f.ethernet(off + 8)
}

// erspan3 decodes an ERSPAN type III header (draft-foschiano-erspan-03 §4.3):
// as type II in the first word (version 2, BSO in place of En), timestamp 4,
// SGT 2, then P 1 bit, frame type 5, hardware 6, direction 1, granularity 2,
// O 1. With O an 8-octet platform subheader follows.
func (f *frame) erspan3(off int) {
	if !f.enter(LayerERSPAN) || !f.need(off, 12, LayerERSPAN) {
		return
	}
	w, last := be32(f.b, off), be16(f.b, off+10)
	if w>>28 != 2 {
		f.stop(LayerERSPAN, ReasonVersion)
		return
	}
	n := 12
	if last&1 != 0 {
		n += 8
	}
	if !f.need(off, n, LayerERSPAN) {
		return
	}
	f.erspanTruncated(w)
	f.p.Encap.push(EncapERSPAN3, w&0x3ff)
	switch last >> 10 & 0x1f {
	case 0:
		f.ethernet(off + n)
	case 2:
		f.ipByVersion(off + n)
	default:
		f.stop(LayerERSPAN, ReasonUnknown)
	}
}

func (f *frame) erspanTruncated(w uint32) {
	if w&0x400 != 0 {
		f.p.Flags |= FlagTruncated
	}
}

// mpls decodes a label stack (RFC 3032 §2.1: label 20 bits, TC 3, S 1, TTL 8).
// What follows the bottom isn't named: a first nibble of 4 or 6 is IP; 0 is a
// pseudowire's control word (RFC 4385 §3) with an Ethernet frame after it, or
// an Ethernet frame whose address begins so.
func (f *frame) mpls(off int) {
	bottom := uint32(0)
	for {
		if !f.enter(LayerMPLS) || !f.need(off, 4, LayerMPLS) {
			return
		}
		w := be32(f.b, off)
		off += 4
		if w&0x100 != 0 {
			bottom = w >> 12
			break
		}
	}
	f.p.Encap.push(EncapMPLS, bottom)
	if !f.need(off, 1, LayerMPLS) {
		return
	}
	switch f.b[off] >> 4 {
	case 4:
		f.ipv4(off)
	case 6:
		f.ipv6(off)
	case 0:
		f.pseudowire(off)
	default:
		f.stop(LayerMPLS, ReasonUnknown)
	}
}

// pseudowire looks for an Ethernet frame behind an optional control word: the
// place whose EtherType is a known one.
func (f *frame) pseudowire(off int) {
	for _, at := range [...]int{off + 4, off} {
		if at+14 > len(f.b) {
			continue
		}
		switch be16(f.b, at+12) {
		case etherIPv4, etherIPv6, etherVLAN, etherQinQ, etherRoCEv1, etherMPLS:
			f.p.Encap.push(EncapPseudowire, 0)
			f.ethernet(at)
			return
		}
	}
	f.stop(LayerMPLS, ReasonUnknown)
}

// nsh passes over a network service header (RFC 8300 §2.2): version 2 bits, O,
// unassigned, TTL 6, length 6 in 4-octet units, unassigned 4, MD type 4, next
// protocol 8 (1 IPv4, 2 IPv6, 3 Ethernet, 5 MPLS); service path 3, index 1.
func (f *frame) nsh(off int) {
	if !f.enter(LayerNSH) || !f.need(off, 8, LayerNSH) {
		return
	}
	w := be32(f.b, off)
	if w>>30 != 0 {
		f.stop(LayerNSH, ReasonVersion)
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
	switch w & 0xff {
	case 1:
		f.ipv4(off + n)
	case 2:
		f.ipv6(off + n)
	case 3:
		f.ethernet(off + n)
	case 5:
		f.mpls(off + n)
	default:
		f.stop(LayerNSH, ReasonUnknown)
	}
}
