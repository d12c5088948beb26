package wire

// IP protocol numbers (IANA) that the decoder follows.
const (
	protoHopByHop = 0
	protoIPIP     = 4
	protoTCP      = 6
	protoUDP      = 17
	protoIPv6     = 41
	protoRouting  = 43
	protoFragment = 44
	protoGRE      = 47
	protoAH       = 51
	protoNoNext   = 59
	protoDstOpts  = 60
	protoMobility = 135
	protoMPLS     = 137
	protoHIP      = 139
	protoShim6    = 140
	protoTest253  = 253 // experiments (RFC 3692): key frames of taps
)

// ipByVersion decodes an IP datagram whose version only its first nibble tells.
func (f *frame) ipByVersion(off int) {
	if !f.need(off, 1, LayerIPv4) {
		return
	}
	switch f.b[off] >> 4 {
	case 4:
		f.ipv4(off)
	case 6:
		f.ipv6(off)
	default:
		f.stop(LayerIPv4, ReasonVersion)
	}
}

// ipv4 decodes an IPv4 header (RFC 791 §3.1). The total length decides where
// the datagram ends, never the frame: padding, FCS and trailers follow it.
func (f *frame) ipv4(off int) {
	if !f.enter(LayerIPv4, off) || !f.need(off, 20, LayerIPv4) {
		return
	}
	p, h := f.p, f.b[off:off+20]
	if h[0]>>4 != 4 {
		f.stop(LayerIPv4, ReasonVersion)
		return
	}
	hl := int(h[0]&15) * 4
	total := int(be16(h, 2))
	if hl < 20 || total != 0 && total < hl {
		f.stop(LayerIPv4, ReasonLength)
		return
	}
	if !f.need(off, hl, LayerIPv4) {
		return
	}
	f.ipv4End(off, total)
	p.IPVersion = 4
	p.TOS = h[1]
	p.IPID = be16(h, 4)
	p.TTL = h[8]
	p.Proto = h[9]
	p.Src = AddrV4(be32(h, 12))
	p.Dst = AddrV4(be32(h, 16))
	p.NetOff = uint32(off)
	p.Flags |= FlagNet
	p.Flags &^= perDatagram
	if hl > 20 {
		p.Flags |= FlagIPOptions
	}
	if !headerChecksumOK(f.b[off : off+hl]) {
		p.Flags |= FlagIPChecksumBad
	}
	if frag := be16(h, 6); frag&0x3fff != 0 { // more fragments, or an offset
		p.Flags |= FlagFragment
		if frag&0x1fff != 0 {
			p.Flags |= FlagLaterFragment
			return
		}
	}
	if h[9] == protoUDP {
		f.udp(off + hl)
	} else {
		f.transport(h[9], off+hl)
	}
}

// ipv4End narrows the frame to a datagram of the given total length.
func (f *frame) ipv4End(off, total int) {
	if total == 0 {
		// What a segmentation offload leaves in frames over 64 KiB (BIG TCP)
		// and some drivers in every super-frame: the frame's end counts.
		f.p.Flags |= FlagSuperFrame
		return
	}
	f.datagramEnd(off + total)
	if total > maxMTU {
		f.p.Flags |= FlagSuperFrame
	}
}

// headerChecksumOK checks the sum of an IPv4 header. One that is 0 was left to
// the adapter: the frame was captured by its sender.
func headerChecksumOK(h []byte) bool {
	if be16(h, 10) == 0 {
		return true
	}
	if len(h) != 20 {
		return checksum(h) == 0xffff
	}
	a, b := be64(h, 0), be64(h, 8)
	return fold(a>>32+a&0xffffffff+b>>32+b&0xffffffff+uint64(be32(h, 16))) == 0xffff
}

// checksum is the one's complement sum of RFC 1071, folded; 0xffff over a
// header that includes its right checksum.
func checksum(b []byte) uint16 { return fold(sum(b)) }

// sum adds up b in 4-octet words: RFC 1071 §2 allows any width.
func sum(b []byte) uint64 {
	var s uint64
	for len(b) >= 4 {
		s += uint64(be32(b, 0))
		b = b[4:]
	}
	if len(b) >= 2 {
		s += uint64(be16(b, 0)) << 16
		b = b[2:]
		if len(b) == 1 {
			s += uint64(b[0]) << 8
		}
	} else if len(b) == 1 {
		s += uint64(b[0]) << 24
	}
	return s
}

// fold adds the carries back in until 16 bits are left.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}

// maxMTU is more than any Ethernet MTU that is in use between hosts: a longer
// datagram was put together by offloading, or belongs to a loopback device.
const maxMTU = 9600

