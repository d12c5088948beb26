package analysis

import (
	"fmt"

	"rdmascope/analysis/iwarp"
)

// eachStream calls f for every flow of an iWARP connection.
func eachStream(s *Snapshot, f func(*Connection, *Flow)) {
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.Transport != "iwarp" {
			continue
		}
		for k := range c.Flows {
			f(c, &c.Flows[k])
		}
	}
}

// streamName says which direction of a stream in a sentence.
func streamName(fl *Flow) string {
	return fmt.Sprintf("%s:%d → %s:%d", fl.SrcIP, orZero(fl.SrcPort), fl.DstIP, orZero(fl.DstPort))
}

// streamFinding is a finding about one direction of an iWARP connection.
func streamFinding(c *Connection, fl *Flow) Finding {
	n := flowFinding(c, fl)
	n.Subject.SrcPort, n.Subject.DstPort = fl.SrcPort, fl.DstPort
	if orZero(fl.UnseenBytes) > 0 {
		n.Confidence = ConfidenceMedium
	}
	return n
}

var ruleIWARPRetransmission = Rule{
	Name:     "iwarp.retransmission",
	Severity: SeverityWarning,
	Title:    "TCP had to send segments again",
	Meaning: "iWARP bears loss, and pays in latency: every message behind the missing segment waits until it is filled. " +
		"The report lists each gap, what it held and how long it blocked.",
	Advice:     "look at drops on the side named; head-of-line delay is the price, the holes of the JSON report show it one by one",
	Thresholds: []Threshold{{"segments", 1, "retransmitted segments of a direction"}},
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			resent := orZero(fl.Retransmitted)
			if resent == 0 || Decimal(resent) < f.limit("segments") {
				return
			}
			n := streamFinding(c, fl)
			n.weight = resent
			n.Metrics["retransmitted_segments"] = Decimal(resent)
			up, down := orZero(fl.LostUpstream), orZero(fl.LostDownstream)
			n.Metrics["lost_upstream_packets"], n.Metrics["lost_downstream_packets"] = Decimal(up), Decimal(down)
			what := fmt.Sprintf("%s: %s of %s", streamName(fl), thousands(resent), plural(fl.TCP.DataSegments, "data segment"))
			if up+down > 0 {
				what += fmt.Sprintf("; at least %s lost %s", plural(up+down, "segment"), lostWhere(up, down))
			}
			if longest, delayed := worstHole(fl); longest > 0 {
				n.Metrics["blocked_ns"] = Decimal(longest)
				what += fmt.Sprintf("; the longest gap blocked the stream for %s and %s behind it", milliseconds(longest), plural(delayed, "message"))
			}
			n.Meaning = Text(what)
			holeEvidence(&n, fl)
			f.add(n)
		})
	},
}

func worstHole(fl *Flow) (longest, delayed int64) {
	for i := range fl.Holes {
		if b := orZero(fl.Holes[i].BlockedNS); b > longest {
			longest, delayed = b, orZero(fl.Holes[i].DelayedMessages)
		}
	}
	return longest, delayed
}

// holeEvidence names the packets that showed gaps.
func holeEvidence(n *Finding, fl *Flow) {
	for i := range fl.Holes {
		h := &fl.Holes[i]
		if (h.Lost == "upstream" || h.Lost == "downstream") && orZero(h.FirstPacket) != 0 && len(n.Packets) < maxEvidence {
			n.Packets = append(n.Packets, *h.FirstPacket)
		}
	}
	if len(n.Packets) > 0 {
		n.Filters.Wireshark = Text(framesFilter(n.Packets))
	}
}

