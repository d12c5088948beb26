package wire

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// FuzzAgainstGopacket holds the scanner against gopacket's layers, which were
// written by others: both must say the same of the link, IP, UDP and TCP headers
// of every frame without tunnels. Where they differ on purpose, deliberate says
// why.
func FuzzAgainstGopacket(f *testing.F) {
	for _, v := range vectors(f) {
		if v.LinkType == LinkEthernet {
			f.Add(v.frame(f))
		}
	}
	for _, b := range benchFrames(f) {
		f.Add(b)
	}
	f.Add(unhex(f, macs, "8100 6064 86dd 60000000 0024 00 40", zeros(32), "1100010400000000", "c000 12b7 001c 0000", bthACK, aethACK, icrcNone))
	f.Fuzz(func(t *testing.T, b []byte) { againstGopacket(t, b) })
}

func TestAgainstGopacket(t *testing.T) {
	for _, v := range vectors(t) {
		if v.LinkType == LinkEthernet {
			againstGopacket(t, v.frame(t))
		}
	}
}

func againstGopacket(t *testing.T, b []byte) {
	b = append(make([]byte, 0, len(b)), b...)
	b = b[:len(b):len(b)]
	p := packetOf(Config{SkipICRC: true}, LinkEthernet, b, len(b))
	if p.Encap.N > 0 || insideTunnel(p.Stop.Layer) {
		return // the innermost headers are ours, the outermost gopacket's
	}
	g := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	eth, ok := g.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	require.Equal(t, ok, p.Has(FlagEth), "Ethernet")
	if !ok {
		return
	}
	require.Equal(t, net.HardwareAddr(p.EthDst[:]), eth.DstMAC)
	require.Equal(t, net.HardwareAddr(p.EthSrc[:]), eth.SrcMAC)
	if deliberateLink(p, b) {
		return
	}
	againstVLANs(t, p, g)
	againstIP(t, p, g, b)
}

func insideTunnel(l Layer) bool {
	switch l {
	case LayerMPLS, LayerGRE, LayerERSPAN, LayerNSH, LayerVNTag, LayerTapHeader, LayerLLC:
		return true
	}
	return false
}

// deliberateLink names what only one of both follows behind the MAC addresses:
// the old QinQ EtherType, and RoCEv1's GRH, which has the look of IPv6. An 802.3
// length that has more than the frame is an error to gopacket, and so is one
// with tags in the LLC frame.
func deliberateLink(p *Packet, b []byte) bool {
	off := 12
	for off+2 <= len(b) {
		switch et := be16(b, off); et {
		case etherOldQinQ, etherRoCEv1:
			return true
		case 0x880b, 0x8863, 0x8864, etherTEB, etherERSPAN2: // only gopacket opens PPP, PPPoE and these two, which we expect in GRE
			return true
		case etherVLAN, etherQinQ:
			off += 4
		default:
			return et <= maxLength
		}
	}
	return false
}

func againstVLANs(t *testing.T, p *Packet, g gopacket.Packet) {
	n := 0
	for _, l := range g.Layers() {
		if t := l.LayerType(); t == layers.LayerTypeIPv4 || t == layers.LayerTypeIPv6 {
			break // what follows is in a tunnel that gopacket opens and we don't
		}
		tag, ok := l.(*layers.Dot1Q)
		if !ok {
			continue
		}
		if n++; n == 1 {
			require.Equal(t, p.VID, tag.VLANIdentifier)
			require.Equal(t, p.PCP, tag.Priority)
		}
	}
	if p.Stop.Reason != ReasonDepth { // gopacket follows tags without end
		require.Equal(t, n, int(p.VLANs), "tags")
	}
}

func againstIP(t *testing.T, p *Packet, g gopacket.Packet, b []byte) {
	var proto uint8
	network := g.NetworkLayer()
	if network != nil && len(network.LayerContents()) == 0 {
		network = nil // gopacket adds what it failed to decode
	}
	switch ip := network.(type) {
	case nil:
		if p.Has(FlagNet) {
			require.True(t, deliberateIP(p, b), "only we see IP: %s", p.Stop)
		}
		return
	case *layers.IPv4:
		if bothRefuse(p, g, 4, ip.Version) {
			return
		}
		require.True(t, p.Has(FlagNet))
		require.Equal(t, uint8(4), p.IPVersion)
		require.Equal(t, addr(ip.SrcIP), p.Src.IP())
		require.Equal(t, addr(ip.DstIP), p.Dst.IP())
		require.Equal(t, ip.TOS, p.TOS)
		require.Equal(t, ip.TTL, p.TTL)
		require.Equal(t, ip.Id, p.IPID)
		require.Equal(t, ip.FragOffset != 0, p.Has(FlagLaterFragment))
		require.Equal(t, ip.FragOffset != 0 || ip.Flags&layers.IPv4MoreFragments != 0, p.Has(FlagFragment))
		proto = uint8(ip.Protocol)
		require.Equal(t, proto, p.Proto)
	case *layers.IPv6:
		if bothRefuse(p, g, 6, ip.Version) {
			return
		}
		require.True(t, p.Has(FlagNet))
		require.Equal(t, uint8(6), p.IPVersion)
		require.Equal(t, addr(ip.SrcIP), p.Src.IP())
		require.Equal(t, addr(ip.DstIP), p.Dst.IP())
		require.Equal(t, ip.TrafficClass, p.TOS)
		require.Equal(t, ip.HopLimit, p.TTL)
	}
	againstTransport(t, p, g, b)
}

