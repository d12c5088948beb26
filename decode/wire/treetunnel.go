package wire

var mplsFields = []field{
	{"mpls.label", "Label", 0, 20, dec, nil},
	{"mpls.exp", "Traffic class", 20, 3, dec, nil},
	{"mpls.bottom", "Bottom of stack", 23, 1, flag, nil},
	{"mpls.ttl", "TTL", 24, 8, dec, nil},
}

func (t *treeBuilder) mpls(off int) { t.add(t.header("mpls", "MPLS", off, 4, mplsFields)) }

var vxlanFields = []field{
	{"vxlan.flags", "Flags", 0, 16, hexa, nil},
	{"vxlan.vni", "VNI", 32, 24, dec, nil},
}

func (t *treeBuilder) vxlan(off int) { t.add(t.header("vxlan", "VXLAN", off, 8, vxlanFields)) }

var geneveFields = []field{
	{"geneve.version", "Version", 0, 2, dec, nil},
	{"geneve.proto_type", "Protocol", 16, 16, hexa, etherName},
	{"geneve.vni", "VNI", 32, 24, hexa, nil},
}

func (t *treeBuilder) geneve(off int) {
	n := 8
	if off < len(t.p.Data) {
		n += 4 * int(t.p.Data[off]&0x3f)
	}
	t.add(t.header("geneve", "GENEVE", off, n, geneveFields))
}

var greFields = []field{
	{"gre.flags_and_version", "Flags and version", 0, 16, hexa, nil},
	{"gre.flags.checksum", "Checksum present", 0, 1, flag, nil},
	{"gre.flags.key", "Key present", 2, 1, flag, nil},
	{"gre.flags.sequence_number", "Sequence number present", 3, 1, flag, nil},
	{"gre.flags.version", "Version", 13, 3, dec, nil},
	{"gre.proto", "Protocol", 16, 16, hexa, etherName},
}

// greOptional are the words that follow where they are flagged, in this order;
// their place depends on how many there are.
var greOptional = []field{
	{"gre.checksum", "Checksum", 0, 16, hexa, nil},
	{"gre.key", "Key", 0, 32, hexa, nil},
	{"gre.sequence_number", "Sequence number", 0, 32, dec, nil},
}

func (t *treeBuilder) gre(off int) {
	flags := uint16(0)
	if off+2 <= len(t.p.Data) {
		flags = be16(t.p.Data, off)
	}
	fields := greFields[:len(greFields):len(greFields)]
	length := 4
	for i, bit := range [...]uint16{0x8000, 0x2000, 0x1000} {
		if flags&bit != 0 {
			f := greOptional[i]
			f.at = 8 * length
			fields = append(fields, f)
			length += 4
		}
	}
	t.add(t.header("gre", "GRE", off, length, fields))
}

var erspan2Fields = []field{
	{"erspan.version", "Version", 0, 4, dec, nil},
	{"erspan.vlan", "VLAN", 4, 12, dec, nil},
	{"erspan.cos", "Class of service", 16, 3, dec, nil},
	{"erspan.encap", "Encapsulation", 19, 2, dec, nil},
	{"erspan.truncated", "Truncated", 21, 1, flag, nil},
	{"erspan.spanid", "Session", 22, 10, dec, nil},
	{"erspan.index", "Index", 44, 20, dec, nil},
}

func erspanGranularity(v uint64) string {
	return [...]string{"100 µs", "100 ns", "IEEE 1588 nanoseconds", "by the user"}[v&3]
}

var erspan3Fields = []field{
	{"erspan.version", "Version", 0, 4, dec, nil},
	{"erspan.vlan", "VLAN", 4, 12, dec, nil},
	{"erspan.cos", "Class of service", 16, 3, dec, nil},
	{"erspan.bso", "Bad, short, oversized", 19, 2, dec, nil},
	{"erspan.truncated", "Truncated", 21, 1, flag, nil},
	{"erspan.spanid", "Session", 22, 10, dec, nil},
	{"erspan.timestamp", "Timestamp", 32, 32, dec, nil},
	{"erspan.sgt", "Security group tag", 64, 16, dec, nil},
	{"erspan.p", "Ethernet frame", 80, 1, flag, nil},
	{"erspan.ft", "Frame type", 81, 5, dec, nil},
	{"erspan.hw", "Hardware", 86, 6, dec, nil},
	{"erspan.direction", "Direction", 92, 1, flag, nil},
	{"erspan.gra", "Granularity", 93, 2, dec, erspanGranularity},
	{"erspan.o", "Subheader present", 95, 1, flag, nil},
}

var erspanUTCFields = []field{
	{"erspan.platid", "Platform", 96, 6, dec, nil},
	{"erspan.pid5.switchid", "Switch", 102, 10, dec, nil},
	{"erspan.pid5.port_index", "Port", 112, 16, dec, nil},
	{"erspan.pid5.timestamp", "Seconds (UTC)", 128, 32, dec, nil},
}

var erspanUpperFields = []field{
	{"erspan.platid", "Platform", 96, 6, dec, nil},
	{"erspan.pid3.port_index", "Port", 114, 14, dec, nil},
	{"erspan.pid3.timestamp", "Upper 32 bits of the timestamp", 128, 32, dec, nil},
}

func (t *treeBuilder) erspan(off int) {
	b := t.p.Data
	if off < len(b) && b[off]>>4 == 1 {
		t.add(t.header("erspan", "ERSPAN II", off, 8, erspan2Fields))
		return
	}
	n := t.header("erspan", "ERSPAN III", off, 12, erspan3Fields)
	if off+13 <= len(b) && b[off+11]&1 != 0 {
		n.Len = min(20, len(b)-off)
		switch b[off+12] >> 2 {
		case 3:
			n.Children = append(n.Children, t.fields(off, erspanUpperFields)...)
		case platformUTC5, platformUTC6:
			n.Children = append(n.Children, t.fields(off, erspanUTCFields)...)
		default:
			n.Children = append(n.Children, t.fields(off, erspanUTCFields[:1])...)
		}
	}
	t.add(n)
}

