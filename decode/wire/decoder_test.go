package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

// Parts of frames, one string a header.
const (
	macs     = "525400770002 525400770001 "
	ip4ACK   = "4500 0030 1234 4000 40 11 0000 0a4d0001 0a4d0002 "
	udpACK   = "c000 12b7 001c 0000 "
	bthACK   = "11 00 ffff 00 000013 00 1a0b0a "
	aethACK  = "1f 000005 "
	icrcNone = "00000000 "
	ackBody  = ip4ACK + udpACK + bthACK + aethACK + icrcNone
)

func decodeHex(t *testing.T, link uint16, parts ...string) *Packet {
	t.Helper()
	b := unhex(t, parts...)
	return packetOf(Config{SkipICRC: true}, link, b, len(b))
}

// TestLinks has the same acknowledgement behind every link header and
// encapsulation.
func TestLinks(t *testing.T) {
	outer := "4500 0000 0000 0000 40 11 0000 c0a80001 c0a80002 " // IP length 0: to the frame's end
	outerGRE := "4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 "
	for _, c := range []struct {
		name   string
		link   uint16
		frame  string
		vlans  uint8
		encaps string
		id     uint32
	}{
		{"ethernet", LinkEthernet, macs + "0800", 0, "", 0},
		{"vlan", LinkEthernet, macs + "8100 6064 0800", 1, "", 0},
		{"802.1ad over 802.1Q", LinkEthernet, macs + "88a8 6064 8100 2001 0800", 2, "", 0},
		{"old QinQ", LinkEthernet, macs + "9100 6064 0800", 1, "", 0},
		{"sll", LinkLinuxSLL, "0000 0001 0006 5254007700010000 0800", 0, "", 0},
		{"sll with VLAN", LinkLinuxSLL, "0000 0001 0006 5254007700010000 8100 6064 0800", 1, "", 0},
		{"sll2", LinkLinuxSLL2, "0800 0000 00000003 0001 04 06 5254007700010000", 0, "", 0},
		{"sll with LLC", LinkLinuxSLL, "0000 0001 0006 5254007700010000 0004 aaaa03 000000 0800", 0, "snap", 0},
		{"raw", LinkRaw, "", 0, "", 0},
		{"raw 12", LinkRaw12, "", 0, "", 0},
		{"raw 14", LinkRaw14, "", 0, "", 0},
		{"ipv4", LinkIPv4, "", 0, "", 0},
		{"null", LinkNull, "02000000", 0, "", 0},
		{"loop", LinkLoop, "00000002", 0, "", 0},
		{"snap", LinkEthernet, macs + "0038 aaaa03 000000 0800", 0, "snap", 0},
		{"mpls", LinkEthernet, macs + "8847 003e8 0 40 003e9 1 40", 0, "mpls", 1001},
		{"pseudowire", LinkEthernet, macs + "8847 003e8 1 40 " + macs + "0800", 0, "mpls, pseudowire", 1000},
		{"pseudowire with control word", LinkEthernet, macs + "8847 003e8 1 40 00000000" + macs + "0800", 0, "mpls, pseudowire", 1000},
		{"pseudowire, MAC begins like IPv4", LinkEthernet, macs + "8847 003e8 1 40 4c5400770002 525400770001 0800", 0, "mpls, pseudowire", 1000},
		{"pseudowire, MAC begins like IPv6", LinkEthernet, macs + "8847 003e8 1 40 6c5400770002 525400770001 0800", 0, "mpls, pseudowire", 1000},
		{"vxlan", LinkEthernet, macs + "0800" + outer + "c000 12b5 0000 0000 08000000 123456 00" + macs + "0800", 0, "vxlan", 0x123456},
		{"old vxlan port, inner VLAN", LinkEthernet, macs + "0800" + outer + "c000 2118 0000 0000 08000000 123456 00" + macs + "8100 6064 0800", 1, "vxlan", 0x123456},
		{"vxlan gpe with IP", LinkEthernet, macs + "0800" + outer + "c000 12b6 0000 0000 0c000001 123456 00", 0, "vxlan", 0x123456},
		{"vxlan gpe with NSH", LinkEthernet, macs + "0800" + outer + "c000 12b6 0000 0000 0c000004 123456 00 0fc20203 000007ff" + macs + "0800", 0, "vxlan, nsh", 0x123456},
		{"vxlan gpe without next protocol", LinkEthernet, macs + "0800" + outer + "c000 12b6 0000 0000 08000000 123456 00" + macs + "0800", 0, "vxlan", 0x123456},
		{"geneve with options", LinkEthernet, macs + "0800" + outer + "c000 17c1 0000 0000 02 00 6558 123456 00 0102030405060708" + macs + "0800", 0, "geneve", 0x123456},
		{"geneve with IP", LinkEthernet, macs + "0800" + outer + "c000 17c1 0000 0000 00 00 0800 123456 00", 0, "geneve", 0x123456},
		{"mpls over UDP", LinkEthernet, macs + "0800" + outer + "c000 19eb 0000 0000 003e8 1 40", 0, "mpls_udp, mpls", 0},
		{"gre with IP", LinkEthernet, macs + "0800" + outerGRE + "0000 0800", 0, "gre", 0},
		{"gre with key, checksum, sequence", LinkEthernet, macs + "0800" + outerGRE + "b000 6558 12340000 000000aa 00000001" + macs + "0800", 0, "gre", 0xaa},
		{"erspan 1", LinkEthernet, macs + "0800" + outerGRE + "0000 88be" + macs + "0800", 0, "erspan1", 0},
		{"erspan 2", LinkEthernet, macs + "0800" + outerGRE + "1000 88be 00000001 1064 602a 00012345" + macs + "0800", 0, "erspan2", 42},
		{"erspan 3", LinkEthernet, macs + "0800" + outerGRE + "1000 22eb 00000001 2064 602a 89abcdef 1111 8000" + macs + "0800", 0, "erspan3", 42},
		{"erspan 3 with subheader", LinkEthernet, macs + "0800" + outerGRE + "0000 22eb 2064 602a 89abcdef 1111 8001 0c000000 00000000" + macs + "0800", 0, "erspan3", 42},
		{"erspan 3 with IP", LinkEthernet, macs + "0800" + outerGRE + "0000 22eb 2064 602a 89abcdef 1111 0800", 0, "erspan3", 42},
		{"vn-tag", LinkEthernet, macs + "8926 80210007 8100 6064 0800", 1, "vntag", 0x21},
		{"nsh", LinkEthernet, macs + "894f 0fc2 01 01 000007 ff", 0, "nsh", 7},
		{"ip in ip", LinkEthernet, macs + "0800 4500 0000 0000 0000 40 04 0000 c0a80001 c0a80002", 0, "ipip", 0},
		{"arista", LinkEthernet, macs + "d28b 0001 01 10 66575740 075bcd15 0800", 0, "tap_header", 0},
		{"arista 48 bit", LinkEthernet, macs + "d28b 0001 01 20 5740 075bcd15 0800", 0, "tap_header", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := c.frame
			if c.name == "nsh" { // length 2 words, MD type 1 needs 6
				frame = macs + "894f 0f c6 01 01 000007 ff 00000000000000000000000000000000"
			}
			p := decodeHex(t, c.link, frame, ackBody)
			require.Zero(t, p.Stop, p.Stop.String())
			require.Equal(t, KindRoCEv2, p.Kind)
			assert.Equal(t, roce.QPN(0x13), p.RoCE.BTH.DestQP)
			assert.Equal(t, roce.PSN(0x1a0b0a), p.RoCE.BTH.PSN)
			assert.Equal(t, "10.77.0.1", p.Src.String())
			assert.Equal(t, "10.77.0.2", p.Dst.String())
			assert.Equal(t, uint16(0xc000), p.SrcPort)
			assert.Equal(t, uint32(20), p.TransLen)
			assert.Equal(t, c.vlans, p.VLANs)
			assert.Equal(t, c.vlans > 0, p.Has(FlagVLAN))
			if c.vlans > 0 {
				assert.Equal(t, uint16(100), p.VID)
				assert.Equal(t, uint8(3), p.PCP)
			}
			assert.Equal(t, c.encaps, p.Encap.String())
			assert.Equal(t, c.id, p.Encap.IDs[0])
			if p.Has(FlagEth) {
				assert.Equal(t, "52:54:00:77:00:01", p.EthSrc.String())
			}
			_, ok := Find(Tree(p), "infiniband.aeth.msn")
			assert.True(t, ok)
			for n := range p.Data {
				cut := packetOf(Config{}, c.link, p.Data[:n], len(p.Data))
				require.Contains(t, []Reason{ReasonNone, ReasonCut}, cut.Stop.Reason, "cut at %d: %s", n, cut.Stop)
			}
		})
	}
}

