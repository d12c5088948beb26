package synth

import (
	"encoding/binary"
	"hash/crc32"
)

// icrcSeed is the CRC register, in the form crc32.Update wants, after the
// eight octets of ones that stand for the LRH of a packet without one
// (IBTA 7.8.1, A17).
const icrcSeed = ^uint32(0xdebb20e3)

// icrc finishes an invariant CRC: head is a copy of the headers with the
// variant fields already set to ones and ends with the BTH; rest is what
// follows the BTH, as it stands. It is stored with the least significant octet
// first.
//
// The head is done octet by octet here: given to hash/crc32 it would escape to
// the heap, once for every packet.
func icrc(seed uint32, head, rest []byte) [4]byte {
	reg := ^seed
	for _, o := range head {
		reg = crc32.IEEETable[byte(reg)^o] ^ reg>>8
	}
	c := crc32.Update(^reg, crc32.IEEETable, rest)
	var out [4]byte
	binary.LittleEndian.PutUint32(out[:], c)
	return out
}

// ones replaces a variant field.
func ones(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// icrcIPv4 masks TOS, TTL, header checksum, UDP checksum and BTH octet 4
// (IBTA A17). Options aren't part of it: Linux takes the fixed header alone.
func icrcIPv4(ip, udp []byte) [4]byte {
	var h [20 + 8 + 12]byte
	copy(h[:20], ip)
	copy(h[20:], udp[:20])
	ones(h[1:2])
	ones(h[8:9])
	ones(h[10:12])
	ones(h[26:28])
	ones(h[32:33])
	return icrc(icrcSeed, h[:], udp[20:])
}

// icrcIPv6 masks traffic class, flow label, hop limit, UDP checksum and BTH
// octet 4 (IBTA A17); extension headers aren't part of it.
func icrcIPv6(ip, udp []byte) [4]byte {
	var h [40 + 8 + 12]byte
	copy(h[:40], ip)
	copy(h[40:], udp[:20])
	h[0] |= 0x0f
	ones(h[1:4])
	ones(h[7:8])
	ones(h[46:48])
	ones(h[52:53])
	return icrc(icrcSeed, h[:], udp[20:])
}

// icrcGRH is that of RoCEv1 and of native packets with a GRH. There the whole
// LRH counts as ones, so both begin with the same seed (IBTA 7.8.1, A16).
func icrcGRH(grh, bth []byte) [4]byte {
	var h [40 + 12]byte
	copy(h[:40], grh)
	copy(h[40:], bth[:12])
	h[0] |= 0x0f
	ones(h[1:4])
	ones(h[7:8])
	ones(h[44:45])
	return icrc(icrcSeed, h[:], bth[12:])
}

// icrcLocal is that of native packets without GRH: only VL and BTH octet 4 are
// variant (IBTA 7.8.1).
func icrcLocal(lrh, bth []byte) [4]byte {
	var h [8 + 12]byte
	copy(h[:8], lrh)
	copy(h[8:], bth[:12])
	h[0] |= 0xf0
	ones(h[12:13])
	return icrc(0, h[:], bth[12:])
}

// vcrc is the variant CRC of native InfiniBand (IBTA 7.8.2): CRC-16 with
// polynomial 0x100B, register preset to ones, complemented, least significant
// octet first.
func vcrc(b []byte) [2]byte {
	reg := uint16(0xffff)
	for _, o := range b {
		reg ^= uint16(o)
		for range 8 {
			lsb := reg & 1
			reg >>= 1
			if lsb != 0 {
				reg ^= 0xd008 // 0x100B reflected
			}
		}
	}
	reg = ^reg
	return [2]byte{byte(reg), byte(reg >> 8)}
}
