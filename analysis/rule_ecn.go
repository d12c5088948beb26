package analysis

import (
	"fmt"

	"rdmascope/analysis/marking"
)

var ruleECNNoCNP = Rule{
	Name:     "ecn.no_cnp",
	Severity: SeverityWarning,
	Title:    "congestion marks, but no CNP",
	Meaning: "Switches mark packets with CE, and the receiver doesn't tell the sender: no CNP came back within a millisecond. " +
		"The sender won't slow down, and PFC or loss will have to stop it.",
	Advice: "switch on DCQCN's notification point for this priority at the receiver (Soft-RoCE has none); look whether CNPs are dropped on the way or not mirrored",
	Thresholds: []Threshold{
		{"ce_packets", 10, "CE-marked data packets of a flow that no CNP answered"},
		{"answer_ms", 1, "time in which a CNP answers a mark, and a CNP has had one"},
	},
	find: func(f *finder) {
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			m := fl.congested()
			if Decimal(m.CEUnanswered) < f.limit("ce_packets") || orZero(fl.CNP) > 0 || len(c.Flows) < 2 {
				return
			}
			n := flowFinding(c, fl)
			n.weight = m.CEUnanswered
			n.Metrics["ce_packets"], n.Limits["ce_packets"] = Decimal(m.DataCE), f.limit("ce_packets")
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s marked CE, no CNP", flowName(fl), thousands(m.DataCE), plural(fl.Packets, "packet")))
			n.Filters.Wireshark = Text(and(flowFilter(fl, c.Transport), ecnFilter(fl)))
			evidence(&n, m.FirstCEPacket)
			f.add(n)
		})
	},
}

func ecnFilter(fl *Flow) string {
	if isIPv6(fl.SrcIP) {
		return "ipv6.tclass.ecn == 3"
	}
	return "ip.dsfield.ecn == 3"
}

// eachFlow calls f for every flow of every connection.
func eachFlow(s *Snapshot, f func(*Connection, *Flow)) {
	for i := range s.Connections {
		c := &s.Connections[i]
		for k := range c.Flows {
			f(c, &c.Flows[k])
		}
	}
}

// evidence names one packet, if it is known.
func evidence(n *Finding, number int64) {
	if number != 0 {
		n.Packets = List[int64]{number}
	}
}

var ruleECNCNPWithoutCE = Rule{
	Name:     "ecn.cnp_without_ce",
	Severity: SeverityNotice,
	Title:    "CNPs without congestion marks",
	Meaning: "The receiver sent CNPs although no CE mark passed the capture point in the millisecond before. " +
		"The marks were set behind it, or the NIC sends CNPs for another reason (some do after a NAK).",
	Advice:     "capture nearer to the receiver; compare its np_ecn_marked_roce_packets with np_cnp_sent",
	Thresholds: []Threshold{{"cnp_packets", 10, "CNPs of a flow without a cause"}},
	find: func(f *finder) {
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			t := fl.congested().Throttle
			if t == nil || Decimal(t.Causeless) < f.limit("cnp_packets") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = t.Causeless
			n.Metrics["cnp_packets"], n.Metrics["without_ce"], n.Metrics["after_nak"] = Decimal(t.CNPs), Decimal(t.Causeless), Decimal(t.SlowStart)
			n.Limits["cnp_packets"] = f.limit("cnp_packets")
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s without a CE mark before, %s of them after a NAK", flowName(fl), thousands(t.Causeless),
				plural(t.CNPs, "CNP"), thousands(t.SlowStart)))
			n.Filters.Wireshark = Text(cnpFilter(c, fl))
			f.add(n)
		})
	},
}

// cnpFilter selects the CNPs that throttle a flow.
func cnpFilter(c *Connection, fl *Flow) string {
	return and(hostFilter("src", fl.DstIP, c.Transport), hostFilter("dst", fl.SrcIP, c.Transport), "infiniband.bth.opcode == 0x81")
}

var ruleECNDeafSender = Rule{
	Name:     "ecn.deaf_sender",
	Severity: SeverityWarning,
	Title:    "a sender ignores its CNPs",
	Meaning:  "The sender got CNPs and went on at the same rate: less than 5 % slower, at the median, in the time after each.",
	Advice:   "switch on DCQCN's reaction point for this priority at the sender; check that CNPs reach it (rp_cnp_handled)",
	Thresholds: []Threshold{
		{"cnp_packets", 10, "CNPs, and rates measured before and after one, that it takes to tell"},
		{"rate_reduction_ratio", 0.05, "median cut of the rate below which a sender is deaf"},
		{"rate_us", 50, "time over which the rate is taken, before and after"},
		{"delay_us", 20, "time that the sender has to react"},
	},
	find: func(f *finder) {
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			t := fl.congested().Throttle
			if t == nil || !t.Deaf {
				return
			}
			n := flowFinding(c, fl)
			n.weight = t.CNPs
			n.Metrics["cnp_packets"] = Decimal(t.CNPs)
			n.Metrics["rate_reduction_ratio"] = Decimal(t.MedianCutPermille) / 1000
			n.Limits["rate_reduction_ratio"] = f.limit("rate_reduction_ratio")
			n.Meaning = Text(fmt.Sprintf("%s: %s, rate cut by %.1f %% at the median", flowName(fl), plural(t.CNPs, "CNP"), float64(t.MedianCutPermille)/10))
			n.Filters.Wireshark = Text(cnpFilter(c, fl))
			f.add(n)
		})
	},
}

var ruleECNCNPMalformed = Rule{
	Name:     "ecn.cnp_malformed",
	Severity: SeverityNotice,
	Title:    "malformed CNPs",
	Meaning:  "CNPs without BECN, with reserved octets that aren't zero, or of a wrong length: a strict receiver ignores them.",
	Advice:   "a firmware error of the sender of the CNPs",
	find: func(f *finder) {
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			m := fl.congested()
			if m.MalformedCNPs == 0 {
				return
			}
			n := flowFinding(c, fl)
			n.weight = m.MalformedCNPs
			n.Metrics["malformed_cnp_packets"] = Decimal(m.MalformedCNPs)
			what := fmt.Sprintf("%s: %s", flowName(fl), plural(m.MalformedCNPs, "CNP"))
			for fault, count := range m.CNPFaults {
				if count > 0 && marking.Fault(fault) != marking.FaultPSN {
					what += fmt.Sprintf(", %s %s", thousands(count), marking.Fault(fault))
				}
			}
			n.Meaning = Text(what)
			n.Filters.Wireshark = Text(and(flowFilter(fl, c.Transport), "infiniband.bth.opcode == 0x81"))
			evidence(&n, m.FirstMalformedCNP)
			f.add(n)
		})
	},
}
