package wire

import "strconv"

var ethernetFields = []field{
	{"eth.dst", "Destination", 0, 48, mac, nil},
	{"eth.src", "Source", 48, 48, mac, nil},
}

var (
	ethernetType   = field{"eth.type", "Type", 96, 16, hexa, etherName}
	ethernetLength = field{"eth.len", "Length", 96, 16, dec, nil}
)

func (t *treeBuilder) ethernet(off int) {
	n := t.header("eth", "Ethernet", off, 14, ethernetFields)
	last := &ethernetType
	if off+14 <= len(t.p.Data) && be16(t.p.Data, off+12) <= maxLength {
		last = &ethernetLength
	}
	if c, ok := t.field(off, last); ok {
		n.Children = append(n.Children, c)
	}
	if len(n.Children) >= 2 {
		n.Value = n.Children[1].Value + " → " + n.Children[0].Value
	}
	t.add(n)
}

var etherNames = map[uint64]string{
	etherIPv4: "IPv4", etherARP: "ARP", etherVLAN: "802.1Q VLAN", etherIPv6: "IPv6", etherMACControl: "MAC control",
	etherMPLS: "MPLS", etherMPLSMcast: "MPLS multicast", etherQinQ: "802.1ad", etherLLDP: "LLDP", etherRoCEv1: "RoCEv1",
	etherVNTag: "VN-Tag", etherNSH: "NSH", etherOldQinQ: "old QinQ", etherArista: "Arista timestamp", etherTEB: "Ethernet",
	etherERSPAN2: "ERSPAN", etherERSPAN3: "ERSPAN III", etherTTag: "Cisco TTag", etherGigamon: "Gigamon",
}

func etherName(v uint64) string { return etherNames[v] }

var vlanFields = []field{
	{"vlan.priority", "Priority (PCP)", 0, 3, dec, nil},
	{"vlan.dei", "Drop eligible", 3, 1, flag, nil},
	{"vlan.id", "VLAN", 4, 12, dec, nil},
	{"vlan.etype", "Type", 16, 16, hexa, etherName},
}

func (t *treeBuilder) vlan(off int) { t.add(t.header("vlan", "802.1Q VLAN", off, 4, vlanFields)) }

func cookedType(v uint64) string {
	names := [...]string{"to us", "broadcast", "multicast", "to somebody else", "sent by us"}
	if v < uint64(len(names)) {
		return names[v]
	}
	return ""
}

var sllFields = []field{
	{"sll.pkttype", "Packet type", 0, 16, dec, cookedType},
	{"sll.hatype", "ARPHRD type", 16, 16, dec, nil},
	{"sll.halen", "Address length", 32, 16, dec, nil},
	{"sll.src.eth", "Source", 48, 48, mac, nil},
	{"sll.etype", "Protocol", 112, 16, hexa, etherName},
}

func (t *treeBuilder) sll(off int) {
	t.add(t.header("sll", "Linux cooked capture", off, 16, sllFields))
}

var sll2Fields = []field{
	{"sll.etype", "Protocol", 0, 16, hexa, etherName},
	{"sll.ifindex", "Interface index", 32, 32, dec, nil},
	{"sll.hatype", "ARPHRD type", 64, 16, dec, nil},
	{"sll.pkttype", "Packet type", 80, 8, dec, cookedType},
	{"sll.halen", "Address length", 88, 8, dec, nil},
	{"sll.src.eth", "Source", 96, 48, mac, nil},
}

func (t *treeBuilder) sll2(off int) {
	t.add(t.header("sll", "Linux cooked capture v2", off, 20, sll2Fields))
}

var loopbackFields = []field{{"null.family", "Address family", 0, 32, hexa, nil}}

func (t *treeBuilder) loopback(off int) {
	t.add(t.header("null", "Loopback", off, 4, loopbackFields))
}

var llcFields = []field{
	{"llc.dsap", "DSAP", 0, 8, hexa, nil},
	{"llc.ssap", "SSAP", 8, 8, hexa, nil},
	{"llc.control", "Control", 16, 8, hexa, nil},
	{"llc.oui", "OUI", 24, 24, hexa, nil},
	{"llc.type", "Type", 48, 16, hexa, etherName},
}

func (t *treeBuilder) llc(off int) { t.add(t.header("llc", "LLC with SNAP", off, 8, llcFields)) }

func (t *treeBuilder) lldp(off int) {
	if n, ok := t.raw("lldp", "LLDP", off, int(t.p.TransLen)); ok {
		t.add(n)
	}
}

func maccOpcode(v uint64) string {
	switch v {
	case 0x0001:
		return "PAUSE"
	case 0x0101:
		return "PFC"
	}
	return ""
}

var maccFields = []field{{"macc.opcode", "Opcode", 0, 16, hexa, maccOpcode}}

var pauseFields = []field{{"macc.pause_time", "Pause time in quanta", 16, 16, dec, nil}}

var pfcVector = field{"macc.cbfc.enbv", "Class enable vector", 16, 16, hexa, nil}

// pfcFields has per priority its bit in the vector and its time.
var pfcFields = func() (bits, times []field) {
	for i := range 8 {
		c := strconv.Itoa(i)
		bits = append(bits, field{"macc.cbfc.enbv.c" + c, "Priority " + c, 31 - i, 1, flag, nil})
		times = append(times, field{"macc.cbfc.pause_time.c" + c, "Priority " + c + " in quanta", 32 + 16*i, 16, dec, nil})
	}
	return bits, times
}

var pfcBits, pfcTimes = pfcFields()

func (t *treeBuilder) macControl(off int) {
	n := t.header("macc", "MAC control", off, int(t.p.TransLen), maccFields)
	n.Value = macControlSummary(t.p)
	switch t.p.Kind {
	case KindPause:
		n.Len = min(n.Len, 4)
		n.Children = append(n.Children, t.fields(off, pauseFields)...)
	case KindPFC:
		n.Len = min(n.Len, 20)
		if v, ok := t.field(off, &pfcVector); ok {
			v.Children = t.fields(off, pfcBits)
			n.Children = append(n.Children, v)
		}
		n.Children = append(n.Children, t.fields(off, pfcTimes)...)
	}
	t.add(n)
}
