package wire

// sll decodes the Linux "cooked" header (LINKTYPE_LINUX_SLL): packet type 2,
// ARPHRD type 2, address length 2, address 8, protocol 2.
func (f *frame) sll(off int) {
	if !f.enter(LayerSLL, off) || !f.need(off, 16, LayerSLL) {
		return
	}
	f.cooked(off+6, be16(f.b, off+4), be16(f.b, off), be16(f.b, off+14), off+16)
}

// sll2 decodes LINKTYPE_LINUX_SLL2: protocol 2, reserved 2, interface index 4,
// ARPHRD type 2, packet type 1, address length 1, address 8.
func (f *frame) sll2(off int) {
	if !f.enter(LayerSLL2, off) || !f.need(off, 20, LayerSLL2) {
		return
	}
	f.cooked(off+12, uint16(f.b[off+11]), uint16(f.b[off+10]), be16(f.b, off), off+20)
}

// Protocol values of cooked headers that are no EtherTypes (linux/if_ether.h).
const (
	cooked8023 = 1 // ETH_P_802_3: Novell's frames without LLC
	cookedLLC  = 4 // ETH_P_802_2: an LLC header follows
)

// cooked takes over what the two cooked headers tell: the sender's address
// (the destination's isn't recorded), the direction, the protocol.
func (f *frame) cooked(addr int, addrLen, packetType, proto uint16, payload int) {
	p := f.p
	if addrLen == 6 {
		p.EthSrc = MAC(f.b[addr : addr+6])
		p.Flags |= FlagEth
	}
	switch packetType {
	case 0, 1, 2: // to us, broadcast, multicast
		p.Dir = DirIn
	case 4:
		p.Dir = DirOut
	}
	p.EtherType = proto
	switch {
	case proto == cookedLLC:
		f.llc(payload, f.end-payload)
	case proto > maxLength:
		f.tagged(proto, payload)
	}
}

// loopback decodes LINKTYPE_NULL and LINKTYPE_LOOP: an address family in 4
// octets, in the capturing host's byte order or the network's. The values for
// IPv6 differ from system to system, so the datagram's own version decides.
func (f *frame) loopback(off int) {
	if f.enter(LayerLoopback, off) && f.need(off, 4, LayerLoopback) {
		f.ipByVersion(off + 4)
	}
}
