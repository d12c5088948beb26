package wire

import "strconv"

func protoName(v uint64) string {
	return map[uint64]string{1: "ICMP", protoTCP: "TCP", protoUDP: "UDP", protoIPIP: "IPv4", protoIPv6: "IPv6", protoGRE: "GRE",
		protoMPLS: "MPLS", 58: "ICMPv6", protoHopByHop: "hop by hop", protoRouting: "routing", protoFragment: "fragment",
		protoAH: "AH", 50: "ESP", protoNoNext: "nothing", protoDstOpts: "destination options"}[v]
}

func ecnName(v uint64) string { return [...]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}[v&3] }

var ipv4Fields = []field{
	{"ip.version", "Version", 0, 4, dec, nil},
	{"ip.hdr_len", "Header length", 4, 4, dec, nil},
	{"ip.dsfield", "Differentiated services", 8, 8, hexa, nil},
	{"ip.dsfield.dscp", "DSCP", 8, 6, dec, nil},
	{"ip.dsfield.ecn", "ECN", 14, 2, dec, ecnName},
	{"ip.len", "Total length", 16, 16, dec, nil},
	{"ip.id", "Identification", 32, 16, hexa, nil},
	{"ip.flags", "Flags", 48, 3, hexa, nil},
	{"ip.flags.df", "Don't fragment", 49, 1, flag, nil},
	{"ip.flags.mf", "More fragments", 50, 1, flag, nil},
	{"ip.frag_offset", "Fragment offset in 8 bytes", 51, 13, dec, nil},
	{"ip.ttl", "TTL", 64, 8, dec, nil},
	{"ip.proto", "Protocol", 72, 8, dec, protoName},
	{"ip.checksum", "Header checksum", 80, 16, hexa, nil},
	{"ip.src", "Source", 96, 32, ipv4Addr, nil},
	{"ip.dst", "Destination", 128, 32, ipv4Addr, nil},
}

func (t *treeBuilder) ipv4(off int) {
	n := 20
	if off < len(t.p.Data) {
		n = 4 * int(t.p.Data[off]&15)
	}
	h := t.header("ip", "IPv4", off, n, ipv4Fields)
	for i := range h.Children {
		switch c := &h.Children[i]; c.Name {
		case "ip.hdr_len":
			words(c)
		case "ip.checksum":
			if off+n <= len(t.p.Data) && n >= 20 && !headerChecksumOK(t.p.Data[off:off+n]) {
				c.Value += " (bad)"
			}
		}
	}
	if opts, ok := t.raw("ip.options", "Options", off+20, n-20); ok {
		h.Children = append(h.Children, opts)
	}
	h.Value = addresses(h.Children, "ip.src", "ip.dst")
	t.add(h)
}

// words makes octets of a length in words of four, as which such lengths are
// asked for.
func words(n *Node) {
	n.Raw *= 4
	n.Value = strconv.FormatUint(n.Raw, 10) + " bytes"
}

// addresses returns "source → destination" from a header's fields.
func addresses(fields []Node, src, dst string) string {
	s, ok1 := Find(fields, src)
	d, ok2 := Find(fields, dst)
	if !ok1 || !ok2 {
		return ""
	}
	return s.Value + " → " + d.Value
}

var ipv6Fields = []field{
	{"ipv6.version", "Version", 0, 4, dec, nil},
	{"ipv6.tclass", "Traffic class", 4, 8, hexa, nil},
	{"ipv6.tclass.dscp", "DSCP", 4, 6, dec, nil},
	{"ipv6.tclass.ecn", "ECN", 10, 2, dec, ecnName},
	{"ipv6.flow", "Flow label", 12, 20, hexa, nil},
	{"ipv6.plen", "Payload length", 32, 16, dec, nil},
	{"ipv6.nxt", "Next header", 48, 8, dec, protoName},
	{"ipv6.hlim", "Hop limit", 56, 8, dec, nil},
	{"ipv6.src", "Source", 64, 128, ipv6Addr, nil},
	{"ipv6.dst", "Destination", 192, 128, ipv6Addr, nil},
}

// ipv6 shows the fixed header, and one line for each extension header: the
// decoder notes them by the same layer.
func (t *treeBuilder) ipv6(off int) {
	if len(t.nodes) > 0 {
		if last := &t.nodes[len(t.nodes)-1]; last.Name == "ipv6" && off > last.Off {
			if n, ok := t.raw("", "Extension header", off, min(8, len(t.p.Data)-off)); ok {
				last.Children = append(last.Children, n)
			}
			return
		}
	}
	h := t.header("ipv6", "IPv6", off, 40, ipv6Fields)
	h.Value = addresses(h.Children, "ipv6.src", "ipv6.dst")
	t.add(h)
}

var udpFields = []field{
	{"udp.srcport", "Source port", 0, 16, dec, nil},
	{"udp.dstport", "Destination port", 16, 16, dec, nil},
	{"udp.length", "Length", 32, 16, dec, nil},
	{"udp.checksum", "Checksum", 48, 16, hexa, nil},
}

func (t *treeBuilder) udp(off int) {
	h := t.header("udp", "UDP", off, 8, udpFields)
	h.Value = addresses(h.Children, "udp.srcport", "udp.dstport")
	t.add(h)
}

var tcpFields = []field{
	{"tcp.srcport", "Source port", 0, 16, dec, nil},
	{"tcp.dstport", "Destination port", 16, 16, dec, nil},
	{"tcp.seq_raw", "Sequence number", 32, 32, dec, nil},
	{"tcp.ack_raw", "Acknowledgement number", 64, 32, dec, nil},
	{"tcp.hdr_len", "Header length", 96, 4, dec, nil},
	{"tcp.flags", "Flags", 100, 12, hexa, func(v uint64) string { return TCPFlags(v).String() }},
	{"tcp.window_size_value", "Window", 112, 16, dec, nil},
	{"tcp.checksum", "Checksum", 128, 16, hexa, nil},
	{"tcp.urgent_pointer", "Urgent pointer", 144, 16, dec, nil},
}

func (t *treeBuilder) tcp(off int) {
	p := t.p
	h := t.header("tcp", "TCP", off, int(p.TCP.HeaderLen), tcpFields)
	h.Value = addresses(h.Children, "tcp.srcport", "tcp.dstport")
	for i := range h.Children {
		switch c := &h.Children[i]; c.Name {
		case "tcp.hdr_len":
			words(c)
		case "tcp.checksum":
			c.Value += " (" + p.TCPChecksum().String() + ")"
		}
	}
	if opts, ok := t.raw("tcp.options", "Options", off+20, int(p.TCP.HeaderLen)-20); ok {
		h.Children = append(h.Children, opts)
	}
	t.add(h)
	if payload, ok := t.raw("tcp.payload", "TCP payload", int(p.TransOff), int(p.TransLen)); ok {
		t.add(payload)
	}
	t.iwarp()
}
