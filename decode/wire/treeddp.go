package wire

import "rdmascope/decode/iwarp"

var ddpControlFields = []field{
	{"iwarp_ddp.tagged_flag", "Tagged", 0, 1, flag, nil},
	{"iwarp_ddp.last_flag", "Last", 1, 1, flag, nil},
	{"iwarp_ddp.rsvd", "Reserved", 2, 4, hexa, nil},
	{"iwarp_ddp.dv", "DDP version", 6, 2, dec, nil},
}

var rdmapControlFields = []field{
	{"iwarp_rdma.version", "RDMAP version", 0, 2, dec, nil},
	{"iwarp_rdma.rsv", "Reserved", 2, 2, hexa, nil},
	{"iwarp_rdma.opcode", "Opcode", 4, 4, hexa, func(v uint64) string { return iwarp.Opcode(v).String() }},
}

// The offsets of the models and of the RDMAP headers are those in the ULPDU.
var taggedFields = []field{
	{"iwarp_ddp.stag", "STag", 16, 32, hexa, nil},
	{"iwarp_ddp.tagged_offset", "Tagged offset", 48, 64, hexa, nil},
}

var untaggedFields = []field{
	{"iwarp_ddp.qn", "Queue number", 48, 32, dec, nil},
	{"iwarp_ddp.msn", "Message sequence number", 80, 32, dec, nil},
	{"iwarp_ddp.mo", "Message offset", 112, 32, dec, nil},
}

var (
	ddpReserved    = field{"iwarp_ddp.rsvdulp", "Reserved for the ULP", 8, 40, octets, nil}
	rdmapReserved  = field{"iwarp_rdma.reserved", "Reserved", 16, 32, octets, nil}
	invalidateSTag = field{"iwarp_rdma.inval_stag", "STag to invalidate", 16, 32, dec, nil}
	ddpGroups      = []field{{name: "iwarp_ddp_rdmap"}, {name: "iwarp_ddp"}, {name: "iwarp_ddp.control_field"}, {name: "iwarp_ddp.tagged"},
		{name: "iwarp_ddp.untagged"}, {name: "iwarp_rdma"}, {name: "iwarp_rdma.control_field"}, {name: "iwarp_rdma.rr"}}
)

var readRequestFields = []field{
	{"iwarp_rdma.sinkstag", "Sink STag", 0, 32, hexa, nil},
	{"iwarp_rdma.sinkto", "Sink tagged offset", 32, 64, hexa, nil},
	{"iwarp_rdma.rdmardsz", "Message size", 96, 32, dec, nil},
	{"iwarp_rdma.srcstag", "Source STag", 128, 32, hexa, nil},
	{"iwarp_rdma.srcto", "Source tagged offset", 160, 64, hexa, nil},
}

var atomicFields = []field{
	{"iwarp_rdma.atomic.reserved", "Reserved", 0, 28, dec, nil},
	{"iwarp_rdma.atomic.opcode", "Operation", 28, 4, dec, func(v uint64) string { return iwarp.AtomicOpcode(v).String() }},
	{"iwarp_rdma.atomic.request_identifier", "Request identifier", 32, 32, dec, nil},
	{"iwarp_rdma.atomic.remote_stag", "STag", 64, 32, dec, nil},
	{"iwarp_rdma.atomic.remote_tagged_offset", "Tagged offset", 96, 64, dec, nil},
}

// The operand's name depends on the operation.
var (
	fetchAddFields = []field{
		{"iwarp_rdma.atomic.add_data", "Add data", 160, 64, dec, nil},
		{"iwarp_rdma.atomic.add_mask", "Add mask", 224, 64, hexa, nil},
	}
	cmpSwapFields = []field{
		{"iwarp_rdma.atomic.swap_data", "Swap data", 160, 64, dec, nil},
		{"iwarp_rdma.atomic.swap_mask", "Swap mask", 224, 64, hexa, nil},
	}
	compareFields = []field{
		{"iwarp_rdma.atomic.compare_data", "Compare data", 288, 64, dec, nil},
		{"iwarp_rdma.atomic.compare_mask", "Compare mask", 352, 64, hexa, nil},
	}
	atomicResponseFields = []field{
		{"iwarp_rdma.atomic.original_request_identifier", "Request identifier", 0, 32, dec, nil},
		{"iwarp_rdma.atomic.original_remote_data_value", "Value before", 32, 64, dec, nil},
	}
	immediateFields = []field{{"", "Immediate data", 0, 64, hexa, nil}}
)

