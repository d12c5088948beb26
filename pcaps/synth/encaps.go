package synth

import (
	"encoding/binary"
	"net/netip"
)

// Encapsulation is one way in which a capture can come, with its link type.
type Encapsulation struct {
	Name string
	Link uint32
	Wrap Wrap
}

// Encapsulations lists every wrapper with plausible settings, so that a test
// can put a whole capture through each. Their counters start anew with every
// call. Frames must be Ethernet with IP inside; those that strip the Ethernet
// header drop VLAN tags.
func Encapsulations() []Encapsulation {
	outer := Path{
		SrcMAC: MAC{2, 0xee, 0, 0, 0, 1}, DstMAC: MAC{2, 0xee, 0, 0, 0, 2}, SrcPort: 54321,
		Src: netip.MustParseAddr("198.51.100.1"), Dst: netip.MustParseAddr("198.51.100.2"),
	}
	outer6 := outer
	outer6.Src, outer6.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	now := func() (uint32, uint32) { return 1_700_000_000, 123_456_789 }
	key := uint32(5)
	mirror := ERSPAN{VLAN: 100, COS: 3, Encap: 3, Session: 42, Index: 7}
	three := ERSPAN{VLAN: 100, COS: 3, Session: 42, Timestamp: 123_456_789, Granularity: 2}
	utc := three
	utc.Platform = be.AppendUint32([]byte{5 << 2, 1, 0, 2}, 1_700_000_000)
	ether := func(name string, w Wrap) Encapsulation { return Encapsulation{name, LinkEthernet, w} }
	vxlan, mpls := VXLAN(outer, 42), MPLS(Label{Label: 1000, TTL: 64}, Label{Label: 2000, TC: 5, TTL: 64})
	return []Encapsulation{
		ether("vxlan", vxlan),
		ether("vxlan over IPv6", VXLAN(outer6, 42)),
		ether("vxlan on port 8472", VXLANPort(outer, 8472, 42)),
		ether("geneve", GENEVE(outer, 42, nil)),
		ether("geneve with options", GENEVE(outer, 42, []byte{1, 2, 3, 1, 9, 9, 9, 9})),
		ether("gre ethernet", GREEthernet(outer, GRE{})),
		ether("gre ethernet with all fields", GREEthernet(outer, GRE{Checksum: true, Key: &key, Sequence: true})),
		ether("gre ip", GREIP(outer, GRE{})),
		ether("erspan I", ERSPAN1(outer)),
		ether("erspan II", ERSPAN2(outer, 1, mirror)),
		ether("erspan III", ERSPAN3(outer, GRE{Sequence: true}, three)),
		ether("erspan III without sequence", ERSPAN3(outer, GRE{}, three)),
		ether("erspan III with subheader", ERSPAN3(outer, GRE{Sequence: true}, utc)),
		ether("mpls", mpls),
		ether("pseudowire", Pseudowire(outer, false, Label{Label: 3000, TTL: 64})),
		ether("pseudowire with control word", Pseudowire(outer, true, Label{Label: 3000, TTL: 64})),
		ether("mpls over udp", MPLSUDP(outer, Label{Label: 1000, TTL: 64})),
		ether("vn-tag", VNTag(true, 0, 17)),
		ether("llc/snap", SNAP()),
		ether("nsh", NSH(outer, 77, 255, nil)),
		ether("nsh with context", NSH(outer, 77, 255, make([]byte, 16))),
		ether("arista 64", Arista(AristaUTC, false, now)),
		ether("arista 48", Arista(AristaTAI, true, now)),
		ether("metamako", Metamako(Trailer{Now: now, Device: 7, Port: 3, Flags: 1})),
		ether("metamako and fcs", Metamako(Trailer{Now: now, Device: 7, Port: 3, Flags: 1, NewFCS: true})),
		ether("exablaze", Exablaze(Trailer{Now: now, Device: 7, Port: 3})),
		ether("exablaze and fcs", Exablaze(Trailer{Now: now, Device: 7, Port: 3, NewFCS: true})),
		ether("fcs", FCS()),
		ether("erspan in vxlan", Chain(ERSPAN2(outer, 1, mirror), vxlan)),
		{"sll", LinkSLL, SLL(0)},
		{"sll2", LinkSLL2, SLL2(0, 3)},
		{"raw ip", LinkRaw, RawIP()},
		{"null", LinkNull, Loopback(binary.LittleEndian, 24)},
		{"null, big-endian host", LinkNull, Loopback(binary.BigEndian, 24)},
		{"loop", LinkLoop, Loopback(binary.BigEndian, 24)},
		{"ppi", LinkPPI, PPI()},
		{"erf", LinkERF, func(frame []byte) []byte {
			e := ERF{Time: 1_700_000_000_123_456_789, Type: ERFEthernet, Flags: 4}
			return e.Append(nil, frame)
		}},
	}
}
