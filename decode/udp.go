package decode

// UDP destination ports of tunnels (IANA; 8472 is Linux's old VXLAN port).
const (
	portVXLAN    = 4789
	portVXLANOld = 8472
	portGENEVE   = 6081
	portMPLS     = 6635
)

// udp decodes a UDP header (RFC 768): source 2, destination 2, length 2,
// checksum 2. RoCEv2 is recognised by its destination port alone.
func (f *frame) udp(off int) {
	if !f.enter(LayerUDP) || !f.need(off, 8, LayerUDP) {
		return
	}
	p := f.p
	p.SrcPort, p.DstPort = be16(f.b, off), be16(f.b, off+2)
	p.Flags |= FlagPorts
	p.L4Off = uint32(off)
	switch n := int(be16(f.b, off+4)); {
	case n == 0: // a jumbogram, or what segmentation offload left
		p.Flags |= FlagSuperFrame
	case n < 8:
		f.stop(LayerUDP, ReasonLength)
		return
	case off+n > f.end && p.Flags&FlagFragment == 0:
		// More than the IP header has room for: the datagram contradicts
		// itself. What there is can still be looked at.
		f.stop(LayerUDP, ReasonLength)
	case off+n < f.end:
		f.end = off + n
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
	case portGENEVE:
		f.geneve(off + 8)
	case portMPLS:
		f.mpls(off + 8)
	}
}

// tcp decodes a TCP header (RFC 9293 §3.1) up to the data offset; options are
// read where they are used.
func (f *frame) tcp(off int) {
	if !f.enter(LayerTCP) || !f.need(off, 20, LayerTCP) {
		return
	}
	p, h := f.p, f.b[off:off+20]
	p.Kind = KindTCP
	p.SrcPort, p.DstPort = be16(h, 0), be16(h, 2)
	p.Flags |= FlagPorts
	p.L4Off = uint32(off)
	p.TCP = TCPHeader{Seq: be32(h, 4), Ack: be32(h, 8), HeaderLen: h[12] >> 4 * 4, Flags: TCPFlags(h[13]), Window: be16(h, 14)}
	hl := int(p.TCP.HeaderLen)
	if hl < 20 {
		f.stop(LayerTCP, ReasonLength)
		return
	}
	p.TransOff, p.TransLen = uint32(off+hl), span(off+hl, f.end)
	f.need(off, hl, LayerTCP)
}