var vntagFields = []field{
	{"vntag.dir", "Direction", 0, 1, flag, nil},
	{"vntag.ptr", "Pointer", 1, 1, flag, nil},
	{"vntag.dst", "Destination", 2, 14, dec, nil},
	{"vntag.looped", "Looped", 16, 1, flag, nil},
	{"vntag.version", "Version", 18, 2, dec, nil},
	{"vntag.src", "Source", 20, 12, dec, nil},
	{"vntag.etype", "Type", 32, 16, hexa, etherName},
}

func (t *treeBuilder) vntag(off int) { t.add(t.header("vntag", "VN-Tag", off, 6, vntagFields)) }

var nshFields = []field{
	{"nsh.version", "Version", 0, 2, dec, nil},
	{"nsh.ttl", "TTL", 4, 6, dec, nil},
	{"nsh.length", "Length in words", 10, 6, dec, nil},
	{"nsh.mdtype", "MD type", 20, 4, dec, nil},
	{"nsh.nextproto", "Next protocol", 24, 8, dec, nil},
	{"nsh.spi", "Service path", 32, 24, dec, nil},
	{"nsh.si", "Service index", 56, 8, dec, nil},
}

func (t *treeBuilder) nsh(off int) {
	n := 8
	if off+2 <= len(t.p.Data) {
		n = 4 * int(t.p.Data[off+1]&0x3f)
	}
	t.add(t.header("nsh", "Network service header", off, n, nshFields))
}

func aristaTimescale(v uint64) string {
	return map[uint64]string{0: "TAI", 1: "UTC"}[v]
}

var arista64Fields = []field{
	{"avsp.sub_type", "Subtype", 0, 16, dec, nil},
	{"", "Timescale", 16, 8, dec, aristaTimescale},
	{"", "Format", 24, 4, dec, nil},
	{"avsp.64sec", "Seconds", 32, 32, dec, nil},
	{"avsp.64ns", "Nanoseconds", 64, 32, dec, nil},
	{"avsp.etype", "Type", 96, 16, hexa, etherName},
}

var arista48Fields = []field{
	{"avsp.sub_type", "Subtype", 0, 16, dec, nil},
	{"", "Timescale", 16, 8, dec, aristaTimescale},
	{"", "Format", 24, 4, dec, nil},
	{"avsp.48sec", "Seconds (16 bits)", 32, 16, dec, nil},
	{"avsp.48ns", "Nanoseconds", 48, 32, dec, nil},
	{"avsp.etype", "Type", 80, 16, hexa, etherName},
}

var keyFrameFields = []field{
	{"", "Ticks", 0, 64, dec, nil},
	{"", "UTC, ns since 1970", 64, 64, dec, nil},
}

// tapHeader shows Arista's header; those of others are known by name only.
func (t *treeBuilder) tapHeader(off int) {
	b := t.p.Data
	switch {
	case t.p.Encap.has(EncapERSPANMarker):
		t.add(Node{Label: "Cisco ERSPAN marker", Off: off, Len: min(58, len(b)-off)})
	case t.p.Encap.has(EncapKeyFrame):
		t.add(t.header("", "Key frame of a tap's stamps", off, 16, keyFrameFields))
	case off < 2 || off+4 > len(b) || be16(b, off-2) != etherArista:
		t.add(Node{Label: "Header not looked into", Value: t.p.Encap.String(), Off: off, Len: max(0, len(b)-off)})
	case b[off+3]>>4 == arista48:
		t.add(t.header("avsp", "Arista timestamp", off, 12, arista48Fields))
	default:
		t.add(t.header("avsp", "Arista timestamp", off, 14, arista64Fields))
	}
}

var metamakoFields = []field{
	{"", "Seconds", 0, 32, dec, nil},
	{"", "Nanoseconds", 32, 32, dec, nil},
	{"metamako.flags", "Flags", 64, 8, hexa, nil},
	{"metamako.srcdevice", "Device", 72, 16, dec, nil},
	{"metamako.srcport", "Port", 88, 8, dec, nil},
}

var exablazeFields = []field{
	{"exablaze.original_fcs", "Original FCS", 0, 32, hexa, nil},
	{"exablaze.device", "Device", 32, 8, dec, nil},
	{"exablaze.port", "Port", 40, 8, dec, nil},
	{"exablaze.timestamp.seconds", "Seconds", 48, 32, dec, nil},
	{"", "Fraction in 2^-40 seconds", 80, 40, dec, nil},
}

func (t *treeBuilder) tapTrailer(off int) {
	if t.p.Encap.has(EncapExablaze) {
		t.add(t.header("exablaze", "Exablaze trailer", off, exablazeLen, exablazeFields))
		return
	}
	// Extensions may stand between the FCS and the time; a new FCS may follow.
	f := frame{p: t.p, b: t.p.Data}
	end := len(f.b)
	for _, e := range [...]int{end, end - fcsLen} {
		if e-12 >= off+fcsLen && f.metamakoBegin(off, e) == off {
			end = e
			break
		}
	}
	n := t.header("metamako", "Metamako trailer", off, end-off, []field{{"metamako.orig_fcs", "Original FCS", 0, 32, hexa, nil}})
	if ext, ok := t.raw("metamako.ext", "Extensions", off+fcsLen, end-12-off-fcsLen); ok {
		n.Children = append(n.Children, ext)
	}
	n.Children = append(n.Children, t.fields(end-12, metamakoFields)...)
	t.add(n)
}
