package rc

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
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
	print     uint32 // of what no hop rewrites
	target    uint32 // of what RETH or AtomicETH asks for, 0: not known
	data      uint16 // of the payload, 0: not known
	hop       uint8  // of what a hop rewrites
	was       uint8  // payload of the request sighted before at this PSN, 0: not known
	wasAt     int64  // … and when that was
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
func (e *event) fill(p *wire.Packet) bool {
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
	if !info.Known || !p.Has(wire.FlagBTH) {
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
	e.n, e.dma, e.payload, e.target, e.msn, e.syn = 1, 0, 0, 0, 0, 0
	if h.Present&info.Set == info.Set { // no header is missing
		e.payload = uint32(h.PayloadLen)
		flags |= evLen
	}
	if h.Present.Has(roce.HeaderRETH) {
		e.dma = h.RETH.DMALen
		e.target = target(&h.RETH, info.Operation)
		flags |= evReth
	} else if h.Present.Has(roce.HeaderAtomicETH) {
		e.target = atomicTarget(&h.AtomicETH)
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
	e.print, e.data, e.hop = uint32(p.Print>>32), uint16(p.Print>>16), uint8(p.Print>>10&hopMask)
	return true
}

// packets returns how many packets a READ response of length dma takes.
func packets(dma, pmtu uint32) uint32 {
	if dma == 0 || pmtu == 0 {
		return 1
	}
	return (dma-1)/pmtu + 1
}