// addr makes IPv4 and IPv6 addresses comparable with ours, which have IPv4
// mapped into IPv6.
func addr(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// bothRefuse tells whether neither goes on behind an IP header. Only the version
// is a fault to us alone: gopacket doesn't look at it.
func bothRefuse(p *Packet, g gopacket.Packet, want, version uint8) bool {
	if version != want {
		return p.Stop.Reason == ReasonVersion || p.Stop.Reason == ReasonDepth
	}
	ours := p.Stop.Layer == LayerIPv4 || p.Stop.Layer == LayerIPv6 || p.Stop.Reason == ReasonDepth
	return ours && (g.ErrorLayer() != nil || p.Stop.Reason == ReasonDepth)
}

// deliberateIP names the datagrams that gopacket refuses and we follow as far
// as they go: IPv4 options that are malformed (they don't matter here), and IPv6
// with payload length 0 and no jumbogram option, as offloading leaves it.
func deliberateIP(p *Packet, b []byte) bool {
	return p.IPVersion == 4 && p.Has(FlagIPOptions) || p.IPVersion == 6 && be16(b, int(p.NetOff)+4) == 0
}

func againstTransport(t *testing.T, p *Packet, g gopacket.Packet, b []byte) {
	if p.IPVersion == 4 && p.Proto != protoTCP && p.Proto != protoUDP {
		require.False(t, p.Has(FlagPorts))
		return // gopacket follows IPv6's extension headers behind IPv4, too
	}
	transport := g.TransportLayer()
	if transport != nil && len(transport.LayerContents()) == 0 {
		transport = nil
	}
	switch l := transport.(type) {
	case nil:
		if p.Has(FlagPorts) {
			require.True(t, deliberateTransport(p, b), "only we see ports: %s", p.Stop)
		}
	case *layers.UDP:
		if deliberateExtension(p) {
			return
		}
		require.True(t, p.Has(FlagPorts), "UDP")
		require.Equal(t, uint16(l.SrcPort), p.SrcPort)
		require.Equal(t, uint16(l.DstPort), p.DstPort)
		if p.Stop == (Stop{LayerUDP, ReasonLength}) && l.Length < 8 || p.Has(FlagSuperFrame) {
			return
		}
		againstPayload(t, p, l.LayerPayload(), b)
	case *layers.TCP:
		if deliberateExtension(p) {
			return
		}
		require.True(t, p.Has(FlagPorts), "TCP")
		require.Equal(t, uint16(l.SrcPort), p.SrcPort)
		require.Equal(t, uint16(l.DstPort), p.DstPort)
		require.Equal(t, l.Seq, p.TCP.Seq)
		require.Equal(t, l.Ack, p.TCP.Ack)
		require.Equal(t, l.Window, p.TCP.Window)
		require.Equal(t, l.DataOffset*4, p.TCP.HeaderLen)
		require.Equal(t, l.SYN, p.TCP.Flags&TCPSyn != 0)
		require.Equal(t, l.FIN, p.TCP.Flags&TCPFin != 0)
		require.Equal(t, l.CWR, p.TCP.Flags&TCPCwr != 0)
		if !p.Has(FlagSuperFrame) {
			againstPayload(t, p, l.LayerPayload(), b)
		}
	}
}

// deliberateTransport names what hides UDP and TCP from gopacket: it decodes no
// fragment, not even the first or an atomic one; no extension headers but four;
// no TCP header whose options are malformed, and nothing behind IPv4 options
// that are.
func deliberateTransport(p *Packet, b []byte) bool {
	return p.Has(FlagFragment) || p.Kind == KindTCP && p.TCP.HeaderLen != 20 || p.Has(FlagIPOptions) ||
		p.Stop.Reason == ReasonLength || p.Has(FlagSuperFrame) || p.Kind == KindTCP && p.Stop.Reason == ReasonCut
}

// deliberateExtension: gopacket bounds neither the number of headers nor asks
// whether what follows a hop-by-hop header fits into the datagram.
func deliberateExtension(p *Packet) bool {
	return p.Stop.Layer == LayerIPv6 || p.Stop == (Stop{LayerUDP, ReasonShort}) || p.Stop == (Stop{LayerTCP, ReasonShort}) || p.Has(FlagSuperFrame)
}

// againstPayload compares where the payload begins and how much of it was
// captured.
func againstPayload(t *testing.T, p *Packet, payload, b []byte) {
	want := min(int(p.TransLen), max(0, len(b)-int(p.TransOff)))
	if p.Kind == KindRoCEv2 || p.Kind == KindTCP || p.TransOff != 0 {
		if p.IPVersion == 6 && b[p.NetOff+6] == protoHopByHop {
			// gopacket counts the payload length from behind a hop-by-hop header.
			require.GreaterOrEqual(t, len(payload), want)
		} else {
			require.Len(t, payload, want, "payload")
		}
		if len(payload) > 0 {
			require.Equal(t, cap(b)-cap(payload), int(p.TransOff), "offset of the payload")
		}
	}
}