func TestDirections(t *testing.T) {
	for packetType, want := range map[string]Dir{"0000": DirIn, "0001": DirIn, "0002": DirIn, "0003": DirUnknown, "0004": DirOut} {
		assert.Equal(t, want, decodeHex(t, LinkLinuxSLL, packetType, "0001 0006 5254007700010000 0800", ackBody).Dir, packetType)
	}
}

// TestStops has one frame for each fault.
func TestStops(t *testing.T) {
	udp := func(length string) string { return "c000 12b7 " + length + " 0000 " }
	for _, c := range []struct {
		name   string
		link   uint16
		frame  string
		stop   Stop
		flags  Flags
		absent Flags
	}{
		{"link type", 9, "00", Stop{LayerLink, ReasonUnknown}, 0, FlagEth},
		{"ethernet", LinkEthernet, macs + "08", Stop{LayerEthernet, ReasonShort}, 0, FlagEth},
		{"vlan", LinkEthernet, macs + "8100 60", Stop{LayerVLAN, ReasonShort}, FlagEth, FlagVLAN},
		{"version", LinkEthernet, macs + "0800 65" + ip4ACK[2:], Stop{LayerIPv4, ReasonVersion}, FlagEth, FlagNet},
		{"header length", LinkEthernet, macs + "0800 44" + ip4ACK[2:], Stop{LayerIPv4, ReasonLength}, FlagEth, FlagNet},
		{"total length", LinkEthernet, macs + "0800 4500 0010" + ip4ACK[9:], Stop{LayerIPv4, ReasonLength}, FlagEth, FlagNet},
		{"UDP length below 8", LinkEthernet, macs + "0800" + ip4ACK + udp("0007") + bthACK + aethACK + icrcNone, Stop{LayerUDP, ReasonLength}, FlagNet | FlagPorts, FlagBTH},
		{"UDP length above IP's", LinkEthernet, macs + "0800" + ip4ACK + udp("0020") + bthACK + aethACK + icrcNone, Stop{LayerUDP, ReasonLength}, FlagBTH, 0},
		{"UDP length without room for the BTH", LinkEthernet, macs + "0800" + ip4ACK + udp("0010") + bthACK + aethACK + icrcNone, Stop{LayerBTH, ReasonShort}, FlagPorts, FlagBTH},
		{"no room for the AETH", LinkEthernet, macs + "0800" + ip4ACK + udp("0018") + bthACK + aethACK + icrcNone, Stop{LayerExt, ReasonShort}, FlagBTH, 0},
		{"transport version", LinkEthernet, macs + "0800" + ip4ACK + udpACK + "11 01" + bthACK[5:] + aethACK + icrcNone, Stop{LayerBTH, ReasonVersion}, FlagBTH, 0},
		{"opcode", LinkEthernet, macs + "0800" + ip4ACK + udpACK + "1f" + bthACK[2:] + aethACK + icrcNone, Stop{LayerBTH, ReasonUnknown}, FlagBTH, 0},
		{"pad", LinkEthernet, macs + "0800" + ip4ACK + udpACK + "11 10" + bthACK[5:] + aethACK + icrcNone, Stop{LayerBTH, ReasonPadding}, FlagBTH, 0},
		{"hidden cut", LinkEthernet, macs + "0800 4500 0130" + ip4ACK[9:] + "c000 12b7 011c 0000 04" + bthACK[2:], Stop{}, FlagBTH | FlagHiddenCut, FlagCut},
		{"hidden cut in a header", LinkEthernet, macs + "0800 4500 0130" + ip4ACK[9:] + "c000 12b7 011c 0000 06" + bthACK[2:] + "0000", Stop{LayerExt, ReasonCut}, FlagBTH | FlagHiddenCut, FlagCut},
		{"later fragment", LinkEthernet, macs + "0800 4500 0030 1234 0001" + ip4ACK[19:] + udpACK + bthACK + aethACK + icrcNone, Stop{}, FlagFragment | FlagLaterFragment | FlagNet, FlagPorts},
		{"first fragment", LinkEthernet, macs + "0800 4500 0030 1234 2000" + ip4ACK[19:] + "c000 12b7 041c 0000 04" + bthACK[2:] + aethACK + icrcNone, Stop{}, FlagFragment | FlagBTH, FlagLaterFragment},
		{"TCP offset", LinkEthernet, macs + "0800 4500 0028 0000 4000 40 06 0000 0a4d0001 0a4d0002 1234 4823 00000001 00000002 40 10 ffff 0000 0000", Stop{LayerTCP, ReasonLength}, FlagPorts, 0},
		{"PFC to a wrong address", LinkEthernet, macs + "8808 0101 0008" + zeros(42), Stop{LayerMACControl, ReasonAddress}, FlagEth, 0},
		{"PFC with a wrong vector", LinkEthernet, "0180c2000001 525400770001 8808 0101 0108" + zeros(42), Stop{LayerMACControl, ReasonVector}, FlagEth, 0},
		{"PFC too short", LinkEthernet, "0180c2000001 525400770001 8808 0101 0008" + zeros(8), Stop{LayerMACControl, ReasonShort}, FlagEth, 0},
		{"PAUSE to a wrong address", LinkEthernet, macs + "8808 0001 0008" + zeros(42), Stop{LayerMACControl, ReasonAddress}, FlagEth, 0},
		{"MAC control", LinkEthernet, "0180c2000001 525400770001 8808 0002", Stop{LayerMACControl, ReasonUnknown}, FlagEth, 0},
		{"GRE version", LinkEthernet, macs + "0800 4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 0001 880b", Stop{LayerGRE, ReasonUnknown}, FlagNet, 0},
		{"ERSPAN version", LinkEthernet, macs + "0800 4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 1000 88be 00000000 7000000000000000", Stop{LayerERSPAN, ReasonUnknown}, FlagNet, 0},
		{"ERSPAN frame type", LinkEthernet, macs + "0800 4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 0000 22eb 20000000 00000000 0000 1c00", Stop{LayerERSPAN, ReasonUnknown}, FlagNet, 0},
		{"GENEVE version", LinkEthernet, macs + "0800 4500 0000 0000 0000 40 11 0000 c0a80001 c0a80002 c000 17c1 0000 0000 4000 6558 000000 00", Stop{LayerGENEVE, ReasonUnknown}, FlagNet, 0},
		{"NSH length", LinkEthernet, macs + "894f 0fc1 01 01 000007 ff", Stop{LayerNSH, ReasonLength}, FlagEth, 0},
		{"MPLS payload", LinkEthernet, macs + "8847 003e8 1 40 1000000000000000000000000000", Stop{LayerMPLS, ReasonUnknown}, FlagEth, 0},
		{"GRH version", LinkEthernet, macs + "8915 40000000 0014 1b 40 " + zeros(32) + bthACK + aethACK + icrcNone, Stop{LayerGRH, ReasonVersion}, FlagEth, FlagBTH},
		{"GRH next header", LinkEthernet, macs + "8915 60000000 0014 11 40 " + zeros(32) + bthACK + aethACK + icrcNone, Stop{LayerGRH, ReasonUnknown}, FlagNet, FlagBTH},
		{"LRH version", LinkInfiniBand, "0132 0011 0007 0022" + bthACK + aethACK + icrcNone, Stop{LayerLRH, ReasonVersion}, 0, FlagBTH},
		{"LRH length", LinkInfiniBand, "0032 0011 0005 0022" + bthACK + aethACK + icrcNone, Stop{LayerLRH, ReasonLength}, 0, FlagBTH},
		{"LRH raw", LinkInfiniBand, "0030 0011 0007 0022" + bthACK + aethACK + icrcNone, Stop{LayerLRH, ReasonUnknown}, FlagNet, FlagBTH},
		{"raw version", LinkRaw, "00", Stop{LayerIPv4, ReasonVersion}, 0, FlagNet},
		{"TTag", LinkEthernet, macs + "8988 000000000000", Stop{LayerTapHeader, ReasonUnknown}, FlagEth, 0},
		{"Gigamon", LinkEthernet, macs + "22e5 000000000000", Stop{LayerTapHeader, ReasonUnknown}, FlagEth, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := decodeHex(t, c.link, c.frame)
			assert.Equal(t, c.stop.String(), p.Stop.String())
			assert.Equal(t, c.flags, p.Flags&c.flags, "flags that must be set")
			assert.Zero(t, p.Flags&c.absent, "flags that must not be set")
			assert.NotPanics(t, func() { Tree(p); _ = Summary(p) })
		})
	}
}

