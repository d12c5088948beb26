package decode

// sll decodes the Linux "cooked" header (LINKTYPE_LINUX_SLL): packet type 2,
// ARPHRD type 2, address length 2, address 8, protocol 2.
func (f *frame) sll(off int) {
	if !f.need(off, 16, LayerLink) {
		return
	}
	f.cooked(off+6, be16(f.b, off+4), be16(f.b, off), be16(f.b, off+14), off+16)
}

// sll2 decodes LINKTYPE_LINUX_SLL2: protocol 2, reserved 2, interface index 4,
// ARPHRD type 2, packet type 1, address length 1, address 8.
func (f *frame) sll2(off int) {
	if !f.need(off, 20, LayerLink) {
		return
	}
	f.cooked(off+12, uint16(f.b[off+11]), uint16(f.b[off+10]), be16(f.b, off), off+20)
}

// cooked takes over what the two cooked headers tell: the sender's address
// (the destination's isn't recorded), the direction, the protocol.
func (f *frame) cooked(addr int, addrLen, packetType, proto uint16, payload int) {
	p := f.p
	if addrLen == 6 {
		copy(p.EthSrc[:], f.b[addr:addr+6])
		p.Flags |= FlagEth
	}
	switch packetType {
	case 0, 1, 2: // to us, broadcast, multicast
		p.Dir = DirIn
	case 4:
		p.Dir = DirOut
	}
	f.tagged(proto, payload)
}

// loopback decodes LINKTYPE_NULL and LINKTYPE_LOOP: an address family in 4
// octets, in the capturing host's byte order or the network's. The values for
// IPv6 differ from system to system, so the datagram's own version decides.
func (f *frame) loopback(off int) {
	if f.need(off, 4, LayerLink) {
		f.ipByVersion(off + 4)
	}
}
