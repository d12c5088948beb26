package synth

// AppendRoCEv2 writes a whole Ethernet frame (no FCS) with a RoCEv2 packet and
// its ICRC: Ethernet, VLAN tags, IP, UDP, BTH … ICRC (IBTA A17).
func AppendRoCEv2(dst []byte, path *Path, p *Packet) []byte {
	dst = path.AppendEthernet(dst, path.etherType())
	return AppendRoCEv2IP(dst, path, p)
}

// AppendRoCEv2IP writes the same from the IP header on.
func AppendRoCEv2IP(dst []byte, path *Path, p *Packet) []byte {
	size := p.size() + 4
	ip := len(dst)
	dst = path.AppendIP(dst, ProtoUDP, 8+size)
	udp := len(dst)
	dst = path.AppendUDP(dst, size)
	if path.DstPort == 0 {
		be.PutUint16(dst[udp+2:], RoCEPort)
	}
	dst = p.AppendTransport(dst)
	crc := icrcIPv6
	if path.Src.Is4() {
		crc = icrcIPv4
	}
	c := crc(dst[ip:], dst[udp:])
	return append(dst, c[:]...)
}

// GRH is the global route header (IBTA 8.3), laid out as an IPv6 header.
//
//	IPVer 4 | TClass 8 | FlowLabel 20
//	PayLen 16 | NxtHdr 8 | HopLmt 8
//	SGID 128 | DGID 128
type GRH struct {
	TClass    uint8
	FlowLabel uint32
	HopLimit  uint8
	SGID      [16]byte
	DGID      [16]byte
}

// append writes the header for size octets, from the BTH to the end of the
// ICRC.
func (g *GRH) append(dst []byte, size int) []byte {
	dst = be.AppendUint32(dst, 6<<28|uint32(g.TClass)<<20|g.FlowLabel&0xfffff)
	dst = be.AppendUint16(dst, uint16(size))
	dst = append(dst, 0x1b, g.HopLimit)
	return append(append(dst, g.SGID[:]...), g.DGID[:]...)
}

// AppendRoCEv1 writes a whole Ethernet frame with a RoCEv1 packet: EtherType
// 0x8915, GRH, BTH … ICRC (IBTA A16). Of the path, only MACs and tags count.
func AppendRoCEv1(dst []byte, path *Path, g *GRH, p *Packet) []byte {
	dst = path.AppendEthernet(dst, EtherRoCEv1)
	at := len(dst)
	dst = g.append(dst, p.size()+4)
	dst = p.AppendTransport(dst)
	c := icrcGRH(dst[at:], dst[at+40:])
	return append(dst, c[:]...)
}

// LRH is the local route header of native InfiniBand (IBTA 7.7).
//
//	VL 4 | LVer 4 | SL 4 | rsvd 2 | LNH 2 | DLID 16
//	rsvd 5 | PktLen 11 | SLID 16
type LRH struct {
	VL, SL     uint8
	DLID, SLID uint16
}

// AppendIB writes a native InfiniBand packet from LRH to VCRC; a nil GRH gives
// a local packet (LNH 2), else a global one (LNH 3).
func AppendIB(dst []byte, l *LRH, g *GRH, p *Packet) []byte {
	at := len(dst)
	lnh, size := byte(2), 8+p.size()+4
	if g != nil {
		lnh, size = 3, size+40
	}
	dst = append(dst, l.VL<<4, l.SL<<4|lnh)
	dst = be.AppendUint16(dst, l.DLID)
	dst = be.AppendUint16(dst, uint16(size/4)) // LRH to ICRC, in words
	dst = be.AppendUint16(dst, l.SLID)
	if g != nil {
		dst = g.append(dst, p.size()+4)
	}
	bth := len(dst)
	dst = p.AppendTransport(dst)
	var c [4]byte
	if g != nil {
		c = icrcGRH(dst[at+8:], dst[bth:])
	} else {
		c = icrcLocal(dst[at:], dst[bth:])
	}
	dst = append(dst, c[:]...)
	v := vcrc(dst[at:])
	return append(dst, v[:]...)
}