// ddp adds the DDP header and the RDMAP message in it.
func (t *treeBuilder) ddp(off int, f *iwarp.LoneFPDU) {
	d := &f.DDP
	header := d.Opcode.HeaderLen()
	ddp := Node{Name: "iwarp_ddp", Label: "DDP header", Off: off, Len: d.Len()}
	rdmap := Node{Name: "iwarp_rdma", Label: "RDMAP header", Value: d.Opcode.String(), Off: off + 1, Len: 1}
	ddp.Children = append(ddp.Children, t.header("iwarp_ddp.control_field", "DDP control", off, 1, ddpControlFields))
	rdmap.Children = append(rdmap.Children, t.header("iwarp_rdma.control_field", "RDMAP control", off+1, 1, rdmapControlFields))
	add := func(to *Node, shown *field) {
		if n, ok := t.field(off, shown); ok {
			to.Children = append(to.Children, n)
		}
	}
	if d.Tagged {
		model := t.header("iwarp_ddp.tagged", "Tagged buffer model", off, 0, taggedFields)
		model.Off, model.Len = off+2, iwarp.TaggedLen-2
		ddp.Children = append(ddp.Children, model)
	} else {
		model := t.header("iwarp_ddp.untagged", "Untagged buffer model", off, 0, untaggedFields)
		model.Off, model.Len = off+6, iwarp.UntaggedLen-6
		add(&ddp, &ddpReserved)
		ddp.Children = append(ddp.Children, model)
		rdmap.Len = 5
		if d.Opcode.Invalidates() {
			add(&rdmap, &invalidateSTag)
		} else {
			add(&rdmap, &rdmapReserved)
		}
		rdmap.Children = append(rdmap.Children, t.rdmapBody(off+iwarp.UntaggedLen, d)...)
	}
	length := min(header, int(f.ULPDULength))
	t.add(Node{Name: "iwarp_ddp_rdmap", Label: "DDP and RDMAP", Value: d.Opcode.String(), Off: off,
		Len: max(0, min(length, len(t.p.Data)-off)), Children: []Node{ddp, rdmap}})
	if d.Opcode.IsSend() || d.Tagged {
		if n, ok := t.raw("", "Payload", off+d.Len(), int(f.ULPDULength)-d.Len()); ok {
			t.add(n)
		}
	}
}

// rdmapBody is the header of an untagged message behind the DDP header.
func (t *treeBuilder) rdmapBody(off int, d *iwarp.DDP) []Node {
	switch d.Opcode {
	case iwarp.RDMAReadReq:
		return []Node{t.header("iwarp_rdma.rr", "Read Request", off, iwarp.ReadRequestLen, readRequestFields)}
	case iwarp.Terminated:
		return []Node{t.terminate(off, d.LayerPayload())}
	case iwarp.AtomicReq:
		n := t.fields(off, atomicFields)
		var a iwarp.AtomicRequest
		if a.DecodeFromBytes(d.LayerPayload(), noFeedback{}) == nil {
			switch a.Op {
			case iwarp.FetchAdd:
				n = append(n, t.fields(off, fetchAddFields)...)
			case iwarp.CmpSwap:
				n = append(n, t.fields(off, cmpSwapFields)...)
			}
			n = append(n, t.fields(off, compareFields)...)
		}
		return n
	case iwarp.AtomicResp:
		return t.fields(off, atomicResponseFields)
	case iwarp.ImmediateData, iwarp.ImmediateSE:
		return t.fields(off, immediateFields)
	}
	return nil
}

// terminateLayout is where the control word has its fields: as RFC 5040 draws
// it, and as Linux siw writes it (decode/iwarp, OrderSwapped).
type terminateLayout struct{ layer, etype, m, d, r, reserved, reservedBits int }

var terminateLayouts = map[bool]terminateLayout{
	false: {layer: 0, etype: 4, m: 16, d: 17, r: 18, reserved: 19, reservedBits: 13},
	true:  {layer: 4, etype: 0, m: 23, d: 22, r: 21, reserved: 24, reservedBits: 8},
}

