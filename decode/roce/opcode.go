package roce

import "fmt"

// Opcode is the first byte of the BTH: transport service in bits 7:5,
// operation in bits 4:0 (IBTA 9.2.1, table 38).
type Opcode uint8

// Opcodes that code needs by name. All others are in the table, see Info.
const (
	OpcodeRCSendFirst          Opcode = 0x00
	OpcodeRCSendMiddle         Opcode = 0x01
	OpcodeRCSendLast           Opcode = 0x02
	OpcodeRCSendLastImm        Opcode = 0x03
	OpcodeRCSendOnly           Opcode = 0x04
	OpcodeRCSendOnlyImm        Opcode = 0x05
	OpcodeRCWriteFirst         Opcode = 0x06
	OpcodeRCWriteMiddle        Opcode = 0x07
	OpcodeRCWriteLast          Opcode = 0x08
	OpcodeRCWriteLastImm       Opcode = 0x09
	OpcodeRCWriteOnly          Opcode = 0x0a
	OpcodeRCWriteOnlyImm       Opcode = 0x0b
	OpcodeRCReadRequest        Opcode = 0x0c
	OpcodeRCReadResponseFirst  Opcode = 0x0d
	OpcodeRCReadResponseMiddle Opcode = 0x0e
	OpcodeRCReadResponseLast   Opcode = 0x0f
	OpcodeRCReadResponseOnly   Opcode = 0x10
	OpcodeRCAcknowledge        Opcode = 0x11
	OpcodeRCAtomicAcknowledge  Opcode = 0x12
	OpcodeRCCompareSwap        Opcode = 0x13
	OpcodeRCFetchAdd           Opcode = 0x14
	OpcodeRCSendLastInv        Opcode = 0x16
	OpcodeRCSendOnlyInv        Opcode = 0x17
	OpcodeRCFlush              Opcode = 0x1c
	OpcodeRCAtomicWrite        Opcode = 0x1d
	OpcodeUDSendOnly           Opcode = 0x64
	OpcodeUDSendOnlyImm        Opcode = 0x65
	OpcodeCNP                  Opcode = 0x81
)

// Service is the transport service, bits 7:5 of the opcode.
type Service uint8

// Services. RD is implemented by nobody; NVIDIA hardware uses its opcodes for
// the proprietary DC transport, hence its name.
const (
	ServiceUnknown Service = iota
	ServiceRC
	ServiceUC
	ServiceRD
	ServiceUD
	ServiceCNP
	ServiceXRC
	ServiceVendor // 0xc0–0xff, manufacturer specific
	serviceCount
)

var serviceNames = [serviceCount]string{"Unknown", "RC", "UC", "RD/DC", "UD", "CNP", "XRC", "Vendor"}

// String returns "RC", "UD" and so on.
func (s Service) String() string {
	if s < serviceCount {
		return serviceNames[s]
	}
	return "Unknown"
}

// Reliable tells whether the service acknowledges its packets.
func (s Service) Reliable() bool { return s == ServiceRC || s == ServiceXRC || s == ServiceRD }

// Operation is what an opcode does, whatever its service and its place in the
// message.
type Operation uint8

// Operations.
const (
	OperationUnknown Operation = iota
	OperationSend
	OperationWrite
	OperationReadRequest
	OperationReadResponse
	OperationAcknowledge
	OperationAtomicAcknowledge
	OperationCompareSwap
	OperationFetchAdd
	OperationFlush
	OperationAtomicWrite
	OperationResync
	OperationCNP
	operationCount
)

var operationNames = [operationCount]string{
	"Unknown", "Send", "RDMA Write", "RDMA Read Request", "RDMA Read Response", "Acknowledge",
	"Atomic Acknowledge", "Compare Swap", "Fetch Add", "Flush", "Atomic Write", "Resync", "CNP",
}

// String returns "RDMA Write" and so on.
func (o Operation) String() string {
	if o < operationCount {
		return operationNames[o]
	}
	return "Unknown"
}

// OpcodeFlags are the properties of an opcode that code branches on.
type OpcodeFlags uint16

// Flags of an opcode. First, Middle, Last and Only are set on the operations
// that may span packets (SEND, WRITE, READ response); single-packet operations
// such as Acknowledge have none of them.
const (
	FlagFirst      OpcodeFlags = 1 << iota
	FlagMiddle                 // with FlagFirst: the payload is exactly the path MTU
	FlagLast                   //
	FlagOnly                   //
	FlagRequest                // sent by the requester: its PSN counts in its sender's space
	FlagResponse               // sent by the responder: its PSN counts in the receiver's space
	FlagPayload                // may carry a payload
	FlagImmediate              // carries an ImmDt
	FlagInvalidate             // carries an IETH
	FlagAtomic                 // CmpSwap or FetchAdd: carries an AtomicETH
	FlagRead                   // the request is completed only by its own response, never by a later ACK

	// FlagStart and FlagEnd: the packet begins or ends a message.
	FlagStart = FlagFirst | FlagOnly
	FlagEnd   = FlagLast | FlagOnly
)

// Has tells whether any of the given flags is set.
func (f OpcodeFlags) Has(any OpcodeFlags) bool { return f&any != 0 }

// OpcodeInfo is one row of the opcode table.
type OpcodeInfo struct {
	Known     bool // the specification defines the opcode
	Service   Service
	Operation Operation
	Count     uint8     // how many of Headers are used
	Headers   [4]Header // the extension headers after the BTH, in order
	ExtLen    uint8     // their total length
	Flags     OpcodeFlags
	Set       HeaderSet // the same headers as a set, with HeaderBTH
	name      string
}

// Info returns the table's row of o. It is shared: don't write to it.
func (o Opcode) Info() *OpcodeInfo { return &opcodeTable[o] }

// Known tells whether the specification defines o.
func (o Opcode) Known() bool { return opcodeTable[o].Known }

// Service returns the transport service; ServiceUnknown for bytes that belong
// to none.
func (o Opcode) Service() Service { return opcodeTable[o].Service }

// Operation returns the operation, OperationUnknown for reserved opcodes.
func (o Opcode) Operation() Operation { return opcodeTable[o].Operation }

// Flags returns the properties of o.
func (o Opcode) Flags() OpcodeFlags { return opcodeTable[o].Flags }

// IsResponse tells whether o is sent by the responder. The PSN of a response
// counts in the sequence of the opposite direction (IBTA 9.7.2).
func (o Opcode) IsResponse() bool { return opcodeTable[o].Flags&FlagResponse != 0 }

// String returns the name of Wireshark's Info column, such as "RC RDMA Write
// First", "CNP" or "Unknown (0x9f)".
func (o Opcode) String() string { return opcodeTable[o].name }

func unknownName(o int) string { return fmt.Sprintf("Unknown (0x%02x)", o) }
