package wire

import (
	"net/netip"
	"strconv"
)

// MAC is an Ethernet address.
type MAC [6]byte

const hexDigits = "0123456789abcdef"

// String returns the usual form, 52:54:00:77:00:01.
func (m MAC) String() string {
	b := make([]byte, 0, 17)
	for i, x := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigits[x>>4], hexDigits[x&15])
	}
	return string(b)
}

// Addr is a host address in 16 octets: IPv6, IPv4 in its mapped form
// (::ffff:a.b.c.d), a GID, or an InfiniBand LID. Comparable, pointer-free.
type Addr struct{ Hi, Lo uint64 }

const (
	v4Prefix  = 0x0000ffff_00000000
	lidPrefix = 0xfffe0000_00000000
)

// AddrV4 returns the address of four octets.
func AddrV4(v uint32) Addr { return Addr{0, v4Prefix | uint64(v)} }

// AddrLID returns the address that stands for an InfiniBand local identifier,
// where no GRH names the host.
func AddrLID(lid uint16) Addr { return Addr{0, lidPrefix | uint64(lid)} }

// IsV4 tells whether a is an IPv4 address.
func (a Addr) IsV4() bool { return a.Hi == 0 && a.Lo>>32 == 0xffff }

// LID returns the local identifier that a stands for.
func (a Addr) LID() (lid uint16, ok bool) {
	return uint16(a.Lo), a.Hi == 0 && a.Lo&^0xffff == lidPrefix
}

// IP returns a as a netip.Addr, IPv4 unmapped.
func (a Addr) IP() netip.Addr {
	var b [16]byte
	for i := 0; i < 8; i++ {
		b[i] = byte(a.Hi >> (56 - 8*i))
		b[8+i] = byte(a.Lo >> (56 - 8*i))
	}
	return netip.AddrFrom16(b).Unmap()
}

// String returns the address as text; a LID as "lid:17".
func (a Addr) String() string {
	if lid, ok := a.LID(); ok {
		return "lid:" + strconv.Itoa(int(lid))
	}
	return a.IP().String()
}

// Less orders addresses by value.
func (a Addr) Less(b Addr) bool {
	if a.Hi != b.Hi {
		return a.Hi < b.Hi
	}
	return a.Lo < b.Lo
}
