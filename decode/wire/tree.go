package wire

import (
	"encoding/hex"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"rdmascope/decode/roce"
)

// Node is one line of a packet's tree: a header, or a field with its value.
type Node struct {
	Name     string // Wireshark's name of the field where it has one, such as infiniband.bth.opcode
	Label    string // in words
	Value    string // as text, codes in words
	Raw      uint64 // the value as a number, with Numeric
	Numeric  bool
	Off, Len int // the octets in Packet.Data; Len 0: not from the frame's octets
	Children []Node
}

// Find returns the first node with the name in depth-first order.
func Find(tree []Node, name string) (n *Node, ok bool) {
	for i := range tree {
		if tree[i].Name == name {
			return &tree[i], true
		}
		if n, ok = Find(tree[i].Children, name); ok {
			return n, true
		}
	}
	return nil, false
}

// path is the way that a decode took through a frame.
type path struct {
	steps [maxNesting]step
	n     int
}

type step struct {
	layer Layer
	off   int
}

func (t *path) add(l Layer, off int) {
	if t.n < len(t.steps) {
		t.steps[t.n] = step{l, off}
		t.n++
	}
}

// Tree takes p apart field by field, for people to read and for filters. p must
// have been decoded. It goes the way that the decoder went, so it shows what the
// decoder saw; fields that the capture cut are left out.
func Tree(p *Packet) []Node {
	t := treeBuilder{p: p}
	t.walk()
	t.frame()
	for i := 0; i < t.path.n; i++ {
		s := t.path.steps[i]
		if show := treeLayers[s.layer]; show != nil {
			show(&t, s.off)
		}
	}
	return t.nodes
}

// treeDecoders are kept from one tree to the next: a filter over fields of the
// tree takes every packet apart, and a decoder is 12 KiB to make.
var treeDecoders = sync.Pool{New: func() any { return NewDecoder(Config{SkipICRC: true, AnyTapTime: true}) }}

// walk notes the way of the decoder through the packet.
func (t *treeBuilder) walk() {
	p, q := t.p, *t.p
	d := treeDecoders.Get().(*Decoder)
	d.skipTapTime = !p.Has(FlagTapTime)
	known := p.Kind != KindRoCEv2 || d.isRoCEPort(p.DstPort)
	if !known { // a port that only the packet's own decoder was told of
		d.addRoCEPort(p.DstPort)
	}
	d.decode(&q, &t.path)
	if !known {
		d.removeRoCEPort(p.DstPort)
	}
	treeDecoders.Put(d)
	if p.Has(FlagPart) { // what was decoded is the first PDU of the frame
		for i := range t.path.n {
			if s := &t.path.steps[i]; s.layer == LayerBTH {
				s.off = int(p.TransOff)
			}
		}
	}
}

// treeBuilder makes the nodes of one packet.
type treeBuilder struct {
	p     *Packet
	path  path
	nodes []Node
}

func (t *treeBuilder) add(n Node) { t.nodes = append(t.nodes, n) }

// treeLayers has how each header is shown. It is filled here, once, because
// the functions themselves come back to it in none.
var treeLayers = [LayerCount]func(*treeBuilder, int){
	LayerEthernet:   (*treeBuilder).ethernet,
	LayerVLAN:       (*treeBuilder).vlan,
	LayerSLL:        (*treeBuilder).sll,
	LayerSLL2:       (*treeBuilder).sll2,
	LayerLoopback:   (*treeBuilder).loopback,
	LayerLLC:        (*treeBuilder).llc,
	LayerLLDP:       (*treeBuilder).lldp,
	LayerMPLS:       (*treeBuilder).mpls,
	LayerGRE:        (*treeBuilder).gre,
	LayerERSPAN:     (*treeBuilder).erspan,
	LayerVXLAN:      (*treeBuilder).vxlan,
	LayerGENEVE:     (*treeBuilder).geneve,
	LayerNSH:        (*treeBuilder).nsh,
	LayerVNTag:      (*treeBuilder).vntag,
	LayerTapHeader:  (*treeBuilder).tapHeader,
	LayerTapTrailer: (*treeBuilder).tapTrailer,
	LayerIPv4:       (*treeBuilder).ipv4,
	LayerIPv6:       (*treeBuilder).ipv6,
	LayerUDP:        (*treeBuilder).udp,
	LayerTCP:        (*treeBuilder).tcp,
	LayerLRH:        (*treeBuilder).lrh,
	LayerGRH:        (*treeBuilder).grh,
	LayerBTH:        (*treeBuilder).infiniband,
	LayerMACControl: (*treeBuilder).macControl,
}

// frame adds what the record tells.
func (t *treeBuilder) frame() {
	p := t.p
	value := func(name, label string, v uint64) Node {
		return Node{Name: name, Label: label, Value: strconv.FormatUint(v, 10), Raw: v, Numeric: true}
	}
	n := Node{Name: "frame", Label: "Frame", Value: strconv.Itoa(int(p.Wire)) + " bytes on the wire, " + strconv.Itoa(len(p.Data)) + " captured", Len: len(p.Data)}
	if !p.Has(FlagNoTime) {
		n.Children = append(n.Children,
			Node{Name: "frame.time", Label: "Time", Value: time.Unix(0, p.Time).UTC().Format("2006-01-02 15:04:05.000000000") + " UTC"},
			Node{Name: "frame.time_epoch", Label: "Seconds since 1970", Value: epoch(p.Time)})
	}
	if p.Has(FlagTapTime) {
		n.Children = append(n.Children, Node{Label: "Time stamped by a tap", Value: time.Unix(0, p.TrailerNS).UTC().Format("2006-01-02 15:04:05.000000000") + " UTC"})
	}
	n.Children = append(n.Children,
		value("frame.number", "Number", uint64(p.Number)),
		value("frame.len", "Length on the wire", uint64(p.Wire)),
		value("frame.cap_len", "Captured length", uint64(len(p.Data))),
		value("frame.interface_id", "Interface", uint64(p.Iface)))
	if p.Stop.Reason != ReasonNone {
		n.Children = append(n.Children, Node{Label: "Decoding ended", Value: p.Stop.String()})
	}
	t.add(n)
}

