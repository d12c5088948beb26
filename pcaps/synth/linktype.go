package synth

import "encoding/binary"

var le = binary.LittleEndian

// LinkNull stands for LINKTYPE_NULL, whose number is 0: the zero value of a
// Scenario's link type is Ethernet. The writers put 0 into the file.
const LinkNull = 1 << 16

// LINKTYPE_ numbers of the captures that the writers make.
const (
	LinkEthernet   = 1
	LinkRaw        = 101
	LinkLoop       = 108
	LinkSLL        = 113
	LinkPPI        = 192
	LinkERF        = 197
	LinkIPv4       = 228
	LinkIPv6       = 229
	LinkInfiniBand = 247
	LinkSLL2       = 276
)

// SLL turns an Ethernet frame into what "any" of Linux delivers: packet type
// (0 to us, 4 from us), ARPHRD 1, address length 6, source MAC, EtherType.
func SLL(packetType uint16) Wrap {
	return func(frame []byte) []byte {
		out := be.AppendUint16(nil, packetType)
		out = be.AppendUint16(be.AppendUint16(out, 1), 6)
		out = append(append(out, frame[6:12]...), 0, 0)
		return append(out, frame[12:]...)
	}
}

// SLL2 is its second version: EtherType, reserved, interface index, ARPHRD,
// packet type, address length, source MAC.
func SLL2(packetType uint8, ifindex uint32) Wrap {
	return func(frame []byte) []byte {
		out := append(append([]byte(nil), frame[12:14]...), 0, 0)
		out = be.AppendUint32(out, ifindex)
		out = append(be.AppendUint16(out, 1), packetType, 6)
		out = append(append(out, frame[6:12]...), 0, 0)
		return append(out, frame[14:]...)
	}
}

// RawIP strips the Ethernet header and tags (link types 101, 228, 229).
func RawIP() Wrap {
	return func(frame []byte) []byte {
		_, ip := splitIP(frame)
		return append([]byte(nil), ip...)
	}
}

// Loopback replaces the Ethernet header by BSD's address family: in the byte
// order of the capturing host (NULL) or the network's (LOOP). family6 is that
// system's AF_INET6: 24, 28 or 30.
func Loopback(order binary.AppendByteOrder, family6 uint32) Wrap {
	return func(frame []byte) []byte {
		etherType, ip := splitIP(frame)
		family := uint32(2)
		if etherType == EtherIPv6 {
			family = family6
		}
		return append(order.AppendUint32(nil, family), ip...)
	}
}

// PPI puts an empty per-packet information header before the frame: version,
// flags, length 16 and link type 32, least significant octet first.
func PPI() Wrap {
	return func(frame []byte) []byte {
		return append(le.AppendUint32([]byte{0, 0, 8, 0}, LinkEthernet), frame...)
	}
}

// ERF record types.
const (
	ERFEthernet   = 2
	ERFInfiniBand = 21
)

// ERF is the header of a record of an Endace card.
type ERF struct {
	Time       int64 // ns since 1970
	Type       uint8
	Flags      uint8 // 0x04 varying length, 0x08 truncated, 0x10 receive error
	Lost       uint16
	Extensions [][8]byte // without the chaining bit
	Wire       int       // length on the wire; 0 is the frame's own
}

// Append writes the record, padded to 8 octets. The time stamp has its least
// significant octet first, 32 bits of fraction below the seconds.
func (e *ERF) Append(dst, frame []byte) []byte {
	at := len(dst)
	sec, nsec := uint64(e.Time/1e9), uint64(e.Time%1e9)
	// Rounded up, so that the nanosecond comes back whole.
	dst = le.AppendUint64(dst, sec<<32|(nsec<<32+999_999_999)/1_000_000_000)
	dst = append(dst, e.Type|bit(len(e.Extensions) > 0, 7), e.Flags)
	wire := e.Wire
	if wire == 0 {
		wire = len(frame)
	}
	dst = be.AppendUint16(be.AppendUint16(dst, 0), e.Lost)
	dst = be.AppendUint16(dst, uint16(wire))
	for i, x := range e.Extensions {
		x[0] = x[0]&0x7f | bit(i+1 < len(e.Extensions), 7)
		dst = append(dst, x[:]...)
	}
	if e.Type&0x7f == ERFEthernet {
		dst = append(dst, 0, 0) // offset and pad octet
	}
	dst = append(dst, frame...)
	for (len(dst)-at)%8 != 0 {
		dst = append(dst, 0)
	}
	be.PutUint16(dst[at+10:], uint16(len(dst)-at))
	return dst
}
