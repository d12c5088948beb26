package analysis

import (
	"fmt"
	"net/netip"
	"strings"
)

// Wireshark display filters. Only fields that a stock tshark 4.0 knows are
// used: it has no name for CNP, and lacks FECN and BECN.

// hostFilter selects packets from (what "src") or to ("dst") or either ("addr")
// an address, in the fields that its transport has.
func hostFilter(what, addr, transport string) string {
	if lid, ok := strings.CutPrefix(addr, "lid:"); ok {
		switch what {
		case "src":
			return "infiniband.lrh.slid == " + lid
		case "dst":
			return "infiniband.lrh.dlid == " + lid
		}
		return fmt.Sprintf("(infiniband.lrh.slid == %s || infiniband.lrh.dlid == %s)", lid, lid)
	}
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return ""
	}
	if transport == "rocev1" {
		ip = netip.AddrFrom16(ip.As16())
		switch what {
		case "src":
			return "infiniband.grh.sgid == " + ip.String()
		case "dst":
			return "infiniband.grh.dgid == " + ip.String()
		}
		return fmt.Sprintf("(infiniband.grh.sgid == %s || infiniband.grh.dgid == %s)", ip, ip)
	}
	if ip.Is4() {
		return "ip." + what + " == " + addr
	}
	return "ipv6." + what + " == " + addr
}

// hostsFilter selects the packets between two addresses, both ways.
func hostsFilter(a, b, transport string) string {
	return and(hostFilter("addr", a, transport), hostFilter("addr", b, transport))
}

// flowFilter selects the packets of one flow.
func flowFilter(f *Flow, transport string) string {
	if f.DestQP == nil {
		if f.SrcPort == nil || f.DstPort == nil {
			return hostsFilter(f.SrcIP, f.DstIP, transport)
		}
		return and(hostFilter("src", f.SrcIP, transport), hostFilter("dst", f.DstIP, transport),
			fmt.Sprintf("tcp.srcport == %d", *f.SrcPort), fmt.Sprintf("tcp.dstport == %d", *f.DstPort))
	}
	return and(hostFilter("src", f.SrcIP, transport), hostFilter("dst", f.DstIP, transport),
		fmt.Sprintf("infiniband.bth.destqp == 0x%06x", *f.DestQP))
}

// framesFilter selects packets by number.
func framesFilter(numbers []int64) string {
	var b strings.Builder
	b.WriteString("frame.number in {")
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", n)
	}
	return b.String() + "}"
}

func and(terms ...string) string {
	var list []string
	for _, t := range terms {
		if t != "" {
			list = append(list, t)
		}
	}
	return strings.Join(list, " && ")
}

// isIPv6 tells whether addr is an IPv6 address.
func isIPv6(addr string) bool {
	ip, err := netip.ParseAddr(addr)
	return err == nil && !ip.Is4()
}

// either selects what one of two filters selects.
func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return "(" + a + ") || (" + b + ")"
}
