package synth

// Wrap puts a finished frame into another one. Chain them to nest.
type Wrap func(frame []byte) []byte

// Chain applies wraps from left to right: the last one is the outermost.
func Chain(wraps ...Wrap) Wrap {
	return func(frame []byte) []byte {
		for _, w := range wraps {
			frame = w(frame)
		}
		return frame
	}
}

// etherPayload finds what follows the tags of an Ethernet frame: the offset of
// the last EtherType, and its value.
func etherPayload(frame []byte) (at int, etherType uint16) {
	at = 12
	for {
		etherType = be.Uint16(frame[at:])
		switch etherType {
		case EtherVLAN, EtherQinQ, EtherQinQ9:
			at += 4
		default:
			return at, etherType
		}
	}
}

// splitIP takes the Ethernet header off an IP frame, with padding and FCS left
// in place.
func splitIP(frame []byte) (etherType uint16, ip []byte) {
	at, etherType := etherPayload(frame)
	return etherType, frame[at+2:]
}

// outerUDP puts a payload into a UDP datagram of the outer path.
func outerUDP(outer Path, port uint16, payload []byte) []byte {
	outer.DstPort = port
	return outer.AppendUDPFrame(nil, payload)
}

// withBody puts head and body behind an IP header of the outer path.
func withBody(outer *Path, proto uint8, head, body []byte) []byte {
	f := outer.AppendEthernet(nil, outer.etherType())
	f = outer.AppendIP(f, proto, len(head)+len(body))
	return append(append(f, head...), body...)
}

// udpTunnel lays head and frame into one datagram.
func udpTunnel(outer Path, port uint16, head func() []byte) Wrap {
	return func(frame []byte) []byte {
		return outerUDP(outer, port, append(head(), frame...))
	}
}

// VXLAN wraps by RFC 7348: UDP 4789, flags 0x08, VNI.
func VXLAN(outer Path, vni uint32) Wrap { return VXLANPort(outer, 4789, vni) }

// VXLANPort is VXLAN on another port (Linux once used 8472).
func VXLANPort(outer Path, port uint16, vni uint32) Wrap {
	return udpTunnel(outer, port, func() []byte {
		return be.AppendUint32([]byte{8, 0, 0, 0}, vni<<8)
	})
}

// GENEVE wraps by RFC 8926: UDP 6081, options a multiple of 4 octets.
func GENEVE(outer Path, vni uint32, options []byte) Wrap {
	return udpTunnel(outer, 6081, func() []byte {
		h := be.AppendUint16([]byte{byte(len(options) / 4), 0}, EtherTEB)
		return append(be.AppendUint32(h, vni<<8), options...)
	})
}

// GRE is the header of RFC 2784 and RFC 2890.
type GRE struct {
	Checksum bool
	Key      *uint32
	Sequence bool
	Seq      uint32 // of the next packet
}

// append writes the header for body and counts the sequence number up.
func (g *GRE) append(dst []byte, proto uint16, body []byte) []byte {
	at := len(dst)
	dst = be.AppendUint16(append(dst, bit(g.Checksum, 7)|bit(g.Key != nil, 5)|bit(g.Sequence, 4), 0), proto)
	if g.Checksum {
		dst = be.AppendUint32(dst, 0)
	}
	if g.Key != nil {
		dst = be.AppendUint32(dst, *g.Key)
	}
	if g.Sequence {
		dst = be.AppendUint32(dst, g.Seq)
		g.Seq++
	}
	if g.Checksum { // over header and payload; the header is of even length
		sum := uint32(^Checksum(0, dst[at:]))
		be.PutUint16(dst[at+4:], Checksum(sum, body))
	}
	return dst
}

// GREEthernet wraps the whole frame (protocol 0x6558).
func GREEthernet(outer Path, g GRE) Wrap {
	return func(frame []byte) []byte {
		return withBody(&outer, ProtoGRE, g.append(nil, EtherTEB, frame), frame)
	}
}

// GREIP wraps the frame's IP packet.
func GREIP(outer Path, g GRE) Wrap {
	return func(frame []byte) []byte {
		proto, ip := splitIP(frame)
		return withBody(&outer, ProtoGRE, g.append(nil, proto, ip), ip)
	}
}

// ERSPAN is what the mirror headers of types II and III say
// (draft-foschiano-erspan-03).
type ERSPAN struct {
	VLAN      uint16
	COS       uint8
	Encap     uint8 // type II "En", type III "BSO"
	Truncated bool
	Session   uint16
	Index     uint32 // type II

	Timestamp   uint32 // type III from here on
	SGT         uint16
	Protocol    bool  // P
	FrameType   uint8 // FT
	Hardware    uint8
	Direction   uint8
	Granularity uint8
	Platform    []byte // 8-octet subheader, or nil
}

// ERSPAN1 wraps as type I: GRE 0x88BE without sequence number, the frame at
// once.
func ERSPAN1(outer Path) Wrap {
	return func(frame []byte) []byte {
		var g GRE
		return withBody(&outer, ProtoGRE, g.append(nil, 0x88be, frame), frame)
	}
}

// first writes the first word, which types II and III share.
func (e *ERSPAN) first(dst []byte, version uint32) []byte {
	return be.AppendUint32(dst, version<<28|uint32(e.VLAN&0xfff)<<16|uint32(e.COS&7)<<13|
		uint32(e.Encap&3)<<11|uint32(bit(e.Truncated, 2))<<8|uint32(e.Session&0x3ff))
}

// ERSPAN2 wraps as type II: GRE 0x88BE with sequence number, 8 octets.
//
//	Ver 4 =1 | VLAN 12 | COS 3 | En 2 | T 1 | SessionID 10
//	rsvd 12 | Index 20
func ERSPAN2(outer Path, seq uint32, e ERSPAN) Wrap {
	g := GRE{Sequence: true, Seq: seq}
	return func(frame []byte) []byte {
		body := be.AppendUint32(e.first(nil, 1), e.Index&0xfffff)
		body = append(body, frame...)
		return withBody(&outer, ProtoGRE, g.append(nil, 0x88be, body), body)
	}
}

// ERSPAN3 wraps as type III: GRE 0x22EB, 12 octets and the subheader.
// Sequence is usual, but real mirrors leave it out.
//
//	Ver 4 =2 | VLAN 12 | COS 3 | BSO 2 | T 1 | SessionID 10
//	Timestamp 32
//	SGT 16 | P 1 | FT 5 | HwID 6 | D 1 | Gra 2 | O 1
func ERSPAN3(outer Path, g GRE, e ERSPAN) Wrap {
	return func(frame []byte) []byte {
		body := be.AppendUint32(e.first(nil, 2), e.Timestamp)
		body = be.AppendUint16(body, e.SGT)
		body = be.AppendUint16(body, uint16(bit(e.Protocol, 7))<<8|uint16(e.FrameType&0x1f)<<10|
			uint16(e.Hardware&0x3f)<<4|uint16(e.Direction&1)<<3|uint16(e.Granularity&3)<<1|
			uint16(bit(e.Platform != nil, 0)))
		body = append(append(body, e.Platform...), frame...)
		return withBody(&outer, ProtoGRE, g.append(nil, 0x22eb, body), body)
	}
}