// perDatagram are the flags that tell about the innermost datagram alone.
const perDatagram = FlagFragment | FlagLaterFragment | FlagIPOptions | FlagIPChecksumBad | FlagPorts

// minFrame is the shortest Ethernet frame without FCS: below it, what follows
// a datagram is padding (IEEE 802.3 §3.2.8).
const minFrame = 60

// datagramEnd narrows the frame to the datagram, and notes when something
// follows it that is no padding. Frames that lost their tag or got one on the
// way may be padded to a few octets more or less than 60, hence the look at
// the octets themselves; a frame check sequence is hardly ever all zero.
func (f *frame) datagramEnd(end int) {
	if end < f.end && f.end-f.start > minFrame && !f.zeros(end) && f.p.Flags&FlagTrailer == 0 {
		f.p.Flags |= FlagTrailer
		f.tail = [2]int{end, f.end}
	}
	f.narrow(end)
}

// zeros tells whether the first captured octets behind off are all zero: at
// most the 46 that padding can have.
func (f *frame) zeros(off int) bool {
	if off >= len(f.b) {
		return true // nothing captured that could be looked at
	}
	for _, x := range f.b[off:min(len(f.b), off+46, f.end)] {
		if x != 0 {
			return false
		}
	}
	return f.end-off <= 46
}

// ipv6 decodes an IPv6 header and passes over extension headers (RFC 8200 §4).
func (f *frame) ipv6(off int) {
	if !f.enter(LayerIPv6, off) || !f.need(off, 40, LayerIPv6) {
		return
	}
	p, h := f.p, f.b[off:off+40]
	if h[0]>>4 != 6 {
		f.stop(LayerIPv6, ReasonVersion)
		return
	}
	if plen := int(be16(h, 4)); plen != 0 {
		f.datagramEnd(off + 40 + plen)
		if plen > maxMTU {
			p.Flags |= FlagSuperFrame
		}
	} else if h[6] != protoNoNext {
		p.Flags |= FlagSuperFrame // a jumbogram (RFC 2675), BIG TCP
	}
	p.IPVersion = 6
	p.TOS = h[0]<<4 | h[1]>>4
	p.IPID = 0
	p.TTL = h[7]
	p.Src = Addr{be64(h, 8), be64(h, 16)}
	p.Dst = Addr{be64(h, 24), be64(h, 32)}
	p.NetOff = uint32(off)
	p.Flags |= FlagNet
	p.Flags &^= perDatagram
	next, at, ok := f.ipv6Extensions(h[6], off+40)
	p.Proto = next
	if ok {
		f.transport(next, at)
	}
}

// ipv6Extensions walks the extension headers and returns the upper protocol
// and its offset; ok is false when there is nothing to go on with.
func (f *frame) ipv6Extensions(next uint8, off int) (proto uint8, at int, ok bool) {
	for {
		size := 0
		switch next {
		case protoHopByHop, protoRouting, protoDstOpts, protoMobility, protoHIP, protoShim6:
			if !f.enter(LayerIPv6, off) || !f.need(off, 2, LayerIPv6) {
				return next, off, false
			}
			size = 8 * (1 + int(f.b[off+1]))
		case protoAH: // RFC 4302 §2.2: length in 4-octet units, minus 2
			if !f.enter(LayerIPv6, off) || !f.need(off, 2, LayerIPv6) {
				return next, off, false
			}
			size = 4 * (2 + int(f.b[off+1]))
		case protoFragment:
			if !f.enter(LayerIPv6, off) || !f.need(off, 8, LayerIPv6) {
				return next, off, false
			}
			size = 8
			if frag := be16(f.b, off+2); frag&0xfff9 != 0 { // an atomic fragment (RFC 6946) is whole
				f.p.Flags |= FlagFragment
				if frag&0xfff8 != 0 {
					f.p.Flags |= FlagLaterFragment
					return f.b[off], off + 8, false
				}
			}
		case protoNoNext:
			return next, off, false
		default:
			return next, off, true
		}
		if !f.need(off, size, LayerIPv6) {
			return next, off, false
		}
		f.p.Flags |= FlagIPOptions
		next = f.b[off]
		off += size
	}
}

// transport goes on with what an IP protocol number names.
func (f *frame) transport(proto uint8, off int) {
	switch proto {
	case protoUDP:
		f.udp(off)
	case protoTCP:
		f.tcp(off)
	case protoGRE:
		f.gre(off)
	case protoIPIP:
		f.p.Encap.push(EncapIPIP, 0)
		f.ipv4(off)
	case protoIPv6:
		f.p.Encap.push(EncapIPIP, 0)
		f.ipv6(off)
	case protoMPLS:
		f.mpls(off)
	case protoTest253:
		f.keyFrame(off)
	}
}
