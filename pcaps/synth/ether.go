package synth

import (
	"encoding/binary"
	"hash/crc32"
)

var be = binary.BigEndian

// EtherTypes that the builders write.
const (
	EtherIPv4   = 0x0800
	EtherIPv6   = 0x86dd
	EtherVLAN   = 0x8100
	EtherQinQ   = 0x88a8
	EtherQinQ9  = 0x9100
	EtherRoCEv1 = 0x8915
	EtherMPLS   = 0x8847
	EtherMAC    = 0x8808 // MAC control: PAUSE and PFC
	EtherVNTag  = 0x8926
	EtherNSH    = 0x894f
	EtherArista = 0xd28b
	EtherTEB    = 0x6558 // transparent Ethernet bridging, inside GRE and GENEVE
)

// MAC is an Ethernet address.
type MAC = [6]byte

// VLAN is one 802.1Q tag (IEEE 802.1Q 9.6).
//
//	TPID 16 | PCP 3 | DEI 1 | VID 12
type VLAN struct {
	TPID uint16 // 0 means 0x8100
	PCP  uint8
	DEI  bool
	VID  uint16
}

// AppendEthernet writes an Ethernet II header with its tags, outermost first.
func AppendEthernet(dst []byte, to, from MAC, etherType uint16, tags ...VLAN) []byte {
	dst = append(append(dst, to[:]...), from[:]...)
	for _, t := range tags {
		tpid := t.TPID
		if tpid == 0 {
			tpid = EtherVLAN
		}
		tci := uint16(t.PCP)<<13 | t.VID&0xfff
		if t.DEI {
			tci |= 0x1000
		}
		dst = be.AppendUint16(be.AppendUint16(dst, tpid), tci)
	}
	return be.AppendUint16(dst, etherType)
}

// PadEthernet pads a frame with zeros to the 60 octets (without FCS) that
// IEEE 802.3 3.2.8 demands. start is where the frame begins in dst.
func PadEthernet(dst []byte, start int) []byte {
	for len(dst)-start < 60 {
		dst = append(dst, 0)
	}
	return dst
}

// AppendFCS writes the frame check sequence of dst[start:] (IEEE 802.3 3.2.9):
// the CRC-32 with its octets in ascending order of significance.
func AppendFCS(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}
