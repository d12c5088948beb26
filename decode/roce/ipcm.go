package roce

import (
	"encoding/binary"
	"net/netip"
)

// ServiceID names what a REQ or SIDR_REQ wants to connect to (IBTA 12.7.3).
type ServiceID uint64

// PortSpace is the kind of port in the service IDs of RDMA IP CM: 0x01 and an
// IP protocol number (A11.2).
type PortSpace uint16

// Port spaces of Linux's rdma_cm.
const (
	PortSpaceIPoIB PortSpace = 0x0002
	PortSpaceTCP   PortSpace = 0x0106
	PortSpaceUDP   PortSpace = 0x0111
	PortSpaceIB    PortSpace = 0x013f
)

// String returns "TCP", "UDP" and so on, "" for others.
func (p PortSpace) String() string {
	switch p {
	case PortSpaceIPoIB:
		return "IPoIB"
	case PortSpaceTCP:
		return "TCP"
	case PortSpaceUDP:
		return "UDP"
	case PortSpaceIB:
		return "IB"
	}
	return ""
}

// Port takes the service ID of an RDMA IP CM service apart: five bytes
// 00-00-00-00-01, the IP protocol, the port (A11.2). ok is false for all other
// services, which have no port.
func (s ServiceID) Port() (space PortSpace, port uint16, ok bool) {
	if s>>24 != 1 {
		return 0, 0, false
	}
	return PortSpace(s >> 16), uint16(s), true
}

// IPCMLen is the length of the RDMA IP CM header at the start of the private
// data of a REQ or SIDR_REQ.
const IPCMLen = 36

// IPCMHeader says which IP addresses and port stand behind a request (A11.3).
// Replies have no such header.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-------+-------+-------+-------------------------------+
//	| MajV  | MinV  | IPV   |  resv |          Source Port          |
//	+-------+-------+-------+-------+-------------------------------+
//	|         Source Address (16 bytes, IPv4 in the last 4)         |
//	+---------------------------------------------------------------+
//	|       Destination Address (16 bytes, IPv4 in the last 4)      |
//	+---------------------------------------------------------------+
type IPCMHeader struct {
	Version uint8 // major in bits 7:4, minor in 3:0; 0
	IPV     uint8 // 4 or 6
	SrcPort uint16
	Src     [16]byte // as on the wire: see SrcAddr
	Dst     [16]byte
}

// Decode decodes the header at the start of b.
func (h *IPCMHeader) Decode(b []byte) error {
	if len(b) < IPCMLen {
		return cutErrors[HeaderCM]
	}
	h.Version, h.IPV = b[0], b[1]>>4
	h.SrcPort = binary.BigEndian.Uint16(b[2:])
	copy(h.Src[:], b[4:20])
	copy(h.Dst[:], b[20:36])
	return nil
}

// SrcAddr returns the address of the one who connects; invalid if IPV is
// neither 4 nor 6.
func (h *IPCMHeader) SrcAddr() netip.Addr { return h.addr(&h.Src) }

// DstAddr returns the address that is connected to.
func (h *IPCMHeader) DstAddr() netip.Addr { return h.addr(&h.Dst) }

func (h *IPCMHeader) addr(a *[16]byte) netip.Addr {
	switch h.IPV {
	case 4:
		return netip.AddrFrom4([4]byte(a[12:]))
	case 6:
		return netip.AddrFrom16(*a)
	}
	return netip.Addr{}
}

// ipcm returns the header if a service and its private data have one: the
// version is 0 and the IP version makes sense.
func ipcm(s ServiceID, private []byte) (h IPCMHeader, ok bool) {
	if _, _, ok := s.Port(); !ok || h.Decode(private) != nil {
		return IPCMHeader{}, false
	}
	return h, h.Version == 0 && (h.IPV == 4 || h.IPV == 6)
}

// consumer returns the private data behind the RDMA IP CM header, all of them
// if there is none, nothing if the header itself was cut.
func consumer(s ServiceID, private []byte) []byte {
	if _, _, ok := s.Port(); !ok {
		return private
	}
	if len(private) < IPCMLen {
		return nil
	}
	if _, ok := ipcm(s, private); !ok {
		return private
	}
	return private[IPCMLen:]
}
