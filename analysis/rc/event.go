package rc

import (
	"encoding/binary"

	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// event is what the tracking needs of one packet. It holds no pointers and
// outlives the block that the packet was read into, so it can wait until the
// flow's partner is known.
type event struct {
	time, num int64
	psn       roce.PSN
	n         uint32 // request: PSNs that it takes; 0 for a READ until the path MTU is known
	dma       uint32 // RETH: length of the whole message
	payload   uint32
	wire      uint32
	print     uint32 // fingerprint of what no hop rewrites
	hop       uint32 // fingerprint of what a hop rewrites
	msn       roce.MSN
	ipid      uint16
	port      uint16
	op        roce.Opcode
	syn       roce.Syndrome
	flags     eventFlags
}

type eventFlags uint16

const (
	evRequest  eventFlags = 1 << iota
	evResponse            // has a PSN of the other direction's space
	evCorrupt             // bad iCRC: changes no state, but fills its place
	evIPID                // has an IPv4 identification
	evAckReq
	evUC   // nothing acknowledges it
	evReth // dma is valid
	evLen  // payload is valid
	evAeth // syn and msn are valid
	evLate // sent before a packet that was seen earlier
)

func (e *event) has(f eventFlags) bool { return e.flags&f != 0 }

func (e *event) opFlags() roce.OpcodeFlags { return e.op.Info().Flags }

// end returns the PSN behind the request's last one.
func (e *event) end() roce.PSN { return e.psn.Add(int64(max(e.n, 1))) }

// fill makes the event of a packet; false when the packet is none of a
// connection: UD, CNP, unknown opcodes.
func (e *event) fill(p *decode.Packet) bool {
	h := &p.RoCE
	info := h.BTH.Opcode.Info()
	var flags eventFlags
	switch info.Service {
	case roce.ServiceRC, roce.ServiceXRC:
	case roce.ServiceUC:
		flags = evUC
	default:
		return false
	}
	if !info.Known || !p.Has(decode.FlagBTH) {
		return false
	}
	if info.Flags.Has(roce.FlagResponse) {
		flags |= evResponse
	} else {
		flags |= evRequest
	}
	if p.ICRC == roce.ICRCBad {
		flags |= evCorrupt
	}
	if p.IPVersion == 4 {
		flags |= evIPID
	}
	if h.BTH.AckReq {
		flags |= evAckReq
	}
	e.time, e.num, e.psn, e.op = p.Time, p.Number, h.BTH.PSN, h.BTH.Opcode
	e.wire, e.ipid, e.port = p.Wire, p.IPID, p.SrcPort
	e.n, e.dma, e.payload, e.msn, e.syn = 1, 0, 0, 0, 0
	if h.Present&info.Set == info.Set { // no header is missing
		e.payload = uint32(h.PayloadLen)
		flags |= evLen
	}
	if h.Present.Has(roce.HeaderRETH) {
		e.dma = h.RETH.DMALen
		flags |= evReth
	}
	if h.Present.Has(roce.HeaderAETH) {
		e.msn, e.syn = h.AETH.MSN, h.AETH.Syndrome
		flags |= evAeth
	} else if info.Operation == roce.OperationAcknowledge {
		return false // cut before the syndrome
	}
	if info.Operation == roce.OperationReadRequest {
		e.n = 0
	}
	e.flags = flags
	e.print, e.hop = fingerprints(p)
	return true
}

// packets returns how many packets a READ response of length dma takes.
func packets(dma, pmtu uint32) uint32 {
	if dma == 0 || pmtu == 0 {
		return 1
	}
	return (dma-1)/pmtu + 1
}

// fingerprints hashes the two parts of a packet. The iCRC covers the payload,
// the ports and the identification, so BTH, identification and iCRC together
// stand for all bytes that no hop rewrites; FECN and BECN (BTH octet 4) may
// change on the way.
func fingerprints(p *decode.Packet) (same, hop uint32) {
	const k = 0x9e3779b97f4a7c15
	b := &p.RoCE.BTH
	h := (uint64(b.PSN) | uint64(b.Opcode)<<24 | uint64(p.IPID)<<32 | uint64(b.PKey)<<48) * k
	h ^= uint64(p.TransLen) | uint64(b.DestQP)<<32
	if b.AckReq {
		h ^= 1 << 63
	}
	if end := int(p.TransOff) + int(p.TransLen); p.TransLen >= 4 && end <= len(p.Data) {
		d := p.Data[end-4 : end]
		h ^= uint64(uint32(d[0])<<24|uint32(d[1])<<16|uint32(d[2])<<8|uint32(d[3])) << 20
	} else {
		h ^= tail(p)
	}
	h *= k
	t := uint64(p.TTL) | uint64(p.VID)<<8 | uint64(p.VLANs)<<24
	t ^= uint64(p.EthSrc[5])<<32 | uint64(p.EthSrc[4])<<40 | uint64(p.EthDst[5])<<48 | uint64(p.EthDst[4])<<56
	t *= k
	return uint32(h >> 32), uint32(t >> 32)
}

// tail hashes the last captured octets of the payload of a packet whose iCRC
// was cut off.
func tail(p *decode.Packet) (h uint64) {
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
