package filter

import (
	"slices"
	"strings"
	"sync"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// packetFields is every name that a filter over packets may use.
var packetFields = sync.OnceValue(makePacketFields)

func makePacketFields() map[string]*packetField {
	m, quick := make(map[string]*packetField), quick()
	for _, list := range [][]treeField{networkTree, infinibandTree, iwarpTree} {
		for i := range list {
			f := list[i].fieldOf()
			if get := quick[f.Name]; get != nil {
				f.get = []packetGetter{get}
			}
			m[f.Name] = f
		}
	}
	for _, name := range wire.FieldNames() { // one that has no entry in the tables yet
		if m[name] == nil {
			m[name] = (&treeField{name: name, typ: TypeUint, doc: "Wireshark's field of this name"}).fieldOf()
		}
	}
	addHeaders(m)
	addOctets(m)
	addPairs(m)
	addTCPFlags(m)
	for _, f := range recordFields() {
		m[f.Name] = f
	}
	for _, f := range ourFields() {
		m[f.Name] = f
	}
	return m
}

// present are the headers that the decoded packet itself tells of.
var present = sync.OnceValue(func() map[string]func(*wire.Packet) bool {
	return map[string]func(*wire.Packet) bool{
		"eth": isEthernet, "ip": isIPv4, "ipv6": isIPv6, "udp": isUDP, "tcp": isTCP, "vlan": oneTag, "macc": isMACControl,
		"infiniband.bth":          func(p *wire.Packet) bool { return p.Has(wire.FlagBTH) },
		"infiniband.reth":         hasExt(roce.HeaderRETH),
		"infiniband.aeth":         hasExt(roce.HeaderAETH),
		"infiniband.deth":         hasExt(roce.HeaderDETH),
		"infiniband.atomiceth":    hasExt(roce.HeaderAtomicETH),
		"infiniband.atomicacketh": hasExt(roce.HeaderAtomicAckETH),
		"infiniband.rdeth":        hasExt(roce.HeaderRDETH),
		"infiniband.xrceth":       hasExt(roce.HeaderXRCETH),
	}
})

func hasExt(h roce.Header) func(*wire.Packet) bool {
	return func(p *wire.Packet) bool { return p.Has(wire.FlagBTH) && p.RoCE.Present.Has(h) }
}

func addHeaders(m map[string]*packetField) {
	for name, is := range present() {
		slow := m[name].octets
		m[name].octets = func(e *packetEnv, buf [][]byte) [][]byte {
			switch {
			case is(e.p):
				return append(buf, e.p.Data)
			case repeats(e.p):
				return slow(e, buf)
			}
			return buf
		}
	}
	add := func(name, doc string, is func(*wire.Packet) bool) {
		m[name] = &packetField{Field: Field{Name: name, Type: TypeNone, Doc: doc}, octets: func(e *packetEnv, buf [][]byte) [][]byte {
			if is(e.p) {
				buf = append(buf, e.p.Data)
			}
			return buf
		}}
	}
	add("infiniband", "InfiniBand transport: RoCEv2, RoCEv1 or native", func(p *wire.Packet) bool { return p.Kind.IsRoCE() })
	m["infiniband"].exact = infinibandOctets
	m["infiniband"].onward = infinibandOctets
	add("arp", "ARP", func(p *wire.Packet) bool { return p.EtherType == 0x0806 && p.Has(wire.FlagEth) })
	add("icmp", "ICMP", func(p *wire.Packet) bool { return isIPv4(p) && p.Proto == 1 })
	add("icmpv6", "ICMPv6", func(p *wire.Packet) bool { return isIPv6(p) && p.Proto == 58 })
	bytes := func(name string, captured func(*wire.Packet) []byte) {
		slow := m[name].octets
		m[name].octets = func(e *packetEnv, buf [][]byte) [][]byte {
			if b := captured(e.p); len(b) > 0 {
				return append(buf, b)
			}
			return slow(e, buf)
		}
	}
	bytes("tcp.payload", func(p *wire.Packet) []byte {
		if isTCP(p) && p.TransOff != 0 {
			return p.TCPPayload()
		}
		return nil
	})
	bytes("infiniband.payload", func(p *wire.Packet) []byte {
		if p.Kind.IsRoCE() && p.Has(wire.FlagBTH) && p.Stop.Reason == wire.ReasonNone && !p.RoCE.CarriesMAD() {
			return p.Payload()
		}
		return nil
	})
}

// headerAt tells where a header of which there is one lies, so that no tree is
// built for its octets.
var headerAt = sync.OnceValue(func() map[string]func(*wire.Packet) (off, n int) {
	return map[string]func(*wire.Packet) (off, n int){
		"eth": func(p *wire.Packet) (int, int) { return 0, 14 },
		"ip": func(p *wire.Packet) (int, int) {
			first, _ := bytesAt(p, netOff(p), 1)
			return netOff(p), int(first&15) * 4
		},
		"ipv6":           func(p *wire.Packet) (int, int) { return int(p.NetOff), 40 },
		"udp":            func(p *wire.Packet) (int, int) { return int(p.L4Off), 8 },
		"tcp":            func(p *wire.Packet) (int, int) { return int(p.L4Off), int(p.TCP.HeaderLen) },
		"infiniband.bth": func(p *wire.Packet) (int, int) { return int(p.TransOff), roce.BTHLen },
	}
})

// addOctets gives headers their octets: of a protocol those that it carries too,
// where they are searched.
func addOctets(m map[string]*packetField) {
	for name, at := range headerAt() {
		is, f := present()[name], m[name]
		quick := func(carries bool, slow func(*packetEnv, [][]byte) [][]byte) func(*packetEnv, [][]byte) [][]byte {
			return func(e *packetEnv, buf [][]byte) [][]byte {
				p := e.p
				if !is(p) || repeats(p) {
					return slow(e, buf)
				}
				from, n := at(p)
				to := from + n
				if from < 0 || n <= 0 || to > len(p.Data) {
					return slow(e, buf)
				}
				if carries {
					to = len(p.Data)
				}
				return append(buf, p.Data[from:to:to])
			}
		}
		f.exact, f.onward = quick(false, f.exact), quick(!strings.Contains(name, "."), f.onward)
	}
}

// infinibandOctets is what Wireshark gives to its dissector: in RoCEv2 what UDP
// carries, else all from the GRH or the LRH on.
func infinibandOctets(e *packetEnv, buf [][]byte) [][]byte {
	p, from := e.p, 0
	switch p.Kind {
	case wire.KindRoCEv2:
		from = int(p.TransOff)
	case wire.KindRoCEv1:
		from = int(p.NetOff)
	case wire.KindInfiniBand:
	default:
		return buf
	}
	to := len(p.Data)
	if p.Kind == wire.KindRoCEv2 {
		to = min(to, from+int(p.TransLen))
	}
	if from < to {
		buf = append(buf, p.Data[from:to:to])
	}
	return buf
}

// repeats tells packets in which a header may occur more than once.
func repeats(p *wire.Packet) bool { return p.Encap.N > 0 || p.VLANs > 1 }

// addPairs adds the names that stand for both sides, as ip.addr.
func addPairs(m map[string]*packetField) {
	for _, pair := range [][4]string{
		{"eth.addr", "eth.src", "eth.dst", "Ethernet: source or destination"},
		{"ip.addr", "ip.src", "ip.dst", "IPv4: source or destination"},
		{"ipv6.addr", "ipv6.src", "ipv6.dst", "IPv6: source or destination"},
		{"udp.port", "udp.srcport", "udp.dstport", "UDP: source or destination port"},
		{"tcp.port", "tcp.srcport", "tcp.dstport", "TCP: source or destination port"},
		{"infiniband.grh.gid", "infiniband.grh.sgid", "infiniband.grh.dgid", "GRH: source or destination GID (not in Wireshark)"},
	} {
		a, b := m[pair[1]], m[pair[2]]
		m[pair[0]] = &packetField{
			Field: Field{Name: pair[0], Type: a.Type, Doc: pair[3]},
			get:   slices.Concat(a.get, b.get),
			all:   func(e *packetEnv, buf []num) []num { return b.all(e, a.all(e, buf)) },
		}
	}
}

// addTCPFlags adds the single flags, which the tree doesn't take apart.
func addTCPFlags(m map[string]*packetField) {
	for i, name := range []string{"fin", "syn", "reset", "push", "ack", "urg", "ece", "cwr"} {
		bit := func(v uint64) (num, bool) { return uintNum(v >> i & 1), true }
		m["tcp.flags."+name] = &packetField{
			Field: Field{Name: "tcp.flags." + name, Type: TypeBool, Doc: "TCP: the flag " + wire.TCPFlags(1<<i).String()},
			get:   []packetGetter{is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.TCP.Flags >> i & 1) })},
			all:   treeNums(isOtherOrTCP, TypeUint, bit, "tcp.flags"),
		}
	}
	m["tcp.len"] = single("tcp.len", TypeUint, "TCP: octets of payload", is(func(p *wire.Packet) bool { return isTCP(p) && p.TransOff != 0 },
		func(p *wire.Packet) uint64 { return uint64(p.TransLen) }))
}

