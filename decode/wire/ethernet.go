package wire

import (
	"rdmascope/decode/pfc"
	"rdmascope/decode/roce"
)

// EtherTypes (IEEE registration authority) that the decoder follows or names.
const (
	etherIPv4       = 0x0800
	etherARP        = 0x0806
	etherERSPAN3    = 0x22eb
	etherGigamon    = 0x22e5
	etherTEB        = 0x6558 // transparent Ethernet bridging, in GRE and GENEVE
	etherVLAN       = 0x8100
	etherIPv6       = 0x86dd
	etherMACControl = pfc.EtherType
	etherMPLS       = 0x8847
	etherMPLSMcast  = 0x8848
	etherQinQ       = 0x88a8
	etherERSPAN2    = 0x88be
	etherLLDP       = 0x88cc
	etherRoCEv1     = roce.EtherType
	etherVNTag      = 0x8926
	etherNSH        = 0x894f
	etherTTag       = 0x8988
	etherOldQinQ    = 0x9100
	etherArista     = 0xd28b

	// maxLength is the largest value that is an 802.3 length, not an EtherType.
	maxLength = 0x5ff
)

// ethernet decodes an Ethernet II or 802.3 frame at off (IEEE 802.3 §3.2):
// destination 6, source 6, EtherType or length 2. The innermost frame's
// addresses stay in the packet.
func (f *frame) ethernet(off int) {
	if !f.enter(LayerEthernet, off) || !f.need(off, 14, LayerEthernet) {
		return
	}
	p, h := f.p, f.b[off:off+14]
	p.EthDst, p.EthSrc = MAC(h[:6]), MAC(h[6:])
	p.Flags |= FlagEth
	p.Flags &^= FlagVLAN | FlagMACSame
	p.VLANs = 0
	f.start = off
	if be32(h, 0) == be32(h, 6) && be16(h, 4) == be16(h, 10) {
		p.Flags |= FlagMACSame
	}
	switch et := be16(h, 12); et {
	case etherIPv4: // nearly every frame
		p.EtherType = et
		f.ipv4(off + 14)
	default:
		f.tagged(et, off+14)
	}
}

// tagged passes over VLAN tags (802.1Q §9.6: TPID 2, PCP 3 bits, DEI 1, VID
// 12), VN-Tags and tap headers, which all end in another EtherType. The
// outermost VLAN tag is kept: its PCP is the one that PFC looks at.
func (f *frame) tagged(et uint16, off int) {
	p := f.p
	for {
		p.EtherType = et
		switch et {
		case etherVLAN, etherQinQ, etherOldQinQ:
			if !f.enter(LayerVLAN, off) || !f.need(off, 4, LayerVLAN) {
				return
			}
			tci := be16(f.b, off)
			if p.VLANs == 0 {
				p.Flags |= FlagVLAN
				p.PCP = uint8(tci >> 13)
				p.VID = tci & 0xfff
			}
			p.VLANs++
			et = be16(f.b, off+2)
			off += 4
		case etherVNTag:
			if !f.enter(LayerVNTag, off) || !f.need(off, 6, LayerVNTag) {
				return
			}
			p.Encap.push(EncapVNTag, be32(f.b, off)>>16&0x3fff)
			et = be16(f.b, off+4)
			off += 6
		case etherArista:
			n := f.aristaHeader(off)
			if n == 0 {
				return
			}
			et = be16(f.b, off+n-2)
			off += n
		default:
			f.etherPayload(et, off)
			return
		}
	}
}

// etherPayload goes on with what an EtherType names.
func (f *frame) etherPayload(et uint16, off int) {
	p := f.p
	p.EtherType = et
	switch et {
	case etherIPv4:
		f.ipv4(off)
	case etherIPv6:
		f.ipv6(off)
	case etherRoCEv1:
		p.Kind = KindRoCEv1
		f.grh(off)
	case etherMACControl:
		f.macControl(off)
	case etherMPLS, etherMPLSMcast:
		f.mpls(off)
	case etherARP:
		// Only for what may follow it: ARP for IPv4 has 28 octets (RFC 826).
		f.datagramEnd(off + 28)
	case etherLLDP:
		p.Kind = KindLLDP
		p.TransOff, p.TransLen = uint32(off), span(off, f.end)
		f.enter(LayerLLDP, off)
	case etherNSH:
		f.nsh(off)
	case etherTTag:
		f.named(EncapTTag, off)
	case etherGigamon:
		f.named(EncapGigamon, off)
	default:
		if et <= maxLength {
			f.llc(off, int(et))
		}
	}
}

// named ends the decode at a header that is known by name only.
func (f *frame) named(k EncapKind, off int) {
	f.p.Encap.push(k, 0)
	f.enter(LayerTapHeader, off)
	f.stop(LayerTapHeader, ReasonUnknown)
}

// span is the number of octets from off to end, 0 when end lies before.
func span(off, end int) uint32 {
	if end <= off {
		return 0
	}
	return uint32(end - off)
}

// macControl recognises pause frames (802.3 annex 31B, 802.1Qbb): opcode
// 0x0001 PAUSE, 0x0101 PFC, and what is wrong with them. Their parameters are
// read again where they are used, with package pfc: TransOff is the opcode's
// offset.
func (f *frame) macControl(off int) {
	p := f.p
	p.TransOff, p.TransLen = uint32(off), span(off, f.end)
	if !f.enter(LayerMACControl, off) || !f.need(off, pfc.OpcodeLen, LayerMACControl) {
		return
	}
	var h pfc.Frame
	err := h.Decode(p.EthDst, f.b[off:], int(p.TransLen))
	switch h.Opcode {
	case pfc.OpcodePAUSE:
		p.Kind = KindPause
	case pfc.OpcodePFC:
		p.Kind = KindPFC
	}
	switch {
	case err == nil:
	case h.Reason != pfc.ReasonNone:
		f.stop(LayerMACControl, pauseReasons[h.Reason])
	case err == pfc.ErrTruncated:
		f.stop(LayerMACControl, ReasonCut)
	default:
		f.stop(LayerMACControl, ReasonUnknown)
	}
}

var pauseReasons = [...]Reason{
	pfc.ReasonShort: ReasonShort, pfc.ReasonDestination: ReasonAddress, pfc.ReasonVector: ReasonVector,
}

// llc decodes 802.2 LLC with SNAP (IEEE 802: AA AA 03, OUI 3, type 2); other
// LLC payloads aren't ours. length is the 802.3 length field.
func (f *frame) llc(off, length int) {
	if off+length < f.end {
		f.end = off + length
	}
	if length < 8 || !f.need(off, 8, LayerLLC) {
		return
	}
	if be16(f.b, off) != 0xaaaa || f.b[off+2] != 3 {
		return
	}
	// OUI 0 (RFC 1042), 00-00-F8 (bridge tunnel) and Cisco's 00-00-0C carry an
	// EtherType.
	if oui := be32(f.b, off+2) & 0xffffff; oui != 0 && oui != 0x00000c && oui != 0x0000f8 {
		return
	}
	if !f.enter(LayerLLC, off) {
		return
	}
	f.p.Encap.push(EncapSNAP, 0)
	if et := be16(f.b, off+6); et > maxLength {
		f.tagged(et, off+8)
	}
}