func zeros(n int) string {
	s := ""
	for range n {
		s += "00"
	}
	return s
}

func TestFirstFragment(t *testing.T) {
	// 1024 octets of UDP, of which this fragment has the first 28; a trailer
	// follows that isn't part of it.
	p := decodeHex(t, LinkEthernet, macs, "0800 4500 0030 1234 2000", ip4ACK[19:], "c000 12b7 0400 0000 04", bthACK[2:], aethACK, icrcNone, "eeeeeeee")
	assert.Equal(t, uint32(1024-8), p.TransLen)
	assert.Equal(t, 1024-8-12-4, p.RoCE.PayloadLen)
	assert.Equal(t, unhex(t, aethACK, icrcNone), p.Payload())
	assert.Equal(t, roce.ICRCUncheckable, p.ICRC)
}

func TestIPv6Extensions(t *testing.T) {
	const ip6 = "6a0abcde 0000 %s 3f fd770000000000000000000000000001 fd770000000000000000000000000002 "
	head := func(next string) string { return "6a0abcde 0000 " + next + ip6[len("6a0abcde 0000 %s"):] }
	tail := udpACK + bthACK + aethACK + icrcNone
	for name, c := range map[string]struct {
		frame string
		kind  Kind
		flags Flags
	}{
		"none":            {head("11") + tail, KindRoCEv2, FlagBTH},
		"hop by hop":      {head("00") + "11 00 010400000000" + tail, KindRoCEv2, FlagBTH | FlagIPOptions},
		"two":             {head("3c") + "2b 01 0104000000000000000000000000" + "11 00 000000000000" + tail, KindRoCEv2, FlagBTH | FlagIPOptions},
		"AH":              {head("33") + "11 01 0000 00000001" + "00000001" + tail, KindRoCEv2, FlagBTH | FlagIPOptions},
		"atomic fragment": {head("2c") + "11 00 0000 00000001" + tail, KindRoCEv2, FlagBTH},
		"first fragment":  {head("2c") + "11 00 0001 00000001" + tail, KindRoCEv2, FlagBTH | FlagFragment},
		"later fragment":  {head("2c") + "11 00 0009 00000001" + tail, KindOther, FlagFragment | FlagLaterFragment},
		"no next header":  {head("3b") + tail, KindOther, FlagNet},
	} {
		t.Run(name, func(t *testing.T) {
			p := decodeHex(t, LinkIPv6, c.frame)
			assert.Zero(t, p.Stop, p.Stop.String())
			assert.Equal(t, c.kind, p.Kind)
			assert.Equal(t, c.flags, p.Flags&c.flags)
			assert.Equal(t, uint8(0xa0), p.TOS)
			assert.Equal(t, uint8(0x3f), p.TTL)
			assert.Equal(t, "fd77::1", p.Src.String())
			Tree(p)
		})
	}
}