// terminateNames are the names of error type and code, which tell the layer.
func terminateNames(e iwarp.TerminateError) (etype, code string) {
	switch e.Layer {
	case iwarp.TerminateRDMAP:
		return "iwarp_rdma.term_etype_rdma", "iwarp_rdma.term_errcode_rdma"
	case iwarp.TerminateDDP:
		etype, code = "iwarp_rdma.term_etype_ddp", "iwarp_rdma.term_errcode"
		switch e.EType {
		case 1:
			code = "iwarp_rdma.term_errcode_ddp_tagged"
		case 2:
			code = "iwarp_rdma.term_errcode_ddp_untagged"
		}
		return etype, code
	case iwarp.TerminateMPA:
		return "iwarp_rdma.term_etype_llp", "iwarp_rdma.term_errcode_llp"
	}
	return "iwarp_rdma.term_etype", "iwarp_rdma.term_errcode"
}

func terminateFields(e iwarp.TerminateError, swapped bool) (control, header, rest []field) {
	l := terminateLayouts[swapped]
	etype, code := terminateNames(e)
	control = []field{
		{"iwarp_rdma.term_layer", "Layer", l.layer, 4, hexa, func(v uint64) string { return iwarp.TerminateError{Layer: uint8(v)}.LayerName() }},
		{etype, "Error type", l.etype, 4, hexa, func(uint64) string { return e.TypeName() }},
		{code, "Error code", 8, 8, hexa, func(uint64) string { return e.CodeName() }},
	}
	header = []field{
		{"iwarp_rdma.term_hdrct_m", "Segment length is valid", l.m, 1, flag, nil},
		{"iwarp_rdma.hdrct_d", "DDP header is quoted", l.d, 1, flag, nil},
		{"iwarp_rdma.hdrct_r", "RDMAP header is quoted", l.r, 1, flag, nil},
	}
	rest = []field{{"iwarp_rdma.term_rsvd", "Reserved", l.reserved, l.reservedBits, hexa, nil}}
	return control, header, rest
}

// terminate shows a Terminate at off, of which body was captured.
func (t *treeBuilder) terminate(off int, body []byte) Node {
	n := Node{Name: "iwarp_rdma.terminate", Label: "Terminate", Off: off, Len: max(0, min(len(body), iwarp.TerminateMinLen))}
	var x iwarp.Terminate
	if err := x.DecodeFromBytes(body, noFeedback{}); err != nil && err != iwarp.ErrTruncated || len(body) < iwarp.TerminateMinLen {
		return n
	}
	n.Value = x.String()
	swapped := x.Order == iwarp.OrderSwapped
	if swapped {
		n.Value += " (bits in siw's order)"
	}
	control, header, rest := terminateFields(x.TerminateError, swapped)
	ctrl := t.header("iwarp_rdma.term_ctrl", "Control", off, 3, control)
	bits := t.header("iwarp_rdma.term_hdrct", "Header control bits", off, 0, header)
	bits.Off, bits.Len = off+2, 1
	ctrl.Children = append(ctrl.Children, bits)
	n.Children = append([]Node{ctrl}, t.fields(off, rest)...)
	at := off + iwarp.TerminateMinLen
	quoted := func(name, label string, length int) {
		if q, ok := t.raw(name, label, at, length); ok {
			n.Children = append(n.Children, q)
			at += length
			n.Len += q.Len
		}
	}
	if x.LengthValid || x.HasDDP {
		quoted("iwarp_rdma.term_ddp_seg_len", "DDP segment length", 2)
	}
	if x.DDPValid {
		quoted("iwarp_rdma.term_ddp_h", "DDP header that failed", x.DDP.Len())
	}
	if x.ReadValid {
		quoted("iwarp_rdma.term_rdma_h", "Read Request that failed", iwarp.ReadRequestLen)
	}
	return n
}

// iwarpTables are the tables that iWARP's part of a tree is made from.
func iwarpTables() [][]field {
	tables := [][]field{mpaFrameFields, mpaKeys, mpaKinds, {mpaLength, mpaCRC, mpaChecked}, ddpControlFields, rdmapControlFields,
		taggedFields, untaggedFields, {ddpReserved, rdmapReserved, invalidateSTag}, ddpGroups, readRequestFields, atomicFields,
		fetchAddFields, cmpSwapFields, compareFields, atomicResponseFields,
		{{name: "iwarp_rdma.terminate"}, {name: "iwarp_rdma.term_ctrl"}, {name: "iwarp_rdma.term_hdrct"},
			{name: "iwarp_rdma.term_ddp_seg_len"}, {name: "iwarp_rdma.term_ddp_h"}, {name: "iwarp_rdma.term_rdma_h"}}}
	for layer := range uint8(4) {
		for etype := range uint8(3) {
			control, header, rest := terminateFields(iwarp.TerminateError{Layer: layer, EType: etype}, false)
			tables = append(tables, control, header, rest)
		}
	}
	return tables
}
