package synth

import "net/netip"

// IP protocol numbers.
const (
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoGRE    = 47
	ProtoNoNext = 59
)

// RoCEPort is the UDP destination port of RoCEv2 (IBTA A17).
const RoCEPort = 4791

// Extension is an IPv6 extension header (RFC 8200 4). Body is all of it after
// the next-header octet.
type Extension struct {
	Type uint8 // 0 hop-by-hop, 43 routing, 44 fragment, 60 destination options
	Body []byte
}

// Path says how a packet travels: addresses, tags, and the fields of IP and
// UDP. IPv4 or IPv6 is told by Src.
type Path struct {
	SrcMAC, DstMAC MAC
	VLANs          []VLAN
	Src, Dst       netip.Addr
	TOS            uint8  // IPv4 TOS or IPv6 traffic class: DSCP<<2 | ECN
	TTL            uint8  // or hop limit; 0 means 64
	ID             uint16 // IPv4 identification
	MayFragment    bool   // clears IPv4's DF, which is else set
	FlowLabel      uint32 // IPv6
	Options        []byte // IPv4 options, a multiple of 4 octets
	Extensions     []Extension
	SrcPort        uint16
	DstPort        uint16 // 0 means 4791 for RoCE
	UDPChecksum    uint16 // RoCEv2 leaves it 0
}

// Reverse is the way back: addresses swapped, the rest kept. RoCE's responses
// usually keep the source port, so it isn't swapped with the destination port.
func (p *Path) Reverse() Path {
	r := *p
	r.SrcMAC, r.DstMAC = p.DstMAC, p.SrcMAC
	r.Src, r.Dst = p.Dst, p.Src
	return r
}

func (p *Path) etherType() uint16 {
	if p.Src.Is4() {
		return EtherIPv4
	}
	return EtherIPv6
}

func (p *Path) ttl() uint8 {
	if p.TTL == 0 {
		return 64
	}
	return p.TTL
}

// AppendEthernet writes the Ethernet header and tags of the path.
func (p *Path) AppendEthernet(dst []byte, etherType uint16) []byte {
	return AppendEthernet(dst, p.DstMAC, p.SrcMAC, etherType, p.VLANs...)
}

// AppendIP writes the IPv4 or IPv6 header for size octets of payload.
func (p *Path) AppendIP(dst []byte, proto uint8, size int) []byte {
	if !p.Src.Is4() {
		return p.appendIPv6(dst, proto, size)
	}
	flags := uint16(0x4000)
	if p.MayFragment {
		flags = 0
	}
	return p.appendIPv4(dst, proto, size, flags)
}

// AppendIPv4Fragment writes an IPv4 header of a fragment: offset in octets (a
// multiple of 8), more tells that others follow (RFC 791 3.1).
func (p *Path) AppendIPv4Fragment(dst []byte, proto uint8, size, offset int, more bool) []byte {
	flags := uint16(offset / 8)
	if more {
		flags |= 0x2000
	}
	return p.appendIPv4(dst, proto, size, flags)
}

// appendIPv4 writes RFC 791 3.1's header.
func (p *Path) appendIPv4(dst []byte, proto uint8, size int, flags uint16) []byte {
	at := len(dst)
	head := 20 + len(p.Options)
	dst = append(dst, 0x40|byte(head/4), p.TOS)
	dst = be.AppendUint16(dst, uint16(head+size))
	dst = be.AppendUint16(dst, p.ID)
	dst = be.AppendUint16(dst, flags)
	dst = append(dst, p.ttl(), proto, 0, 0)
	src, to := p.Src.As4(), p.Dst.As4()
	dst = append(append(append(dst, src[:]...), to[:]...), p.Options...)
	be.PutUint16(dst[at+10:], Checksum(0, dst[at:]))
	return dst
}

// appendIPv6 writes RFC 8200 3's header and its extension headers.
func (p *Path) appendIPv6(dst []byte, proto uint8, size int) []byte {
	next := proto
	for i := len(p.Extensions) - 1; i >= 0; i-- {
		size += 1 + len(p.Extensions[i].Body)
		next = p.Extensions[i].Type
	}
	dst = be.AppendUint32(dst, 6<<28|uint32(p.TOS)<<20|p.FlowLabel&0xfffff)
	dst = be.AppendUint16(dst, uint16(size))
	dst = append(dst, next, p.ttl())
	src, to := p.Src.As16(), p.Dst.As16()
	dst = append(append(dst, src[:]...), to[:]...)
	for i, e := range p.Extensions {
		next = proto
		if i+1 < len(p.Extensions) {
			next = p.Extensions[i+1].Type
		}
		dst = append(append(dst, next), e.Body...)
	}
	return dst
}

// AppendUDP writes a UDP header (RFC 768) for size octets of payload, with the
// checksum of the path.
func (p *Path) AppendUDP(dst []byte, size int) []byte {
	dst = be.AppendUint16(dst, p.SrcPort)
	dst = be.AppendUint16(dst, p.DstPort)
	dst = be.AppendUint16(dst, uint16(8+size))
	return be.AppendUint16(dst, p.UDPChecksum)
}

// AppendUDPFrame writes a whole Ethernet frame with a UDP datagram.
func (p *Path) AppendUDPFrame(dst []byte, payload []byte) []byte {
	dst = p.AppendEthernet(dst, p.etherType())
	dst = p.AppendIP(dst, ProtoUDP, 8+len(payload))
	return append(p.AppendUDP(dst, len(payload)), payload...)
}

// Checksum is the Internet checksum (RFC 1071), complemented, over b; sum adds
// what a pseudo header brings.
func Checksum(sum uint32, b []byte) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// pseudoSum adds up the pseudo header of TCP and UDP (RFC 9293 3.1, RFC 8200
// 8.1).
func (p *Path) pseudoSum(proto uint8, size int) uint32 {
	sum := uint32(proto) + uint32(size)
	add := func(b []byte) {
		for ; len(b) > 1; b = b[2:] {
			sum += uint32(be.Uint16(b))
		}
	}
	if p.Src.Is4() {
		src, to := p.Src.As4(), p.Dst.As4()
		add(src[:])
		add(to[:])
		return sum
	}
	src, to := p.Src.As16(), p.Dst.As16()
	add(src[:])
	add(to[:])
	return sum
}