func TestRoCEPorts(t *testing.T) {
	frame := unhex(t, macs, "0800", ip4ACK, "12b7 12b8 001c 0000", bthACK, aethACK, icrcNone)
	assert.Equal(t, KindOther, packetOf(Config{}, LinkEthernet, frame, len(frame)).Kind, "the source port says nothing")
	p := packetOf(Config{RoCEPorts: []uint16{4792}}, LinkEthernet, frame, len(frame))
	assert.Equal(t, KindRoCEv2, p.Kind)
	_, ok := Find(Tree(p), "infiniband.bth.psn")
	assert.True(t, ok, "the tree knows the port, too")
}

func TestNesting(t *testing.T) {
	for name, unit := range map[string]string{"vlan": "6064 8100", "mpls": "003e8 0 40", "ip": ""} {
		frame := macs + map[string]string{"vlan": "8100", "mpls": "8847", "ip": "0800"}[name]
		for range 500 {
			if name == "ip" {
				unit = "4500 0000 0000 0000 40 04 0000 c0a80001 c0a80002 "
			}
			frame += unit
		}
		p := decodeHex(t, LinkEthernet, frame)
		assert.Equal(t, ReasonDepth, p.Stop.Reason, name)
		Tree(p)
	}
}

func TestFlags(t *testing.T) {
	frame := func(parts ...string) *Packet { return decodeHex(t, LinkEthernet, parts...) }
	assert.True(t, frame("525400770001 525400770001 0800", ackBody).Has(FlagMACSame))
	assert.False(t, frame(macs, "0800", ackBody).Has(FlagMACSame))
	// The inner frame's addresses are the ones that count.
	assert.False(t, frame("525400770001 525400770001 0800 4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 0000 88be", macs, "0800", ackBody).Has(FlagMACSame))
	assert.False(t, frame(macs, "0800", ackBody, "").Has(FlagTrailer))
	assert.True(t, frame(macs, "0800", ackBody, "f275954c").Has(FlagTrailer), "FCS")
	assert.True(t, frame(macs, "0800 4500 0030 1234 4000 40 11 13ee", ip4ACK[30:], udpACK, bthACK, aethACK, icrcNone).Has(FlagIPChecksumBad))
	assert.False(t, frame(macs, "0800 4500 0030 1234 4000 40 11 13ed", ip4ACK[30:], udpACK, bthACK, aethACK, icrcNone).Has(FlagIPChecksumBad))
	tcp := "4500 0028 0000 4000 40 06 0000 0a4d0001 0a4d0002 1234 4823 00000001 00000002 50 10 ffff 0000 0000"
	assert.False(t, frame(macs, "0800", tcp, "000000000000").Has(FlagTrailer), "padding of a short frame")
	assert.False(t, frame(macs, "8100 0001 0800", tcp, "000000000000").Has(FlagTrailer), "padded before the tag was put in")
	assert.True(t, frame(macs, "0800", tcp, "000000000000 f275954c").Has(FlagTrailer), "padding and FCS")
	assert.True(t, frame(macs, "0800 4500 0000", ip4ACK[9:], udpACK, bthACK, aethACK, icrcNone).Has(FlagSuperFrame))
	p := frame(macs, "0800 4500 2ee0", ip4ACK[9:], "c000 12b7 2ecc 0000", bthACK, aethACK, zeros(12000-20-8-16))
	assert.True(t, p.Has(FlagSuperFrame|FlagMulti))
	assert.Equal(t, KindTCP, frame(macs, "0800", tcp).Kind)
}