var ruleIWARPTimeout = Rule{
	Name:     "iwarp.timeout",
	Severity: SeverityWarning,
	Title:    "TCP waited for its retransmission timer",
	Meaning:  "Nothing told the sender of the loss, so it sat still until its timer ran out: 200 ms or more in which the stream stood.",
	Advice:   "loss of the last segment of a burst, or of many at once; check that SACK and tail loss probes are on",
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			t := orZero(fl.TCP.Timeouts)
			if t == 0 {
				return
			}
			n := streamFinding(c, fl)
			n.weight = t
			n.causes = []string{"iwarp.retransmission"}
			n.Metrics["timeouts"] = Decimal(t)
			n.Meaning = Text(fmt.Sprintf("%s: %s", streamName(fl), plural(t, "timeout")))
			holeEvidence(&n, fl)
			f.add(n)
		})
	},
}

var ruleIWARPZeroWindow = Rule{
	Name:     "iwarp.zero_window",
	Severity: SeverityWarning,
	Title:    "the receiver's TCP window closed",
	Meaning:  "The receiver announced that it has no room: the sender must stop, though the network would carry more.",
	Advice:   "the receiving host doesn't take its data fast enough: look at its CPU and its receive buffers",
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			z := orZero(fl.TCP.ZeroWindows)
			if z == 0 {
				return
			}
			n := streamFinding(c, fl)
			n.weight = z
			n.Metrics["zero_windows"] = Decimal(z)
			n.Meaning = Text(fmt.Sprintf("%s: closed %s", streamName(fl), times(z)))
			n.Filters.Wireshark = Text(and(hostFilter("src", fl.DstIP, c.Transport), hostFilter("dst", fl.SrcIP, c.Transport),
				fmt.Sprintf("tcp.srcport == %d && tcp.dstport == %d && tcp.window_size_value == 0", orZero(fl.DstPort), orZero(fl.SrcPort))))
			f.add(n)
		})
	},
}

var ruleIWARPCRC = Rule{
	Name:     "iwarp.crc",
	Severity: SeverityCritical,
	Title:    "FPDUs with a wrong CRC",
	Meaning:  "MPA's CRC32C found damage that TCP's checksum let pass: in a NIC, a middlebox or a host's memory. The receiver ends the connection.",
	Advice:   "look at the NICs and offloads of the sender, and at middleboxes that rewrite payload",
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			bad := orZero(fl.MPA.CRCBad)
			if bad == 0 {
				return
			}
			n := streamFinding(c, fl)
			n.weight = bad
			n.Metrics["crc_bad"] = Decimal(bad)
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s checked", streamName(fl), thousands(bad), thousands(orZero(fl.MPA.CRCChecked))))
			evidence(&n, fl.stream.MPA.FirstBadCRC)
			f.add(n)
		})
	},
}

var ruleIWARPTerminate = Rule{
	Name:     "iwarp.terminate",
	Severity: SeverityCritical,
	Title:    "a connection was terminated for an error",
	Meaning:  "One side sent an RDMAP Terminate: it met an error that ends the stream, and says at which layer and of which kind.",
	Advice:   "the layer and code name what was refused: an STag, an address, a buffer that wasn't posted or was too short",
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			for i := range fl.Terminates {
				t := &fl.Terminates[i]
				n := streamFinding(c, fl)
				n.Meaning = Text(fmt.Sprintf("%s: %s", streamName(fl), t.Text))
				if t.Order == "swapped" {
					n.Meaning += " (nibbles in swapped order, as Linux siw writes them)"
				}
				evidence(&n, orZero(t.Packet))
				if len(n.Packets) > 0 {
					n.Filters.Wireshark = Text(framesFilter(n.Packets))
				}
				f.add(n)
			}
		})
	},
}

