package wire

// UDP destination ports of tunnels (IANA; 8472 is Linux's old VXLAN port), and
// of what is only named.
const (
	portVXLAN        = 4789
	portVXLANOld     = 8472
	portVXLANGPE     = 4790
	portGENEVE       = 6081
	portMPLS         = 6635
	portHPERM        = 7932
	portERSPANMarker = 8880
)

// udp decodes a UDP header (RFC 768): source 2, destination 2, length 2,
// checksum 2. RoCEv2 is recognised by its destination port alone.
func (f *frame) udp(off int) {
	if !f.enter(LayerUDP, off) || !f.need(off, 8, LayerUDP) {
		return
	}
	p, h := f.p, f.b[off:off+8]
	p.SrcPort, p.DstPort = be16(h, 0), be16(h, 2)
	p.Flags |= FlagPorts
	p.L4Off = uint32(off)
	if n := int(be16(h, 4)); off+n != f.end && !f.udpLength(off, n) {
		return
	}
	p.TransOff, p.TransLen = uint32(off+8), span(off+8, f.end)
	if f.d.isRoCEPort(p.DstPort) {
		p.Kind = KindRoCEv2
		f.bth(off + 8)
		return
	}
	switch p.DstPort {
	case portVXLAN, portVXLANOld:
		f.vxlan(off + 8)
	case portVXLANGPE:
		f.vxlanGPE(off + 8)
	case portGENEVE:
		f.geneve(off + 8)
	case portMPLS:
		p.Encap.push(EncapMPLSUDP, 0)
		f.mpls(off + 8)
	case portHPERM:
		f.hpERM(off + 8)
	case portERSPANMarker:
		f.erspanMarker(off + 8)
	}
}

// udpLength treats a UDP length n that isn't what the IP length leaves; false
// ends the decode.
func (f *frame) udpLength(off, n int) bool {
	p := f.p
	switch {
	case n == 0: // a jumbogram (RFC 2675 §4), or what segmentation offload left
		p.Flags |= FlagSuperFrame
	case n < 8:
		f.stop(LayerUDP, ReasonLength)
		return false
	case off+n < f.end:
		f.end = off + n
	case p.Has(FlagFragment):
		// The rest is in other fragments. What follows this one in the frame
		// must not be taken for it.
		f.b = f.b[:min(len(f.b), f.end)]
		f.end = off + n
	default:
		// More than the IP header has room for: the datagram contradicts
		// itself. What there is can still be looked at.
		f.stop(LayerUDP, ReasonLength)
	}
	return true
}

// hpERM names HP's encapsulated remote mirroring. Other programs may use its
// port: only what holds an Ethernet frame 12 octets on is counted.
func (f *frame) hpERM(off int) {
	const header = 12
	if off+header+14 <= min(len(f.b), f.end) && f.likelyEther(off+header) {
		f.named(EncapHPERM, off)
	}
}

// erspanMarker names the packet by which Cisco switches relate the ticks of
// ERSPAN III to UTC; it ends with a signature (Wireshark's packet-cisco-marker).
func (f *frame) erspanMarker(off int) {
	const length = 58
	if int(f.p.TransLen) == length && off+length <= len(f.b) && be32(f.b, off+length-4) == 0xa5a5a5a5 {
		f.p.Encap.push(EncapERSPANMarker, 0)
		f.enter(LayerTapHeader, off)
	}
}

// likelyEther tells whether the frame at off, of which 14 octets must be
// there, has an EtherType that makes sense as the beginning of one.
func (f *frame) likelyEther(off int) bool {
	switch be16(f.b, off+12) {
	case etherIPv4, etherIPv6, etherARP, etherVLAN, etherQinQ, etherRoCEv1, etherMPLS:
		return true
	}
	return false
}
