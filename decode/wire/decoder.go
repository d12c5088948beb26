package wire

import (
	"encoding/binary"

	"rdmascope/decode/roce"
)

// RoCEv2Port is the UDP destination port of RoCEv2 (IANA; IBTA annex A17).
// The source port is entropy only.
const RoCEv2Port = roce.UDPPort

// Config says what a Decoder looks for. The zero value suits most captures.
type Config struct {
	RoCEPorts []uint16 // UDP destination ports of RoCEv2 beside 4791
	SkipICRC  bool     // leave the iCRC unchecked
	// SkipTapTime leaves the time stamps of taps alone. Their headers and
	// trailers are kept out of the payload nevertheless.
	SkipTapTime bool
	// AnyTapTime believes a tap's stamp however far it is from the capture's
	// time: for taps whose clock was never set.
	AnyTapTime bool
}

// Decoder turns captured bytes into Packets: link header → encapsulations →
// network → transport, in one pass without allocation. It holds no state that
// goes from one packet to the next, but it isn't safe for concurrent use: one
// Decoder a goroutine.
type Decoder struct {
	rocePorts   [1 << 16 / 64]uint64
	skipICRC    bool
	skipTapTime bool
	anyTapTime  bool
	crc         roce.ICRCChecker
	scratch     [maxCarrier + maxPDU]byte // one PDU of a merged datagram, with its own lengths
}

// NewDecoder returns a Decoder.
func NewDecoder(c Config) *Decoder {
	d := &Decoder{skipICRC: c.SkipICRC, skipTapTime: c.SkipTapTime, anyTapTime: c.AnyTapTime}
	d.addRoCEPort(RoCEv2Port)
	for _, port := range c.RoCEPorts {
		d.addRoCEPort(port)
	}
	return d
}

func (d *Decoder) addRoCEPort(port uint16) { d.rocePorts[port/64] |= 1 << (port % 64) }

func (d *Decoder) removeRoCEPort(port uint16) { d.rocePorts[port/64] &^= 1 << (port % 64) }

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
const maxNesting = 20

// frame is the view that one decode has of a packet: what was captured, and
// where the data truly ends as far as the enclosing lengths tell.
type frame struct {
	d     *Decoder
	p     *Packet
	b     []byte // captured bytes
	end   int    // true end, relative to b; beyond len(b) when cut
	start int    // where the innermost Ethernet frame begins
	n     int    // headers passed so far
	tail  [2]int // what follows the outermost datagram, with FlagTrailer: from, to
	tree  *path  // headers passed, when somebody wants to see them
}

// Decode fills all fields of p that come from its bytes. Number, Time, Data,
// Wire, Iface, Link, Lost, Dir must be set, and in Flags those of the record (no
// time, truncated, receive error) and no others of the three; they are kept.
// Whatever else p held from an earlier packet is replaced.
func (d *Decoder) Decode(p *Packet) {
	if !d.plain(p) {
		d.decode(p, nil)
	}
}

func (d *Decoder) decode(p *Packet, tree *path) {
	p.reset()
	// Field by field: a composite literal is built aside and copied, which costs
	// as much as all of the link and IP headers.
	var f frame
	f.d, f.p, f.b, f.end, f.tree = d, p, p.Data, int(p.Wire), tree
	if len(f.b) < f.end {
		p.Flags |= FlagCut
	} else {
		f.end = len(f.b)
	}
	if p.Link == LinkEthernet {
		f.ethernet(0)
	} else {
		f.link()
	}
	if p.Flags&FlagTrailer != 0 {
		f.trailer(f.tail[0], f.tail[1])
	}
}

// link starts with any link header but Ethernet's.
func (f *frame) link() {
	switch f.p.Link {
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
	if off+n <= f.end && off+n <= len(f.b) {
		return true
	}
	if off+n > f.end {
		f.stop(l, ReasonShort)
	} else {
		f.stop(l, ReasonCut)
	}
	return false
}

// enter counts the header at off, notes it for the tree, and refuses endless
// nesting.
func (f *frame) enter(l Layer, off int) bool {
	if f.n++; f.n > maxNesting {
		f.stop(l, ReasonDepth)
		return false
	}
	if f.tree != nil {
		f.tree.add(l, off)
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

// be16, be32 and be64 read the network's byte order.
func be16(b []byte, off int) uint16 { return binary.BigEndian.Uint16(b[off:]) }

func be32(b []byte, off int) uint32 { return binary.BigEndian.Uint32(b[off:]) }

func be64(b []byte, off int) uint64 { return binary.BigEndian.Uint64(b[off:]) }
