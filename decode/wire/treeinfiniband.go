package wire

import (
	"strconv"

	"rdmascope/decode/roce"
)

var lrhFields = []field{
	{"infiniband.lrh.vl", "Virtual lane", 0, 4, hexa, nil},
	{"infiniband.lrh.lver", "Link version", 4, 4, dec, nil},
	{"infiniband.lrh.sl", "Service level", 8, 4, dec, nil},
	{"infiniband.lrh.lnh", "Link next header", 14, 2, hexa, func(v uint64) string { return roce.LNH(v).String() }},
	{"infiniband.lrh.dlid", "Destination LID", 16, 16, dec, nil},
	{"infiniband.lrh.pktlen", "Packet length in words", 37, 11, dec, nil},
	{"infiniband.lrh.slid", "Source LID", 48, 16, dec, nil},
}

func (t *treeBuilder) lrh(off int) {
	n := t.header("infiniband.lrh", "Local route header", off, roce.LRHLen, lrhFields)
	n.Value = addresses(n.Children, "infiniband.lrh.slid", "infiniband.lrh.dlid")
	t.add(n)
}

var grhFields = []field{
	{"infiniband.grh.ipver", "IP version", 0, 4, dec, nil},
	{"infiniband.grh.tclass", "Traffic class", 4, 8, dec, nil},
	{"infiniband.grh.flowlabel", "Flow label", 12, 20, dec, nil},
	{"infiniband.grh.paylen", "Payload length", 32, 16, dec, nil},
	{"infiniband.grh.nxthdr", "Next header", 48, 8, dec, nil},
	{"infiniband.grh.hoplmt", "Hop limit", 56, 8, dec, nil},
	{"infiniband.grh.sgid", "Source GID", 64, 128, ipv6Addr, nil},
	{"infiniband.grh.dgid", "Destination GID", 192, 128, ipv6Addr, nil},
}

func (t *treeBuilder) grh(off int) {
	n := t.header("infiniband.grh", "Global route header", off, roce.GRHLen, grhFields)
	n.Value = addresses(n.Children, "infiniband.grh.sgid", "infiniband.grh.dgid")
	t.add(n)
}

// bthFields and those of the extension headers are in the order of the wire.
var bthFields = []field{
	{"infiniband.bth.opcode", "Opcode", 0, 8, dec, func(v uint64) string { return roce.Opcode(v).String() }},
	{"infiniband.bth.se", "Solicited event", 8, 1, flag, nil},
	{"infiniband.bth.m", "Migration state", 9, 1, flag, nil},
	{"infiniband.bth.padcnt", "Pad count", 10, 2, dec, nil},
	{"infiniband.bth.tver", "Transport version", 12, 4, dec, nil},
	{"infiniband.bth.p_key", "P_Key", 16, 16, hexa, nil},
	{"infiniband.bth.fecn", "FECN", 32, 1, flag, nil},
	{"infiniband.bth.becn", "BECN", 33, 1, flag, nil},
	{"infiniband.bth.destqp", "Destination QP", 40, 24, hexa, qpName},
	{"infiniband.bth.a", "Acknowledge request", 64, 1, flag, nil},
	{"infiniband.bth.reserved7", "Reserved", 65, 7, dec, nil},
	{"infiniband.bth.psn", "PSN", 72, 24, dec, nil},
}

func qpName(v uint64) string {
	switch roce.QPN(v) {
	case roce.QPNSMI:
		return "SMI"
	case roce.QPNGSI:
		return "GSI"
	case roce.QPNMulticast:
		return "multicast"
	}
	return ""
}

var rethFields = []field{
	{"infiniband.reth.va", "Virtual address", 0, 64, hexa, nil},
	{"infiniband.reth.r_key", "R_Key", 64, 32, hexa, nil},
	{"infiniband.reth.dmalen", "DMA length", 96, 32, dec, nil},
}

// extensionTree has each extension header's name and fields. AtomicETH has
// its first two fields by the names of RETH's, as in Wireshark.
var extensionTree = map[roce.Header]struct {
	name, label string
	fields      []field
}{
	roce.HeaderRDETH: {"infiniband.rdeth", "RDETH", []field{{"infiniband.rdeth.eecnxt", "End-to-end context", 8, 24, dec, nil}}},
	roce.HeaderDETH: {"infiniband.deth", "DETH", []field{
		{"infiniband.deth.q_key", "Q_Key", 0, 32, hexa, nil},
		{"infiniband.deth.srcqp", "Source QP", 40, 24, hexa, qpName}}},
	roce.HeaderXRCETH: {"infiniband.xrceth", "XRCETH", []field{{"infiniband.xrceth.xrcsrq", "XRC SRQ", 8, 24, hexa, nil}}},
	roce.HeaderRETH:   {"infiniband.reth", "RETH", rethFields},
	roce.HeaderAtomicETH: {"infiniband.atomiceth", "AtomicETH", []field{
		rethFields[0], rethFields[1],
		{"infiniband.atomiceth.swapdt", "Swap or add data", 96, 64, dec, nil},
		{"infiniband.atomiceth.cmpdt", "Compare data", 160, 64, dec, nil}}},
	roce.HeaderAETH: {"infiniband.aeth", "AETH", []field{
		{"infiniband.aeth.syndrome", "Syndrome", 0, 8, dec, syndromeWords},
		{"infiniband.aeth.msn", "MSN", 8, 24, dec, nil}}},
	roce.HeaderAtomicAckETH: {"infiniband.atomicacketh", "AtomicAckETH", []field{
		{"infiniband.atomicacketh.origremdt", "Original remote data", 0, 64, dec, nil}}},
	roce.HeaderImmDt: {"infiniband.immdt", "ImmDt", []field{{"infiniband.immdt", "Immediate data", 0, 32, hexa, nil}}},
	roce.HeaderIETH:  {"infiniband.ieth", "IETH", []field{{"infiniband.ieth", "R_Key to invalidate", 0, 32, hexa, nil}}},
	roce.HeaderFETH: {"infiniband.feth", "FETH", []field{
		{"infiniband.feth.sel", "Selectivity", 26, 2, dec, func(v uint64) string { return roce.Selectivity(v).String() }},
		{"infiniband.feth.plt", "Placement", 28, 4, dec, func(v uint64) string { return roce.Placement(v).String() }}}},
	roce.HeaderCNP: {"infiniband.cnp", "CNP", []field{{"infiniband.cnp.reserved", "Reserved", 0, 128, octets, nil}}},
}

