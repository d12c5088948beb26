package wire

// Pair tells between which hosts a frame goes and to which queue pair, and no
// more: what sorting packets by host pair takes.
type Pair struct {
	Src, Dst Addr
	DestQP   uint32
}

// Pair reads a plain RoCEv2 frame: Ethernet, at most two VLAN tags, IPv4 without
// options or IPv6 without extension headers, no fragment, lengths that agree,
// and a whole BTH. When it returns true, Decode finds the same addresses, the
// kind RoCEv2, and in the BTH, if it accepts that, the same queue pair. When it
// returns false the frame may be anything.
func (d *Decoder) Pair(link uint16, b []byte, pair *Pair) bool {
	const eth, tag, udp, bth = 14, 4, 8, 12
	if link != LinkEthernet || len(b) < eth+20+udp+bth {
		return false
	}
	off := eth
	et := be16(b, 12)
	for tags := 0; et == etherVLAN || et == etherQinQ || et == etherOldQinQ; tags++ {
		if tags == 2 || len(b) < off+tag+20+udp+bth {
			return false
		}
		et = be16(b, off+2)
		off += tag
	}
	l4, length := off+20, 0
	switch {
	case et == etherIPv4 && b[off] == 0x45 && b[off+9] == protoUDP && be16(b, off+6)&0x3fff == 0:
		length = int(be16(b, off+2)) - 20
		pair.Src, pair.Dst = AddrV4(be32(b, off+12)), AddrV4(be32(b, off+16))
	case et == etherIPv6 && b[off]>>4 == 6 && b[off+6] == protoUDP && len(b) >= off+40+udp+bth:
		l4, length = off+40, int(be16(b, off+4))
		pair.Src, pair.Dst = Addr{be64(b, off+8), be64(b, off+16)}, Addr{be64(b, off+24), be64(b, off+32)}
	default:
		return false
	}
	if length < udp+bth || int(be16(b, l4+4)) != length || !d.isRoCEPort(be16(b, l4+2)) {
		return false
	}
	pair.DestQP = be32(b, l4+udp+4) & 0xffffff
	return true
}