func isOtherOrTCP(p *wire.Packet) bool {
	return p.Kind == wire.KindTCP || p.Kind == wire.KindOther
}

// single is a field of which a packet has at most one.
func single(name string, t Type, doc string, get packetGetter) *packetField {
	return &packetField{
		Field: Field{Name: name, Type: t, Doc: doc},
		get:   []packetGetter{get},
		all: func(e *packetEnv, buf []num) []num {
			if v, ok := get(e); ok {
				buf = append(buf, v)
			}
			return buf
		},
	}
}

// recordFields are those of the record, not of its octets.
func recordFields() []*packetField {
	always := func(*wire.Packet) bool { return true }
	timed := func(v func(*packetEnv) int64) packetGetter {
		return func(e *packetEnv) (num, bool) {
			if e.p.Has(wire.FlagNoTime) {
				return num{}, false
			}
			return intNum(v(e)), true
		}
	}
	now := timed(func(e *packetEnv) int64 { return e.p.Time })
	return []*packetField{
		{Field: Field{Name: "frame", Type: TypeBytes, Doc: "All captured octets of the packet"}, octets: func(e *packetEnv, buf [][]byte) [][]byte { return append(buf, e.p.Data) }},
		single("frame.number", TypeUint, "Position in the capture, from 1", is(always, func(p *wire.Packet) uint64 { return uint64(p.Number) })),
		single("frame.len", TypeUint, "Length on the wire", is(always, func(p *wire.Packet) uint64 { return uint64(p.Wire) })),
		single("frame.cap_len", TypeUint, "Captured length", is(always, func(p *wire.Packet) uint64 { return uint64(len(p.Data)) })),
		single("frame.interface_id", TypeUint, "Interface, over all inputs", is(always, func(p *wire.Packet) uint64 { return uint64(p.Iface) })),
		single("frame.time", TypeTime, "Time (UTC)", now),
		single("frame.time_epoch", TypeEpoch, "Time as seconds since 1970", now),
		single("frame.time_relative", TypeDuration, "Time since the first packet, in seconds", timed(func(e *packetEnv) int64 { return e.p.Time - e.start })),
	}
}

// substitutes are names of Wireshark's that lack here for a reason, and what
// to use.
var substitutes = map[string]string{
	"tcp.seq":                     "it is relative in Wireshark: use tcp.seq_raw",
	"tcp.ack":                     "it is relative in Wireshark: use tcp.ack_raw",
	"tcp.stream":                  "use ip.addr and tcp.port",
	"udp.stream":                  "use ip.addr and udp.port",
	"frame.time_delta":            "use frame.time_relative",
	"tcp.window_size":             "use tcp.window_size_value",
	"ip.host":                     "names are not resolved: use ip.addr",
	"roce":                        "use infiniband",
	"rocev2":                      "use infiniband",
	"pfc":                         "use macc.cbfc.enbv",
	"infiniband.bth.srcqp":        "only datagrams carry it: infiniband.deth.srcqp",
	"flow.retx_packets":           "use flow.retransmitted_packets",
	"tcp.analysis":                "use rdma.analysis.retransmission",
	"_ws.col.Info":                "use _ws.col.info",
	"_ws.col.Protocol":            "use _ws.col.protocol",
	"tcp.analysis.retransmission": "use rdma.analysis.retransmission",
}
