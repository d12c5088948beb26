package decode

import (
	"rdmascope/decode/roce"
)

// RoCEv2Port is the UDP destination port of RoCEv2 (IANA; IBTA annex A17).
// The source port is entropy only.
const RoCEv2Port = 4791

// Config says what a Decoder looks for. The zero value suits most captures.
type Config struct {
	RoCEPorts []uint16 // UDP destination ports of RoCEv2 beside 4791
	SkipICRC  bool     // leave the iCRC unchecked
}

// Decoder turns captured bytes into Packets: link header → encapsulations →
// network → transport, in one pass without allocation. It holds no state that
// goes from one packet to the next, but it isn't safe for concurrent use: one
// Decoder a goroutine.
type Decoder struct {
	rocePorts [1 << 16 / 64]uint64
	skipICRC  bool
	crc       roce.ICRCChecker
}

// NewDecoder returns a Decoder.
func NewDecoder(c Config) *Decoder {
	d := &Decoder{skipICRC: c.SkipICRC}
	for _, port := range append([]uint16{RoCEv2Port}, c.RoCEPorts...) {
		d.rocePorts[port/64] |= 1 << (port % 64)
	}
	return d
}

func (d *Decoder) isRoCEPort(port uint16) bool {
	return d.rocePorts[port/64]&(1<<(port%64)) != 0
}

// LINKTYPE_ numbers that can be decoded (tcpdump.org/linktypes.html).
const (
	LinkNull       = 0
	LinkEthernet   = 1
	LinkRaw12      = 12 // DLT_RAW on most systems
	LinkRaw14      = 14 // DLT_RAW on OpenBSD
	LinkRaw        = 101
	LinkLoop       = 108
	LinkLinuxSLL   = 113
	LinkIPv4       = 228
	LinkIPv6       = 229
	LinkInfiniBand = 247
	LinkLinuxSLL2  = 276
)

// LinkSupported tells whether Decode knows the link type.
func LinkSupported(link uint16) bool {
	switch link {
	case LinkNull, LinkEthernet, LinkRaw12, LinkRaw14, LinkRaw, LinkLoop, LinkLinuxSLL, LinkIPv4, LinkIPv6, LinkInfiniBand, LinkLinuxSLL2:
		return true
	}
	return false
}

// maxNesting bounds how many headers of all kinds one frame may hold before
// the decoder gives up: real stacks (VLAN, ERSPAN, VLAN, VXLAN, VLAN, MPLS)
// stay below, a crafted one mustn't recurse without end.
const maxNesting = 16

// frame is the view that one decode has of a packet: what was captured, and
// where the data truly ends as far as the enclosing lengths tell.
type frame struct {
	d   *Decoder
	p   *Packet
	b   []byte // captured bytes
	end int    // true end, relative to b; beyond len(b) when cut
	n   int    // headers passed so far
}

// Decode fills all fields of p that come from its bytes. Number, Time, Data,
// Wire, Iface, Link, Lost, Dir and the record's flags must be set; everything
// else must be zero.
func (d *Decoder) Decode(p *Packet) {
	f := frame{d: d, p: p, b: p.Data, end: int(p.Wire)}
	if len(f.b) < f.end {
		p.Flags |= FlagCut
	} else {
		f.end = len(f.b)
	}
	switch p.Link {
	case LinkEthernet:
		f.ethernet(0)
	case LinkLinuxSLL:
		f.sll(0)
	case LinkLinuxSLL2:
		f.sll2(0)
	case LinkRaw, LinkRaw12, LinkRaw14:
		f.ipByVersion(0)
	case LinkIPv4:
		f.ipv4(0)
	case LinkIPv6:
		f.ipv6(0)
	case LinkNull, LinkLoop:
		f.loopback(0)
	case LinkInfiniBand:
		f.lrh(0)
	default:
		f.stop(LayerLink, ReasonUnknown)
	}
}

// stop notes where decoding ended. The first stop wins: what encloses is
// named before what is enclosed can contradict it.
func (f *frame) stop(l Layer, r Reason) {
	if f.p.Stop.Reason == ReasonNone {
		f.p.Stop = Stop{l, r}
	}
}

// need tells whether n octets from off on were captured. If not it stops the
// decode: as cut when the frame was longer on the wire, as short (malformed)
// when its own lengths leave no room.
func (f *frame) need(off, n int, l Layer) bool {
	if off+n > f.end {
		f.stop(l, ReasonShort)
		return false
	}
	if off+n > len(f.b) {
		f.stop(l, ReasonCut)
		return false
	}
	return true
}

// enter counts one more header and refuses endless nesting.
func (f *frame) enter(l Layer) bool {
	if f.n++; f.n > maxNesting {
		f.stop(l, ReasonDepth)
		return false
	}
	return true
}

// narrow sets the true end to what an inner length tells. A length that
// reaches beyond the enclosing one means that a mirror or a converter dropped
// the tail although the record claims to be whole: the packet is cut, not
// malformed.
func (f *frame) narrow(end int) {
	if end > f.end {
		f.p.Flags |= FlagHiddenCut
	}
	f.end = end
}

func be16(b []byte, off int) uint16 {
	_ = b[off+1]
	return uint16(b[off])<<8 | uint16(b[off+1])
}

func be32(b []byte, off int) uint32 {
	_ = b[off+3]
	return uint32(b[off])<<24 | uint32(b[off+1])<<16 | uint32(b[off+2])<<8 | uint32(b[off+3])
}

func be64(b []byte, off int) uint64 {
	return uint64(be32(b, off))<<32 | uint64(be32(b, off+4))
}