// opcodeCarriers are the ways in which a transport packet can come: what stands
// before it, and how its length is told.
var opcodeCarriers = []struct {
	name   string
	link   uint16
	head   string
	length func(head []byte, n int)
	unit   int // its length is told in these
}{
	{"RoCEv2", LinkEthernet, macs + "0800" + ip4ACK + udpACK, func(b []byte, n int) {
		b[16], b[17] = byte((28+n)>>8), byte(28+n)
		b[38], b[39] = byte((8+n)>>8), byte(8+n)
	}, 1},
	{"RoCEv2 over IPv6", LinkRaw, "60000000 0000 11 40 fd770000000000000000000000000001 fd770000000000000000000000000002" + udpACK, func(b []byte, n int) {
		b[4], b[5] = byte((8+n)>>8), byte(8+n)
		b[44], b[45] = byte((8+n)>>8), byte(8+n)
	}, 1},
	{"RoCEv1", LinkEthernet, macs + "8915 60000000 0000 1b 40 fe800000000000000000000000000001 fe800000000000000000000000000002",
		func(b []byte, n int) { b[18], b[19] = byte(n>>8), byte(n) }, 1},
	{"InfiniBand", LinkInfiniBand, "0002 0011 0000 0022", func(b []byte, n int) { b[4], b[5] = byte((8+n)/4>>8), byte((8+n)/4) }, 4},
}

