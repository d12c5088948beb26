package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// writeNoRDMA explains a capture without RDMA: what is in it, and why what
// was expected is not. An empty capture is never called healthy.
func writeNoRDMA(p *printer, s *analysis.Snapshot) {
	c := &s.Capture
	p.section("NO RDMA IN THIS CAPTURE", "")
	if c.Packets == 0 {
		p.paragraph(1, plain, "There is not one packet in it: nothing was analysed, and nothing can be said about the network. Was the capture stopped before traffic came, did its filter let nothing through, or was it taken on the wrong interface?")
		return
	}
	saw := ""
	if control := pauseFrames(s); control > 0 {
		saw = fmt.Sprintf(" %s of flow control are there, shown below.", plural(control, "frame"))
	}
	p.paragraph(1, plain, fmt.Sprintf("Of %s none is RoCEv2 (UDP to port 4791), RoCEv1 (EtherType 0x8915), InfiniBand or iWARP, and none belongs to RDMA connection management.%s Nothing can be said about RDMA on this network.",
		plural(c.Packets, "packet"), saw))
	if line := contents(c); line != "" {
		p.paragraph(1, plain, "What is in it: "+line+".")
	}
	p.line()
	p.paragraph(1, heading, "Likely causes, and what to do:")
	for _, cause := range noRDMACauses(s) {
		p.labelled(1, "• ", plain, cause)
	}
}

// contents lists the kinds of packets, the most frequent first.
func contents(c *analysis.Capture) string {
	const most = 8
	names := slices.SortedFunc(maps.Keys(c.Contents), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Contents[b], c.Contents[a]), cmp.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d kinds more", len(names)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s)", name, count(c.Contents[name]), share(c.Contents[name], c.Packets)))
	}
	return strings.Join(parts, ", ")
}

func noRDMACauses(s *analysis.Snapshot) []string {
	causes := []string{
		"Kernel bypass: the NIC sends and receives RDMA itself, so an ordinary capture on the host's interface does not see it. Use the NIC's sniffer: tcpdump on the RDMA device (rdma link names it) with a libpcap that has rdmasniff, or a switch's mirror port.",
		"Port not mirrored: the mirror session copies another port, one direction only, or not the data plane (a capture on a switch's own CPU port never sees it).",
		"Other UDP port: RoCEv2 on a port other than 4791 is found with --roce-port PORT.",
		"Encapsulated: traffic inside a tunnel or mirror header (VXLAN, GRE, ERSPAN) that is not opened here. See the list above for UDP 4789, GRE and the like.",
		"It really is TCP: the application fell back to sockets, or no RDMA ran while the capture did.",
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capture.Contents)) {
		if strings.HasPrefix(name, "link type ") {
			causes = append([]string{"The frames of the file have a link layer that is not read here (" + strings.TrimSuffix(name, ", not read") + "; tcpdump.org/linktypes.html names it). Capture on an Ethernet interface; where the file only says so wrongly: editcap -T ether IN OUT."}, causes...)
		}
		if strings.Contains(name, "18515") {
			// The port on which perftest exchanges QPNs before it starts.
			return append([]string{"There is TCP on port 18515, where perftest exchanges its queue pairs: RDMA did run, and this capture did not see the offloaded path."}, causes...)
		}
	}
	return causes
}