// syndromeFields are the parts of a syndrome; the low bits have a name of their
// own for each kind.
func syndromeFields(s roce.Syndrome) []field {
	low := field{"infiniband.aeth.syndrome.reserved_value", "Code", 3, 5, dec, nil}
	switch s.Kind() {
	case roce.SyndromeACK:
		low.name, low.label = "infiniband.aeth.syndrome.credit_count", "Credits"
		low.words = func(uint64) string {
			if n, ok := s.Credits(); ok {
				return strconv.Itoa(n)
			}
			return "none given"
		}
	case roce.SyndromeRNRNAK:
		low.name, low.label = "infiniband.aeth.syndrome.timer", "Timer"
		low.words = func(v uint64) string { return milliseconds(roce.RNRTimer(uint8(v))) }
	case roce.SyndromeNAK:
		low.name, low.label = "infiniband.aeth.syndrome.error_code", "NAK code"
		low.words = func(v uint64) string { return roce.NAKCode(v).String() }
	}
	kind := field{"infiniband.aeth.syndrome.opcode", "Kind", 1, 2, dec, func(uint64) string { return s.Kind().String() }}
	return []field{kind, low}
}

func syndromeWords(v uint64) string { return syndromeText(roce.Syndrome(v)) }

// infiniband adds everything from the BTH to the iCRC.
func (t *treeBuilder) infiniband(off int) {
	p := t.p
	n := t.header("infiniband.bth", "Base transport header", off, roce.BTHLen, bthFields)
	n.Value = p.RoCE.BTH.Opcode.String()
	t.add(n)
	if !p.Has(FlagBTH) {
		return
	}
	off += roce.BTHLen
	info := p.RoCE.BTH.Opcode.Info()
	for _, k := range info.Headers[:info.Count] {
		if !p.RoCE.Present.Has(k) {
			break
		}
		t.extension(k, off)
		off += k.Len()
	}
	if p.Stop.Layer == LayerBTH || p.Stop.Layer == LayerExt {
		return
	}
	t.transportBody()
}

func (t *treeBuilder) extension(k roce.Header, off int) {
	e := extensionTree[k]
	n := t.header(e.name, e.label, off, k.Len(), e.fields)
	if k == roce.HeaderAETH && len(n.Children) > 0 {
		n.Children[0].Children = t.fields(off, syndromeFields(t.p.RoCE.AETH.Syndrome))
		n.Value = syndromeText(t.p.RoCE.AETH.Syndrome)
	}
	if k == roce.HeaderImmDt || k == roce.HeaderIETH { // header and field in one
		if len(n.Children) == 1 {
			n = n.Children[0]
		}
	}
	t.add(n)
}

var (
	icrcField = field{"infiniband.invariant.crc", "iCRC", 0, 32, hexa, nil}
	vcrcField = field{"infiniband.variant.crc", "VCRC", 0, 16, hexa, nil}
)

// transportBody adds payload, pad and iCRC.
func (t *treeBuilder) transportBody() {
	p := t.p
	if mad, ok := madHeader(p, 1); ok {
		t.mad(int(p.PayloadOff), len(mad))
	} else if n, ok := t.raw("infiniband.payload", "Payload", int(p.PayloadOff), p.RoCE.PayloadLen); ok {
		t.add(n)
	}
	end := int(p.TransOff + p.TransLen)
	if pad := int(p.RoCE.BTH.PadCnt); pad > 0 {
		if n, ok := t.raw("", "Pad", end-roce.ICRCLen-pad, pad); ok {
			t.add(n)
		}
	}
	if p.Flags&(FlagFragment|FlagHiddenCut) != 0 {
		return
	}
	if n, ok := t.field(end-roce.ICRCLen, &icrcField); ok {
		n.Value += " (" + p.ICRC.String() + ")"
		t.add(n)
	}
	if p.Kind == KindInfiniBand {
		t.vcrc(end)
	}
}

// vcrc adds the link's CRC, where the capture has it.
func (t *treeBuilder) vcrc(end int) {
	n, ok := t.field(end, &vcrcField)
	if !ok || int(t.p.NetOff) > end {
		return
	}
	from := int(t.p.NetOff)
	if t.p.IPVersion == 6 {
		from -= roce.LRHLen
	}
	sum := roce.VCRCSum(t.p.Data[from:end])
	if n.Raw == uint64(sum&0xff)<<8|uint64(sum>>8) { // its low byte comes first
		n.Value += " (ok)"
	} else {
		n.Value += " (bad)"
	}
	t.add(n)
}