// TestOpcodes runs all opcodes with all pads and lengths over every carrier:
// what is decoded must follow from the opcode table, and nothing may panic.
func TestOpcodes(t *testing.T) {
	d := NewDecoder(Config{})
	for _, c := range opcodeCarriers {
		buf := append(unhex(t, c.head), make([]byte, 256)...)
		bth := len(buf) - 256
		for op := range 256 {
			info := roce.Opcode(op).Info()
			for pad := range 4 {
				for n := 0; n <= 128; n += c.unit {
					c.length(buf, n)
					buf[bth], buf[bth+1], buf[bth+7] = byte(op), byte(pad<<4), 0x11 // no queue pair of management
					for _, captured := range [...]int{bth + n, bth + n/2} {
						p := Packet{Data: buf[:captured:captured], Wire: uint32(bth + n), Link: c.link}
						d.Decode(&p)
						if c.link == LinkInfiniBand && n < roce.BTHLen+roce.ICRCLen {
							continue // its own length field says that it can't be
						}
						checkOpcode(t, &p, info, n, pad, captured == bth+n)
					}
				}
			}
		}
	}
}

func checkOpcode(t *testing.T, p *Packet, info *roce.OpcodeInfo, n, pad int, whole bool) {
	payload := n - roce.BTHLen - int(info.ExtLen) - pad - roce.ICRCLen
	switch {
	case n < roce.BTHLen+roce.ICRCLen:
		if p.Stop != (Stop{LayerBTH, ReasonShort}) {
			t.Fatalf("opcode %#x pad %d length %d: %s", p.Data, pad, n, p.Stop)
		}
	case !whole:
		if r := p.Stop.Reason; payload >= 0 && info.Known && r != ReasonNone && r != ReasonCut {
			t.Fatalf("opcode %s pad %d length %d, cut: %s", p.RoCE.BTH.Opcode.String(), pad, n, p.Stop)
		}
	case !info.Known:
		if p.Stop != (Stop{LayerBTH, ReasonUnknown}) || !p.Has(FlagBTH) {
			t.Fatalf("opcode %s pad %d length %d: %s", p.RoCE.BTH.Opcode.String(), pad, n, p.Stop)
		}
	case payload < 0:
		if p.Stop.Reason == ReasonNone || p.Stop.Reason == ReasonCut {
			t.Fatalf("opcode %s pad %d length %d: %s", p.RoCE.BTH.Opcode.String(), pad, n, p.Stop)
		}
	default:
		if p.Stop.Reason != ReasonNone || p.RoCE.PayloadLen != payload || len(p.Payload()) != payload {
			t.Fatalf("opcode %s pad %d length %d: %s, payload %d", p.RoCE.BTH.Opcode.String(), pad, n, p.Stop, p.RoCE.PayloadLen)
		}
	}
	if p.RoCE.PayloadLen < 0 || p.RoCE.PayloadCaptured > p.RoCE.PayloadLen {
		t.Fatalf("payload %d of %d", p.RoCE.PayloadCaptured, p.RoCE.PayloadLen)
	}
}

