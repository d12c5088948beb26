package analysis

import (
	"fmt"

	"rdmascope/decode/wire"
)

// contents is what a capture holds beside RDMA, for the one case where that
// matters most: there is no RDMA in it, and the reader wants to know what
// there is instead.
type contents struct {
	byProto  [256]int64 // IP protocol, TCP and UDP apart
	tcpPorts topPorts
	udpPorts topPorts
	ethers   topPorts
	links    topPorts // types of link layers that aren't read
}

// packet counts a packet that is not RDMA.
func (c *contents) packet(p *wire.Packet) {
	switch {
	case p.Has(wire.FlagNet) && p.Kind == wire.KindTCP:
		c.tcpPorts.add(lowerPort(p.SrcPort, p.DstPort))
	case p.Has(wire.FlagNet | wire.FlagPorts):
		c.udpPorts.add(lowerPort(p.SrcPort, p.DstPort))
	case p.Has(wire.FlagNet):
		c.byProto[p.Proto]++
	case p.Has(wire.FlagEth):
		c.ethers.add(p.EtherType)
	case p.Stop == wire.Stop{Layer: wire.LayerLink, Reason: wire.ReasonUnknown}:
		c.links.add(p.Link)
	default:
		c.ethers.add(0)
	}
}

// lowerPort guesses the service side of a conversation.
func lowerPort(a, b uint16) uint16 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (c *contents) add(o *contents) {
	addAll(c.byProto[:], o.byProto[:])
	c.tcpPorts.merge(&o.tcpPorts)
	c.udpPorts.merge(&o.udpPorts)
	c.ethers.merge(&o.ethers)
	c.links.merge(&o.links)
}

// counts names what was seen.
func (c *contents) counts() Counts {
	m := Counts{}
	put := func(name string, n int64) {
		if n > 0 {
			m[name] += n
		}
	}
	c.tcpPorts.each(func(port uint16, n int64) { put(fmt.Sprintf("TCP/%d", port), n) }, func(n int64) { put("TCP/other", n) })
	c.udpPorts.each(func(port uint16, n int64) { put(fmt.Sprintf("UDP/%d", port), n) }, func(n int64) { put("UDP/other", n) })
	c.ethers.each(func(et uint16, n int64) { put(etherName(et), n) }, func(n int64) { put("other", n) })
	c.links.each(func(link uint16, n int64) { put(fmt.Sprintf("link type %d, not read", link), n) }, func(n int64) { put("other link types, not read", n) })
	for proto, n := range c.byProto {
		put(protoName(uint8(proto)), n)
	}
	return m
}

func etherName(et uint16) string {
	switch {
	case et == 0x0806:
		return "ARP"
	case et == 0x88cc:
		return "LLDP"
	case et == 0x8808:
		return "MAC control"
	case et == 0:
		return "not decoded"
	case et < 0x600:
		return "802.3 LLC"
	}
	return fmt.Sprintf("EtherType 0x%04x", et)
}

func protoName(proto uint8) string {
	switch proto {
	case 1:
		return "ICMP"
	case 6:
		return "TCP (no header)"
	case 17:
		return "UDP (no header)"
	case 47:
		return "GRE"
	case 50:
		return "ESP"
	case 58:
		return "ICMPv6"
	case 89:
		return "OSPF"
	}
	return fmt.Sprintf("IP protocol %d", proto)
}

// topPorts counts the first sixteen values it meets by name and the rest
// together. Which come first depends on the capture's order alone.
type topPorts struct {
	used   int
	values [16]uint16
	counts [16]int64
	rest   int64
}

func (t *topPorts) add(v uint16) { t.addN(v, 1) }

func (t *topPorts) addN(v uint16, n int64) {
	for i := range t.used {
		if t.values[i] == v {
			t.counts[i] += n
			return
		}
	}
	if t.used == len(t.values) {
		t.rest += n
		return
	}
	t.values[t.used], t.counts[t.used] = v, n
	t.used++
}

func (t *topPorts) merge(o *topPorts) {
	for i := range o.used {
		t.addN(o.values[i], o.counts[i])
	}
	t.rest += o.rest
}

func (t *topPorts) each(f func(uint16, int64), rest func(int64)) {
	for i := range t.used {
		f(t.values[i], t.counts[i])
	}
	rest(t.rest)
}
