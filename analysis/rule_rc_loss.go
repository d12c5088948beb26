package analysis

import (
	"fmt"
	"strings"
)

var ruleRCLoss = Rule{
	Name:     "rc.loss",
	Severity: SeverityWarning,
	Title:    "packets were lost on the network",
	Meaning: "Packets of a reliable connection are proved lost: on the way to the capture point (upstream) or behind it (downstream). " +
		"The counts are lower bounds: what was lost while the receiver was discarding anyway leaves no trace at the tap.",
	Advice: "look at the discard and buffer-drop counters of the switch ports and NICs on the side named; with PFC, check that this traffic's priority is lossless end to end",
	Thresholds: []Threshold{
		{"lost_packets", 1, "packets proved lost"},
		{"critical_ratio", 0.001, "share of the flow's packets from which on it is critical"},
	},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			up, down := orZero(fl.LostUpstream), orZero(fl.LostDownstream)
			if Decimal(up+down) < f.limit("lost_packets") || up+down == 0 {
				return
			}
			n := flowFinding(c, fl)
			n.weight = up + down
			n.Confidence = confidenceOf(fl)
			n.Metrics["lost_upstream_packets"], n.Metrics["lost_downstream_packets"] = Decimal(up), Decimal(down)
			share := Quotient(up+down, fl.Packets)
			if share != nil {
				n.Metrics["lost_ratio"] = *share
				n.Limits["critical_ratio"] = f.limit("critical_ratio")
				if *share >= f.limit("critical_ratio") {
					n.Severity = SeverityCritical
				}
			}
			n.Meaning = Text(fmt.Sprintf("%s: at least %s lost %s", flowName(fl), plural(up+down, "packet"), lostWhere(up, down)))
			n.Title = fmt.Sprintf("packets were lost %s", lostWhere(up, down))
			lossEvidence(&n, c, fl)
			f.add(n)
		})
	},
}

func lostWhere(up, down int64) string {
	var parts []string
	if up > 0 {
		parts = append(parts, "before the capture point")
	}
	if down > 0 {
		parts = append(parts, "behind the capture point")
	}
	return strings.Join(parts, " and ")
}

// lossEvidence points to where the senders went back because of a loss: of
// this flow's requests, or, when responses were lost, of the peer's.
func lossEvidence(n *Finding, c *Connection, fl *Flow) {
	lost := func(r *Recovery) bool { return r.Lost == "upstream" || r.Lost == "downstream" }
	recoveryEvidence(n, fl, func(r *Recovery) bool { return lost(r) && r.LostPacket != "response" })
	if len(n.Packets) > 0 {
		return
	}
	for i := range c.Flows {
		if peer := &c.Flows[i]; peer != fl {
			recoveryEvidence(n, peer, func(r *Recovery) bool { return lost(r) && r.LostPacket == "response" })
			n.Filters.Wireshark = Text(either(flowFilter(fl, c.Transport), flowFilter(peer, c.Transport)))
		}
	}
}
