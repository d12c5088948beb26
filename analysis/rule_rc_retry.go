package analysis

import "fmt"

var ruleRCRetryExhausted = Rule{
	Name:     "rc.retry_exhausted",
	Severity: SeverityCritical,
	Title:    "the sender gave up: retries exhausted",
	Meaning: "The same packet was sent again as often as the connection allows, and then nothing more. " +
		"The application sees \"transport retry counter exceeded\" (completion error 12); the queue pair is dead.",
	Advice: "find out whether the retries passed the capture point: if they did, the path behind it or the other host is dead; compare GID, VLAN and MTU of both ends",
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if fl.RetriesExhausted == nil || !*fl.RetriesExhausted {
				return
			}
			n := flowFinding(c, fl)
			n.Meaning = Text(fmt.Sprintf("%s: unanswered to the end", flowName(fl)))
			if orZero(fl.RNRNaks) > 0 {
				n.Meaning = Text(fmt.Sprintf("%s: the receiver had no buffer posted, to the end (RNR retry exceeded)", flowName(fl)))
				n.causes = []string{"rc.rnr"}
			}
			if fl.LastPSN != nil {
				n.Metrics["last_psn"] = Decimal(*fl.LastPSN)
			}
			recoveryEvidence(&n, fl, func(r *Recovery) bool { return r.Kind == "timeout" || r.Kind == "rnr" })
			f.add(n)
		})
	},
}

var ruleRCLivelock = Rule{
	Name:     "rc.livelock",
	Severity: SeverityCritical,
	Title:    "livelock: the sender repeats and makes no progress",
	Meaning:  "The same packet had to be recovered again and again, or nearly all that was sent was sent before.",
	Advice:   "go-back-N under steady loss ends so: stop the loss, or lower the rate",
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if fl.Livelock == nil || !*fl.Livelock {
				return
			}
			n := flowFinding(c, fl)
			n.weight = orZero(fl.Retransmitted)
			n.causes = recoveryCauses(fl)
			n.Metrics["retransmitted_packets"] = Decimal(n.weight)
			n.Meaning = Text(fmt.Sprintf("%s: %s sent again", flowName(fl), plural(n.weight, "packet")))
			recoveryEvidence(&n, fl, func(*Recovery) bool { return true })
			f.add(n)
		})
	},
}

var ruleRCReordering = Rule{
	Name:     "rc.reordering",
	Severity: SeverityWarning,
	Title:    "packets were overtaken on the way",
	Meaning: "Packets arrived in another order than they were sent. Most RDMA NICs take that for loss and go back; " +
		"nothing was lost.",
	Advice:     "packet spraying or adaptive routing onto a NIC that doesn't tolerate it, or unequal paths of a bundle",
	Thresholds: []Threshold{{"out_of_order_ratio", 0.001, "share of packets that came late"}},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			late := orZero(fl.OutOfOrder)
			share := Quotient(late, fl.Packets)
			if late == 0 || share == nil || *share < f.limit("out_of_order_ratio") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = late
			n.Metrics["out_of_order_packets"] = Decimal(late)
			n.Limits["out_of_order_ratio"] = f.limit("out_of_order_ratio")
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s late", flowName(fl), thousands(late), plural(fl.Packets, "packet")))
			recoveryEvidence(&n, fl, func(r *Recovery) bool { return r.Lost == "reorder" })
			if !n.FirstTime.Known() {
				n.FirstTime, n.LastTime = c.FirstTime, c.LastTime
			}
			f.add(n)
		})
	},
}
