package iwarp

import "github.com/google/gopacket"

// Opcode is the RDMAP opcode, the low nibble of the RDMAP control octet
// (RFC 5040 §4.1 figure 4, RFC 7306 §4 figure 1).
type Opcode uint8

const (
	RDMAWrite      Opcode = 0x0
	RDMAReadReq    Opcode = 0x1
	RDMAReadResp   Opcode = 0x2
	Send           Opcode = 0x3
	SendInvalidate Opcode = 0x4
	SendSE         Opcode = 0x5
	SendSEInv      Opcode = 0x6
	Terminated     Opcode = 0x7
	ImmediateData  Opcode = 0x8
	ImmediateSE    Opcode = 0x9
	AtomicReq      Opcode = 0xa
	AtomicResp     Opcode = 0xb

	// OpcodeUnseen stands where a hole took the opcode.
	OpcodeUnseen Opcode = 0xff

	// OpcodeCount is one more than the highest opcode in use.
	OpcodeCount = 12
)

// Queue numbers of the untagged buffer model (RFC 5040 §5.1, RFC 7306 §5.2).
const (
	QueueSend           = 0
	QueueReadRequest    = 1
	QueueTerminate      = 2
	QueueAtomicResponse = 3
)

// noFixedLen marks opcodes with a ULP payload of any length.
const noFixedLen = -1

// opcodeInfo is one row of the opcode table.
type opcodeInfo struct {
	name    string
	tagged  bool
	queue   uint32 // of an untagged message
	header  int    // octets of the RDMAP header behind the DDP header
	payload int    // octets of payload that must follow, or noFixedLen
	inval   bool   // octets 2..5 of the untagged header are an STag to invalidate
}

// opcodes is the specification's table; which header follows is data.
var opcodes = [OpcodeCount]opcodeInfo{
	RDMAWrite:      {name: "RDMA_WRITE", tagged: true, payload: noFixedLen},
	RDMAReadReq:    {name: "READ_REQUEST", queue: QueueReadRequest, header: ReadRequestLen},
	RDMAReadResp:   {name: "READ_RESPONSE", tagged: true, payload: noFixedLen},
	Send:           {name: "SEND", queue: QueueSend, payload: noFixedLen},
	SendInvalidate: {name: "SEND_INV", queue: QueueSend, payload: noFixedLen, inval: true},
	SendSE:         {name: "SEND_SE", queue: QueueSend, payload: noFixedLen},
	SendSEInv:      {name: "SEND_SE_INV", queue: QueueSend, payload: noFixedLen, inval: true},
	// A Terminate's header is 4 octets and whatever headers it quotes.
	Terminated:    {name: "TERMINATE", queue: QueueTerminate, header: TerminateMinLen, payload: noFixedLen},
	ImmediateData: {name: "IMMEDIATE", queue: QueueSend, header: ImmediateLen},
	ImmediateSE:   {name: "IMMEDIATE_SE", queue: QueueSend, header: ImmediateLen},
	AtomicReq:     {name: "ATOMIC_REQUEST", queue: QueueReadRequest, header: AtomicRequestLen},
	AtomicResp:    {name: "ATOMIC_RESPONSE", queue: QueueAtomicResponse, header: AtomicResponseLen},
}

// nextLayer stands apart from the table only because the layer types' decoders
// read that table themselves (Go would call it an initialisation cycle).
func (o Opcode) nextLayer() gopacket.LayerType {
	switch o {
	case RDMAReadReq:
		return LayerTypeReadRequest
	case Terminated:
		return LayerTypeTerminate
	case ImmediateData, ImmediateSE:
		return LayerTypeImmediate
	case AtomicReq:
		return LayerTypeAtomicRequest
	case AtomicResp:
		return LayerTypeAtomicResponse
	}
	return gopacket.LayerTypePayload
}

// Known tells whether the opcode is in use.
func (o Opcode) Known() bool { return o < OpcodeCount }

// String is the name that reports use, "RDMA_WRITE" and so on.
func (o Opcode) String() string {
	if o.Known() {
		return opcodes[o].name
	}
	if o == OpcodeUnseen {
		return "UNSEEN"
	}
	return "RESERVED"
}

// Tagged tells which buffer model the opcode uses.
func (o Opcode) Tagged() bool { return o.Known() && opcodes[o].tagged }

// Queue is the queue number of an untagged opcode.
func (o Opcode) Queue() (qn uint32, ok bool) {
	if !o.Known() || opcodes[o].tagged {
		return 0, false
	}
	return opcodes[o].queue, true
}

// Invalidates tells whether the message names an STag to invalidate.
func (o Opcode) Invalidates() bool { return o.Known() && opcodes[o].inval }

// Solicited tells whether the message asks for a solicited event.
func (o Opcode) Solicited() bool { return o == SendSE || o == SendSEInv || o == ImmediateSE }

// IsSend tells whether the opcode is one of the four Sends.
func (o Opcode) IsSend() bool { return o >= Send && o <= SendSEInv }

// CarriesPayload tells whether the octets behind the DDP header are the
// application's: Read Requests, Atomics and Terminates carry none. The eight
// octets of an Immediate are the application's.
func (o Opcode) CarriesPayload() bool {
	return o.Known() && o != RDMAReadReq && o != Terminated && o != AtomicReq && o != AtomicResp
}

// HeaderLen is the number of octets from the DDP control octet to the end of
// the RDMAP header (a Terminate's is its fixed part).
func (o Opcode) HeaderLen() int {
	if !o.Known() {
		return TaggedLen
	}
	if opcodes[o].tagged {
		return TaggedLen
	}
	return UntaggedLen + opcodes[o].header
}

// MSN is a message sequence number of one queue. It starts at 1 and wraps
// modulo 2³² (RFC 5041 §4.3): never compare two with <.
type MSN uint32

// FirstMSN is the number of a queue's first message.
const FirstMSN MSN = 1

// Add returns the number n messages later.
func (m MSN) Add(n uint32) MSN { return m + MSN(n) }

// Sub is the signed distance from o to m.
func (m MSN) Sub(o MSN) int32 { return int32(m - o) }

// Before tells whether m comes before o in serial order.
func (m MSN) Before(o MSN) bool { return m.Sub(o) < 0 }