func TestMADClass(t *testing.T) {
	for _, v := range vectors(t) {
		p := packetOf(Config{}, uint16(v.LinkType), v.frame(t), v.wireLen(t))
		class, ok := MADClass(p)
		want := p.RoCE.BTH.DestQP == roce.QPNGSI && p.Has(FlagBTH)
		assert.Equal(t, want, ok, v.Name)
		if ok {
			assert.Equal(t, uint8(7), class, v.Name)
		}
	}
}

// TestMADStops: what a management datagram contradicts is told by its layer.
func TestMADStops(t *testing.T) {
	const header = "6400ffff0000000180000001" + "80010000 00000001" // BTH to QP 1, DETH
	frame := func(mad string) []byte {
		b := unhex(t, macs, "0800", ip4ACK, udpACK, header, mad, icrcNone)
		n := len(b) - 14
		b[16], b[17] = byte(n>>8), byte(n)
		b[38], b[39] = byte((n-20)>>8), byte(n-20)
		return b
	}
	mad := "01070203" + zeros(12) + "00100000" + zeros(4)
	for _, c := range []struct {
		name string
		mad  string
		cut  int // octets of the capture that are missing
		want Stop
	}{
		{"whole", mad + zeros(232), 0, Stop{}},
		{"its data cut", mad + zeros(232), 100, Stop{}},
		{"its header cut", mad + zeros(232), 4 + 232 + 10, Stop{LayerMAD, ReasonCut}},
		{"a header short of 256 octets", mad + zeros(20), 0, Stop{LayerMAD, ReasonShort}},
		{"no room for a header", "01070203", 0, Stop{LayerMAD, ReasonShort}},
		{"base version of OPA", "80" + mad[2:] + zeros(232), 0, Stop{LayerMAD, ReasonUnknown}},
	} {
		b := frame(c.mad)
		p := packetOf(Config{SkipICRC: true}, LinkEthernet, b[:len(b)-c.cut], len(b))
		assert.Equal(t, c.want, p.Stop, c.name)
		assert.True(t, p.Has(FlagBTH), c.name)
	}
}
