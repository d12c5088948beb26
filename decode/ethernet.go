package decode

// EtherTypes (IEEE registration authority) that the decoder follows.
const (
	etherIPv4       = 0x0800
	etherVLAN       = 0x8100
	etherIPv6       = 0x86dd
	etherMACControl = 0x8808
	etherMPLS       = 0x8847
	etherMPLSMcast  = 0x8848
	etherQinQ       = 0x88a8
	etherLLDP       = 0x88cc
	etherRoCEv1     = 0x8915
	etherVNTag      = 0x8926
	etherNSH        = 0x894f
	etherOldQinQ    = 0x9100
	etherArista     = 0xd28b
	etherTEB        = 0x6558 // transparent Ethernet bridging, in GRE and GENEVE
	etherERSPAN2    = 0x88be
	etherERSPAN3    = 0x22eb
)

// ethernet decodes an Ethernet II or 802.3 frame at off (IEEE 802.3 §3.2):
// destination 6, source 6, EtherType or length 2. The innermost frame's
// addresses stay in the packet.
func (f *frame) ethernet(off int) {
	if !f.enter(LayerEthernet) || !f.need(off, 14, LayerEthernet) {
		return
	}
	p := f.p
	copy(p.EthDst[:], f.b[off:])
	copy(p.EthSrc[:], f.b[off+6:])
	p.Flags |= FlagEth
	p.Flags &^= FlagVLAN | FlagMACSame
	p.VLANs = 0
	if p.EthDst == p.EthSrc {
		p.Flags |= FlagMACSame
	}
	et := be16(f.b, off+12)
	if et == etherIPv4 || et == etherIPv6 { // nearly every frame
		f.etherPayload(et, off+14)
		return
	}
	f.tagged(et, off+14)
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
			if !f.enter(LayerVLAN) || !f.need(off, 4, LayerVLAN) {
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
			if !f.enter(LayerVNTag) || !f.need(off, 6, LayerVNTag) {
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
	case etherLLDP:
		p.Kind = KindLLDP
		p.TransOff, p.TransLen = uint32(off), span(off, f.end)
	case etherNSH:
		f.nsh(off)
	default:
		if et < 0x600 {
			f.llc(off, int(et))
		}
	}
}

// span is the number of octets from off to end, 0 when end lies before.
func span(off, end int) uint32 {
	if end <= off {
		return 0
	}
	return uint32(end - off)
}

// macControl recognises pause frames (802.3 annex 31B, 802.1Qbb): opcode
// 0x0001 PAUSE, 0x0101 PFC. Their parameters are read where they are used,
// with package pfc: TransOff is the opcode's offset.
func (f *frame) macControl(off int) {
	p := f.p
	p.TransOff, p.TransLen = uint32(off), span(off, f.end)
	if !f.need(off, 2, LayerMACControl) {
		return
	}
	switch be16(f.b, off) {
	case 0x0001:
		p.Kind = KindPause
	case 0x0101:
		p.Kind = KindPFC
	default:
		f.stop(LayerMACControl, ReasonUnknown)
	}
}

// llc decodes 802.2 LLC with SNAP (IEEE 802: AA AA 03, OUI 3, type 2); other
// LLC payloads aren't ours. length is the 802.3 length field.
func (f *frame) llc(off, length int) {
	if end := off + length; end < f.end {
		f.end = end
	}
	if length < 8 || !f.need(off, 8, LayerLLC) {
		return
	}
	if be16(f.b, off) != 0xaaaa || f.b[off+2] != 3 {
		return
	}
	// OUI 0 (and Cisco's 00-00-0C) carry an EtherType.
	if oui := be32(f.b, off+2) & 0xffffff; oui != 0 && oui != 0x00000c && oui != 0x0000f8 {
		return
	}
	if !f.enter(LayerLLC) {
		return
	}
	f.p.Encap.push(EncapSNAP, 0)
	if et := be16(f.b, off+6); et >= 0x600 {
		f.tagged(et, off+8)
	}
}
