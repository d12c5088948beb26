package analysis

import "fmt"

var ruleRCGoBackN = Rule{
	Name:     "rc.go_back_n",
	Severity: SeverityWarning,
	Title:    "go-back-N: much was sent again",
	Meaning: "The sender goes back to the missing packet and sends everything from there again, also what had arrived. " +
		"Each loss, and with most NICs each overtaken packet, so costs a window of bandwidth.",
	Advice:     "stop the loss (see its finding); NICs with selective repeat resend only what is missing",
	Thresholds: []Threshold{{"resent_ratio", 0.01, "share of the flow's packets that were sent again"}},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			resent := orZero(fl.Retransmitted)
			share := Quotient(resent, fl.Packets)
			if fl.RecoveryScheme != "go_back_n" && fl.RecoveryScheme != "go_back_0" || share == nil || *share < f.limit("resent_ratio") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = resent
			n.causes = recoveryCauses(fl)
			n.Metrics["resent_ratio"], n.Metrics["retransmitted_packets"] = *share, Decimal(resent)
			n.Limits["resent_ratio"] = f.limit("resent_ratio")
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s sent again (%.1f %%)", flowName(fl), thousands(resent), plural(fl.Packets, "packet"), float64(*share)*100))
			recoveryEvidence(&n, fl, func(r *Recovery) bool { return r.ResentPackets > 1 })
			f.add(n)
		})
	},
}
