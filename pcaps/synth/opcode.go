package synth

// BTH opcodes (IBTA 9.2.1, table 38): transport in bits 7:5, operation in bits
// 4:0. The names of the RC opcodes stand for themselves; the other transports
// are reached by adding UC, RD, UD or XRC.
const (
	SendFirst       = 0x00
	SendMiddle      = 0x01
	SendLast        = 0x02
	SendLastImm     = 0x03
	SendOnly        = 0x04
	SendOnlyImm     = 0x05
	WriteFirst      = 0x06
	WriteMiddle     = 0x07
	WriteLast       = 0x08
	WriteLastImm    = 0x09
	WriteOnly       = 0x0a
	WriteOnlyImm    = 0x0b
	ReadRequest     = 0x0c
	ReadRespFirst   = 0x0d
	ReadRespMiddle  = 0x0e
	ReadRespLast    = 0x0f
	ReadRespOnly    = 0x10
	Acknowledge     = 0x11
	AtomicAck       = 0x12
	CompareSwap     = 0x13
	FetchAdd        = 0x14
	SendLastInv     = 0x16
	SendOnlyInv     = 0x17
	Flush           = 0x1c // IBTA A19
	AtomicWrite     = 0x1d // IBTA A19
	CongestionNotif = 0x81 // IBTA A17.9.3, the whole byte
)

// Transport bases, added to an operation (RC is 0).
const (
	UC  = 0x20
	RD  = 0x40
	UD  = 0x60
	XRC = 0xa0
)

// AETH syndromes (IBTA 9.7.5.2.4): kind in bits 7:5, code in bits 4:0.
const (
	SyndromeACK          = 0x1f // ACK, "no credit information"
	SyndromeRNR          = 0x20 // OR in the timer code
	NAKSequence          = 0x60
	NAKInvalidRequest    = 0x61
	NAKRemoteAccess      = 0x62
	NAKRemoteOperational = 0x63
	NAKInvalidRDRequest  = 0x64
)

// headers is the set of extension headers that follow the BTH, in the order
// of their bits.
type headers uint16

const (
	hRDETH headers = 1 << iota
	hDETH
	hXRCETH
	hFETH
	hRETH
	hAtomicETH
	hAETH
	hAtomicAckETH
	hImmDt
	hIETH
	hCNP
)

// operation lists what follows the BTH of an RC packet, by bits 4:0 of the
// opcode (IBTA 9.3.3 and A19).
var operation = [32]headers{
	SendLastImm:    hImmDt,
	SendOnlyImm:    hImmDt,
	WriteFirst:     hRETH,
	WriteLastImm:   hImmDt,
	WriteOnly:      hRETH,
	WriteOnlyImm:   hRETH | hImmDt,
	ReadRequest:    hRETH,
	ReadRespFirst:  hAETH,
	ReadRespLast:   hAETH,
	ReadRespOnly:   hAETH,
	Acknowledge:    hAETH,
	AtomicAck:      hAETH | hAtomicAckETH,
	CompareSwap:    hAtomicETH,
	FetchAdd:       hAtomicETH,
	SendLastInv:    hIETH,
	SendOnlyInv:    hIETH,
	Flush:          hFETH | hRETH,
	AtomicWrite:    hRETH,
	ReadRespMiddle: 0,
}

// isResponse says whether an operation travels from responder to requester.
func isResponse(opcode uint8) bool {
	op := opcode & 0x1f
	return opcode != CongestionNotif && op >= ReadRespFirst && op <= AtomicAck
}

// headersOf says which extension headers an opcode brings.
func headersOf(opcode uint8) headers {
	if opcode == CongestionNotif {
		return hCNP
	}
	h := operation[opcode&0x1f]
	switch opcode & 0xe0 {
	case RD: // requests name the source QP in a DETH, responses don't
		h |= hRDETH
		if !isResponse(opcode) {
			h |= hDETH
		}
	case UD:
		h |= hDETH
	case XRC: // only requests name the shared receive queue (IBTA A14)
		if !isResponse(opcode) {
			h |= hXRCETH
		}
	}
	return h
}
