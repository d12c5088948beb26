package rc

import (
	"encoding/binary"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Fingerprint hashes a packet, so that tracking need not come back to its
// bytes: whoever decodes a packet has them at hand and keeps the result in
// p.Print. From the highest bit on: 32 bits of all that no hop rewrites, 16 of
// the payload alone, 16 of what a hop rewrites. It reads p only.
func Fingerprint(p *wire.Packet) uint64 {
	const k = 0x9e3779b97f4a7c15
	t := uint64(p.TTL) | uint64(p.VID)<<8 | uint64(p.VLANs)<<24
	t ^= uint64(p.EthSrc[5])<<32 | uint64(p.EthSrc[4])<<40 | uint64(p.EthDst[5])<<48 | uint64(p.EthDst[4])<<56
	t *= k
	return same(p)>>32<<32 | payloadPrint(p)>>48<<16 | t>>48
}

// same hashes what no hop rewrites. The iCRC covers the payload, the ports and
// the identification, so BTH, identification and iCRC together stand for all of
// it; FECN and BECN (BTH octet 4) may change on the way.
func same(p *wire.Packet) uint64 {
	const k = 0x9e3779b97f4a7c15
	b := &p.RoCE.BTH
	h := (uint64(b.PSN) | uint64(b.Opcode)<<24 | uint64(p.IPID)<<32 | uint64(b.PKey)<<48) * k
	h ^= uint64(p.TransLen) | uint64(b.DestQP)<<32
	if b.AckReq {
		h ^= 1 << 63
	}
	if end := int(p.TransOff) + int(p.TransLen); p.TransLen >= 4 && end <= len(p.Data) {
		h ^= uint64(binary.BigEndian.Uint32(p.Data[end-4:])) << 20
	} else {
		h ^= tail(p)
	}
	return h * k
}

// tail hashes the last captured octets of the payload of a packet whose iCRC
// was cut off.
func tail(p *wire.Packet) (h uint64) {
	const k = 0x9e3779b97f4a7c15
	d := p.Payload()
	if n := len(d); n >= 16 {
		return (binary.LittleEndian.Uint64(d[n-16:])*k ^ binary.LittleEndian.Uint64(d[n-8:])) * k
	}
	for _, x := range d {
		h = h*31 + uint64(x)
	}
	return h
}

// payloadPrint hashes the payload's length and first 16 octets, the same ones
// however much of it was captured; its highest 8 bits are 0 when they are
// not there.
// A sender that sends a packet again changes its identification, so its iCRC
// says nothing about whether the payload is the same.
func payloadPrint(p *wire.Packet) uint64 {
	const k = 0x9e3779b97f4a7c15
	n := min(p.RoCE.PayloadLen, 16)
	d := p.Payload()
	if n == 0 || len(d) < n || p.RoCE.Present&p.RoCE.BTH.Opcode.Info().Set != p.RoCE.BTH.Opcode.Info().Set {
		return 0
	}
	h := uint64(p.RoCE.PayloadLen) * k
	if n == 16 {
		h ^= binary.LittleEndian.Uint64(d)*k ^ binary.LittleEndian.Uint64(d[8:])
		h ^= h >> 29
	} else {
		for _, x := range d[:n] {
			h = h*31 + uint64(x)
		}
	}
	return h*k | 1<<56
}

// target hashes what a READ or WRITE asks for. A READ asked again for its rest
// begins later and is shorter, so what counts is where it ends (IBTA 9.7.2).
func target(h *roce.RETHFields, op roce.Operation) uint32 {
	const k = 0x9e3779b97f4a7c15
	x := h.VA + uint64(h.DMALen)
	if op != roce.OperationReadRequest {
		x = x*k ^ uint64(h.DMALen)
	}
	return uint32((x*k^uint64(h.RKey))*k>>32) | 1
}

// atomicTarget hashes what an atomic asks for, the operands too.
func atomicTarget(h *roce.AtomicETHFields) uint32 {
	const k = 0x9e3779b97f4a7c15
	x := (h.VA*k ^ h.SwapAdd) * k
	return uint32(((x^h.Compare)*k^uint64(h.RKey))*k>>32) | 1
}