var ruleIWARPMPA = Rule{
	Name:     "iwarp.mpa",
	Severity: SeverityWarning,
	Title:    "trouble in setting up MPA",
	Meaning:  "The two sides' start-up frames don't fit: the connection was rejected, a revision or flag is wrong, the ready-to-receive message isn't the one agreed, or more READs were open than negotiated.",
	Advice:   "compare revision, markers, CRC, IRD and ORD of both sides; a rejection with private data comes from the application",
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			add := func(severity Severity, packet int64, what string) {
				n := streamFinding(c, fl)
				n.Severity = severity
				n.Meaning = Text(streamName(fl) + ": " + what)
				evidence(&n, packet)
				if len(n.Packets) > 0 {
					n.Filters.Wireshark = Text(framesFilter(n.Packets))
				}
				f.add(n)
			}
			m := &fl.stream.MPA
			if m.Frame.Seen && m.Frame.Reject {
				add(SeverityWarning, m.Frame.Packet, "the connection was rejected")
			}
			if m.Frame.Seen && !m.Frame.Reply && unanswered(c, fl) {
				add(SeverityWarning, m.Frame.Packet, "the MPA request got no reply: the other side is no iWARP listener, or hangs")
			}
			for _, fault := range fl.stream.Faults {
				severity := SeverityWarning
				if fault.Kind == iwarp.FaultEarly {
					// Responders of siw and of the first softiwarp do it, and their peers
					// take it: it breaks a rule (RFC 5044 §7.1.2), and nothing else.
					severity = SeverityNotice
				}
				add(severity, fault.Packet, fault.Kind.String())
			}
			if d := fl.stream.Reads.Depth; d.OK() && d.N > 0 && fl.stream.Reads.MaxOutstanding > d.N {
				add(SeverityNotice, 0, fmt.Sprintf("%d READs open at once, %d agreed", fl.stream.Reads.MaxOutstanding, d.N))
			}
		})
	},
}

// unanswered tells whether the other direction was captured and holds neither
// a reply nor an FPDU.
func unanswered(c *Connection, fl *Flow) bool {
	for i := range c.Flows {
		if peer := &c.Flows[i]; peer != fl {
			return !peer.stream.MPA.Frame.Seen && peer.MPA.FPDUs == 0
		}
	}
	return false
}

var ruleIWARPUnaligned = Rule{
	Name:     "iwarp.unaligned",
	Severity: SeverityNotice,
	Title:    "FPDUs aren't aligned to TCP segments",
	Meaning: "Segments begin in the middle of an FPDU. Hardware places data directly only where a segment begins with one; " +
		"else it has to buffer and copy. FPDUs longer than the MSS break some hardware peers altogether.",
	Advice: "software stacks (siw) do this; with hardware at the other end, switch off segmentation offload for the sender or align FPDUs to the MSS",
	Thresholds: []Threshold{
		{"aligned_ratio", 0.5, "share of data segments that begin with an FPDU, below which it is told"},
		{"segments", 64, "data segments that a direction must have"},
	},
	find: func(f *finder) {
		eachStream(f.Snapshot, func(c *Connection, fl *Flow) {
			if above := orZero(fl.MPA.AboveMSS); above > 0 {
				n := streamFinding(c, fl)
				n.weight = above
				n.Title = "FPDUs longer than the MSS"
				n.Metrics["fpdus_above_mss"], n.Metrics["longest_fpdu_bytes"] = Decimal(above), Decimal(orZero(fl.MPA.LongestFPDU))
				n.Limits["send_mss_bytes"] = Decimal(orZero(fl.MPA.SendMSS))
				n.Meaning = Text(fmt.Sprintf("%s: %s of up to %s octets, MSS %s", streamName(fl), plural(above, "FPDU"),
					thousands(orZero(fl.MPA.LongestFPDU)), thousands(orZero(fl.MPA.SendMSS))))
				f.add(n)
				return
			}
			share := Quotient(fl.MPA.AlignedSegments, fl.MPA.Segments)
			if share == nil || Decimal(fl.MPA.Segments) < f.limit("segments") || *share >= f.limit("aligned_ratio") {
				return
			}
			n := streamFinding(c, fl)
			n.weight = fl.MPA.Segments
			n.Metrics["aligned_ratio"], n.Limits["aligned_ratio"] = *share, f.limit("aligned_ratio")
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s begin with an FPDU", streamName(fl), thousands(fl.MPA.AlignedSegments), plural(fl.MPA.Segments, "segment")))
			f.add(n)
		})
	},
}
