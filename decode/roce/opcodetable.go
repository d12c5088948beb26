package roce

// The opcode table of IBTA 9.2.1 (tables 38 to 40), A14 (XRC), A17 (CNP) and
// A19 (FLUSH, ATOMIC WRITE), as data: an operation, the headers that follow
// the BTH under RC, and the services that have it. Every other service's row
// follows from it by the headers that the service puts in front.

// operationRow is one line of the specification's table.
type operationRow struct {
	low       uint8 // bits 4:0 of the opcode
	name      string
	operation Operation
	flags     OpcodeFlags
	headers   []Header
	services  uint8
}

// Bits of operationRow.services.
const (
	inRC = 1 << iota
	inUC
	inRD
	inUD
	inXRC

	inAll      = inRC | inUC | inRD | inUD | inXRC
	inStreams  = inRC | inUC | inRD | inXRC
	inReliable = inRC | inRD | inXRC
)

const (
	request  = FlagRequest
	response = FlagResponse
	payload  = FlagPayload
)

var operationRows = []operationRow{
	{0x00, "Send First", OperationSend, request | payload | FlagFirst, nil, inStreams},
	{0x01, "Send Middle", OperationSend, request | payload | FlagMiddle, nil, inStreams},
	{0x02, "Send Last", OperationSend, request | payload | FlagLast, nil, inStreams},
	{0x03, "Send Last Immediate", OperationSend, request | payload | FlagLast | FlagImmediate, []Header{HeaderImmDt}, inStreams},
	{0x04, "Send Only", OperationSend, request | payload | FlagOnly, nil, inAll},
	{0x05, "Send Only Immediate", OperationSend, request | payload | FlagOnly | FlagImmediate, []Header{HeaderImmDt}, inAll},
	{0x06, "RDMA Write First", OperationWrite, request | payload | FlagFirst, []Header{HeaderRETH}, inStreams},
	{0x07, "RDMA Write Middle", OperationWrite, request | payload | FlagMiddle, nil, inStreams},
	{0x08, "RDMA Write Last", OperationWrite, request | payload | FlagLast, nil, inStreams},
	{0x09, "RDMA Write Last Immediate", OperationWrite, request | payload | FlagLast | FlagImmediate, []Header{HeaderImmDt}, inStreams},
	{0x0a, "RDMA Write Only", OperationWrite, request | payload | FlagOnly, []Header{HeaderRETH}, inStreams},
	{0x0b, "RDMA Write Only Immediate", OperationWrite, request | payload | FlagOnly | FlagImmediate, []Header{HeaderRETH, HeaderImmDt}, inStreams},
	{0x0c, "RDMA Read Request", OperationReadRequest, request | FlagRead, []Header{HeaderRETH}, inReliable},
	{0x0d, "RDMA Read Response First", OperationReadResponse, response | payload | FlagFirst, []Header{HeaderAETH}, inReliable},
	{0x0e, "RDMA Read Response Middle", OperationReadResponse, response | payload | FlagMiddle, nil, inReliable},
	{0x0f, "RDMA Read Response Last", OperationReadResponse, response | payload | FlagLast, []Header{HeaderAETH}, inReliable},
	{0x10, "RDMA Read Response Only", OperationReadResponse, response | payload | FlagOnly, []Header{HeaderAETH}, inReliable},
	{0x11, "Acknowledge", OperationAcknowledge, response, []Header{HeaderAETH}, inReliable},
	{0x12, "Atomic Acknowledge", OperationAtomicAcknowledge, response, []Header{HeaderAETH, HeaderAtomicAckETH}, inReliable},
	{0x13, "Compare Swap", OperationCompareSwap, request | FlagAtomic | FlagRead, []Header{HeaderAtomicETH}, inReliable},
	{0x14, "Fetch Add", OperationFetchAdd, request | FlagAtomic | FlagRead, []Header{HeaderAtomicETH}, inReliable},
	{0x15, "Resync", OperationResync, request, nil, inRD},
	{0x16, "Send Last Invalidate", OperationSend, request | payload | FlagLast | FlagInvalidate, []Header{HeaderIETH}, inRC | inXRC},
	{0x17, "Send Only Invalidate", OperationSend, request | payload | FlagOnly | FlagInvalidate, []Header{HeaderIETH}, inRC | inXRC},
	// A FLUSH and an ATOMIC WRITE are answered by a READ response, hence FlagRead.
	{0x1c, "Flush", OperationFlush, request | FlagRead, []Header{HeaderFETH, HeaderRETH}, inReliable},
	{0x1d, "Atomic Write", OperationAtomicWrite, request | payload | FlagRead, []Header{HeaderRETH}, inRC | inXRC},
}

// serviceRows are the services that share the operations above, and what each
// puts between the BTH and the headers of the operation.
var serviceRows = []struct {
	base     uint8
	service  Service
	in       uint8
	request  []Header
	response []Header
}{
	{0x00, ServiceRC, inRC, nil, nil},
	{0x20, ServiceUC, inUC, nil, nil},
	{0x40, ServiceRD, inRD, []Header{HeaderRDETH, HeaderDETH}, []Header{HeaderRDETH}},
	{0x60, ServiceUD, inUD, []Header{HeaderDETH}, nil},
	{0xa0, ServiceXRC, inXRC, []Header{HeaderXRCETH}, nil},
}

var opcodeTable = buildOpcodeTable()

func buildOpcodeTable() (t [256]OpcodeInfo) {
	for o := range t {
		t[o] = OpcodeInfo{name: unknownName(o), Set: 1 << HeaderBTH}
		if o >= 0xc0 {
			t[o].Service = ServiceVendor
		}
	}
	for _, s := range serviceRows {
		for low := range 32 {
			t[int(s.base)+low].Service = s.service
		}
		for _, row := range operationRows {
			if row.services&s.in == 0 {
				continue
			}
			front := s.request
			if row.flags&FlagResponse != 0 {
				front = s.response
			}
			if s.service == ServiceRD && row.operation == OperationFlush {
				front = []Header{HeaderRDETH} // A19: no DETH in an RD FLUSH
			}
			t[s.base+row.low].set(s.service, row, s.service.String()+" "+row.name, front)
		}
	}
	t[OpcodeCNP].set(ServiceCNP, operationRow{operation: OperationCNP, headers: []Header{HeaderCNP}}, "CNP", nil)
	return t
}

func (i *OpcodeInfo) set(s Service, row operationRow, name string, front []Header) {
	i.Known, i.Service, i.Operation, i.Flags, i.name = true, s, row.operation, row.flags, name
	for _, list := range [2][]Header{front, row.headers} {
		for _, h := range list {
			i.Headers[i.Count] = h
			i.Count++
			i.ExtLen += headerLen[h]
			i.Set |= 1 << h
		}
	}
}