// epoch writes nanoseconds as seconds with nine decimals.
func epoch(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	frac := strconv.FormatInt(ns%second+second, 10)[1:]
	return sign + strconv.FormatInt(ns/second, 10) + "." + frac
}

// form is how a field is written.
type form uint8

const (
	dec form = iota
	hexa
	flag // one bit: 1 or 0
	mac
	ipv4Addr
	ipv6Addr
	octets
)

// field is one field of a header: where its bits are, and how it is written.
type field struct {
	name, label string
	at, bits    int // from the header's first bit
	form        form
	words       func(v uint64) string // what a code means
}

// header makes the node of a header at off from its fields; length is what
// there is of it on the wire.
func (t *treeBuilder) header(name, label string, off, length int, fields []field) Node {
	n := Node{Name: name, Label: label, Off: off, Len: max(0, min(length, len(t.p.Data)-off))}
	n.Children = t.fields(off, fields)
	return n
}

func (t *treeBuilder) fields(off int, fields []field) []Node {
	nodes := make([]Node, 0, len(fields))
	for i := range fields {
		if n, ok := t.field(off, &fields[i]); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// field makes the node of one field, unless the capture cut it.
func (t *treeBuilder) field(off int, f *field) (Node, bool) {
	first, last := off+f.at/8, off+(f.at+f.bits+7)/8
	if last > len(t.p.Data) || first >= last {
		return Node{}, false
	}
	b := t.p.Data[first:last]
	n := Node{Name: f.name, Label: f.label, Off: first, Len: last - first}
	switch f.form {
	case ipv6Addr:
		n.Value = netip.AddrFrom16([16]byte(b)).String()
		return n, true
	case octets:
		n.Value = hex.EncodeToString(b)
		return n, true
	}
	n.Raw, n.Numeric = bitsOf(b, f.at%8, f.bits), true
	switch f.form {
	case hexa:
		n.Value = hexText(n.Raw, f.bits)
	case mac:
		n.Value = MAC(b).String()
	case ipv4Addr:
		n.Value = netip.AddrFrom4([4]byte(b)).String()
	default:
		n.Value = strconv.FormatUint(n.Raw, 10)
	}
	if f.words != nil {
		if w := f.words(n.Raw); w != "" {
			n.Value = w + " (" + n.Value + ")"
		}
	}
	return n, true
}

// bitsOf reads n bits from bit skip of b on, at most 64.
func bitsOf(b []byte, skip, n int) uint64 {
	var v uint64
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	v >>= (8 - (skip+n)%8) % 8
	if n < 64 {
		v &= 1<<n - 1
	}
	return v
}

// FieldNames returns the names of all fields that a tree can have, sorted: what
// filters can ask for.
func FieldNames() []string {
	seen := map[string]bool{}
	for _, table := range fieldTables() {
		for i := range table {
			seen[table[i].name] = true
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// fieldTables are the tables that the tree is made from.
func fieldTables() [][]field {
	tables := [][]field{
		ethernetFields, {ethernetType, ethernetLength}, vlanFields, sllFields, sll2Fields, loopbackFields, llcFields,
		maccFields, pauseFields, {pfcVector}, pfcBits, pfcTimes, mplsFields, vxlanFields, geneveFields, greFields, greOptional,
		erspan2Fields, erspan3Fields, erspanUTCFields, erspanUpperFields, vntagFields, nshFields, arista64Fields,
		arista48Fields, metamakoFields, exablazeFields, ipv4Fields, ipv6Fields, udpFields, tcpFields, lrhFields, grhFields,
		bthFields, {icrcField, vcrcField}, madFields, ipCMFields, ipCM4, ipCM6,
	}
	for _, kind := range []roce.Syndrome{0x00, 0x20, 0x40, 0x60} {
		tables = append(tables, syndromeFields(kind))
	}
	for _, e := range extensionTree {
		tables = append(tables, e.fields)
	}
	for _, m := range cmTree {
		tables = append(tables, m.fields)
	}
	return append(tables, iwarpTables()...)
}

// hexText writes v with as many digits as bits need.
func hexText(v uint64, bits int) string {
	s := strconv.FormatUint(v, 16)
	for len(s) < (bits+3)/4 {
		s = "0" + s
	}
	return "0x" + s
}

// raw makes a node of octets without structure.
func (t *treeBuilder) raw(name, label string, off, length int) (Node, bool) {
	end := min(off+length, len(t.p.Data))
	if length <= 0 || off >= end {
		return Node{}, false
	}
	const shown = 32
	s := hex.EncodeToString(t.p.Data[off:min(end, off+shown)])
	if end-off > shown {
		s += "…"
	}
	return Node{Name: name, Label: label, Value: strconv.Itoa(length) + " bytes: " + s, Off: off, Len: end - off}, true
}
