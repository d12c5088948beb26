package analysis

import "fmt"

var ruleRCRNR = Rule{
	Name:     "rc.rnr",
	Severity: SeverityWarning,
	Title:    "the receiver had no buffer posted (RNR NAK)",
	Meaning: "A SEND, or a WRITE with immediate data, came when the receiver's queue held no receive request. " +
		"The network lost nothing: the receiving application was too slow, or posts too few receives.",
	Advice:     "post more receives at the receiver, or find what keeps its completion handling; its NIC counts out_of_buffer",
	Thresholds: []Threshold{{"rnr_naks", 1, "RNR NAKs that answer a flow"}, {"critical_naks", 100, "from which on it is critical"}},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			rnr := orZero(fl.RNRNaks)
			if rnr == 0 || Decimal(rnr) < f.limit("rnr_naks") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = rnr
			n.Metrics["rnr_naks"] = Decimal(rnr)
			if Decimal(rnr) >= f.limit("critical_naks") {
				n.Severity = SeverityCritical
			}
			n.Meaning = Text(fmt.Sprintf("%s: %s told the sender to wait", flowName(fl), plural(rnr, "RNR NAK")))
			naks := and(hostFilter("src", fl.DstIP, c.Transport), hostFilter("dst", fl.SrcIP, c.Transport),
				"infiniband.aeth.syndrome.opcode == 1")
			n.Filters.Wireshark = Text(either(flowFilter(fl, c.Transport), naks)) // the evidence is what was sent again
			recoveryEvidence(&n, fl, func(r *Recovery) bool { return r.Kind == "rnr" })
			if fl.firstRNR != 0 {
				n.Packets = append(List[int64]{fl.firstRNR}, n.Packets...)
			}
			f.add(n)
		})
	},
}
