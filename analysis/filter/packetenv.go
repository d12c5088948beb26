package filter

import (
	"strings"

	"rdmascope/decode/wire"
)

// packetEnv is the packet that a filter looks at, and what it needs to know
// beside it.
type packetEnv struct {
	p        *wire.Packet
	start    int64 // time of the capture's first packet
	started  bool
	marks    Marks
	evidence map[int64][]evidence

	tree  []wire.Node // of p, once asked for
	built bool
}

func (e *packetEnv) nodes() []wire.Node {
	if !e.built {
		e.tree, e.built = wire.Tree(e.p), true
	}
	return e.tree
}

// each calls f for every node of a name.
func each(nodes []wire.Node, name string, f func(*wire.Node)) {
	for i := range nodes {
		if nodes[i].Name == name {
			f(&nodes[i])
		}
		each(nodes[i].Children, name, f)
	}
}

// treeField is a name of wire.Tree's.
type treeField struct {
	name   string
	typ    Type
	digits int
	doc    string
}

// fieldOf makes the field that looks into the tree. may tells packets that
// cannot have it, so that no tree is built for them.
func (t *treeField) fieldOf() *packetField {
	f := &packetField{Field: Field{Name: t.name, Type: t.typ, Doc: t.doc}, digits: t.digits}
	may := guardOf(t.name)
	if t.typ.numeric() {
		f.all = treeNums(may, t.typ, nil, t.name)
		return f
	}
	name := t.name
	f.octets = func(e *packetEnv, buf [][]byte) [][]byte {
		if may(e.p) {
			each(e.nodes(), name, func(n *wire.Node) { buf = append(buf, octetsOf(e.p, n)) })
		}
		return buf
	}
	f.exact = f.octets
	if f.onward = f.octets; t.typ == TypeNone && !strings.Contains(name, ".") {
		f.onward = func(e *packetEnv, buf [][]byte) [][]byte {
			if may(e.p) {
				each(e.nodes(), name, func(n *wire.Node) { buf = append(buf, e.p.Data[min(max(n.Off, 0), len(e.p.Data)):]) })
			}
			return buf
		}
	}
	return f
}

// treeNums reads the values of the nodes of some names, through conv where a
// field is a part of another.
func treeNums(may func(*wire.Packet) bool, t Type, conv func(uint64) (num, bool), names ...string) func(*packetEnv, []num) []num {
	return func(e *packetEnv, buf []num) []num {
		if !may(e.p) {
			return buf
		}
		for _, name := range names {
			each(e.nodes(), name, func(n *wire.Node) {
				v, ok := nodeNum(e.p, n, t)
				if ok && conv != nil {
					v, ok = conv(v.lo)
				}
				if ok {
					buf = append(buf, v)
				}
			})
		}
		return buf
	}
}

// nodeNum is the value of a node as a number.
func nodeNum(p *wire.Packet, n *wire.Node, t Type) (num, bool) {
	if n.Numeric {
		return uintNum(n.Raw), true
	}
	b := octetsOf(p, n)
	if t != TypeIPv6 || len(b) != 16 {
		return num{}, false
	}
	return num{be64(b), be64(b[8:])}, true
}

func octetsOf(p *wire.Packet, n *wire.Node) []byte {
	from := min(max(n.Off, 0), len(p.Data))
	to := min(max(from+n.Len, from), len(p.Data))
	return p.Data[from:to:to]
}

// guardOf tells which packets may have a field: those for which the answer is
// no need no tree.
func guardOf(name string) func(*wire.Packet) bool {
	group, rest, _ := strings.Cut(name, ".")
	switch group {
	case "eth", "vlan", "sll", "null", "llc", "ip", "ipv6", "udp":
		return func(*wire.Packet) bool { return true }
	case "tcp":
		return func(p *wire.Packet) bool { return p.Kind == wire.KindTCP || p.Kind == wire.KindOther }
	case "macc":
		return func(p *wire.Packet) bool { return !p.Kind.IsRoCE() && p.Kind != wire.KindTCP }
	case "iwarp_mpa", "iwarp_ddp", "iwarp_rdma", "iwarp_ddp_rdmap":
		return func(p *wire.Packet) bool { return p.Kind == wire.KindTCP && p.TransLen > 0 }
	case "lldp":
		return func(p *wire.Packet) bool { return p.Kind == wire.KindLLDP }
	case "infiniband":
		if strings.HasPrefix(rest, "cm.") || strings.HasPrefix(rest, "mad.") || rest == "mad" {
			return func(p *wire.Packet) bool { return p.Kind.IsRoCE() && p.RoCE.CarriesMAD() }
		}
		if group, _, _ := strings.Cut(rest, "."); group == "lrh" || group == "grh" || group == "variant" {
			return func(p *wire.Packet) bool { return p.Kind != wire.KindRoCEv2 && p.Kind != wire.KindTCP }
		}
		return func(p *wire.Packet) bool { return p.Kind.IsRoCE() || p.Kind == wire.KindOther }
	case "avsp", "metamako", "exablaze":
		return func(p *wire.Packet) bool {
			return p.Encap.N > 0 || p.Has(wire.FlagTapTime) || p.Has(wire.FlagTrailer)
		}
	}
	// Tunnels: a packet that came out of one says so, one that didn't is other.
	return func(p *wire.Packet) bool { return p.Encap.N > 0 || p.Kind == wire.KindOther }
}
