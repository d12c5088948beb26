package analysis

import "fmt"

// The rules about reliable connections share how they name what they are
// about and how they prove it.

// eachRCFlow calls f for every flow of a reliable connection.
func eachRCFlow(s *Snapshot, f func(*Connection, *Flow)) {
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.Service != "rc" && c.Service != "xrc" {
			continue
		}
		for k := range c.Flows {
			f(c, &c.Flows[k])
		}
	}
}

func flowSubject(c *Connection, fl *Flow) Subject {
	return Subject{Kind: "flow", ConnectionID: c.ID, SrcIP: fl.SrcIP, DstIP: fl.DstIP, DestQP: fl.DestQP}
}

// flowName says which flow in a sentence.
func flowName(fl *Flow) string {
	if fl.DestQP == nil {
		return fl.SrcIP + " → " + fl.DstIP
	}
	return fmt.Sprintf("%s → %s QP 0x%06x", fl.SrcIP, fl.DstIP, *fl.DestQP)
}

// flowFinding is a finding about a flow, not filled in further than what and
// where.
func flowFinding(c *Connection, fl *Flow) Finding {
	return Finding{Subject: flowSubject(c, fl), FirstTime: c.FirstTime, LastTime: c.LastTime,
		Filters: Filters{Wireshark: Text(flowFilter(fl, c.Transport))}, Metrics: Map[Decimal]{}, Limits: Map[Decimal]{}}
}

// recoveryEvidence names the packets at which recoveries of some kinds began,
// and bounds the finding's times by them.
func recoveryEvidence(n *Finding, fl *Flow, want func(*Recovery) bool) {
	n.FirstTime, n.LastTime = 0, 0
	for i := range fl.Recoveries {
		r := &fl.Recoveries[i]
		if !want(r) || r.FirstPacket == nil {
			continue
		}
		if len(n.Packets) < maxEvidence {
			n.Packets = append(n.Packets, *r.FirstPacket)
		}
		if !n.FirstTime.Known() || r.FirstTime < n.FirstTime {
			n.FirstTime = r.FirstTime
		}
		n.LastTime = max(n.LastTime, r.FirstTime)
	}
}

// orZero is a figure, 0 when unknown: for comparisons with a limit, which an
// unknown figure never reaches.
func orZero(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// confidenceOf lowers the confidence in what a flow's figures say when the
// capture itself lost packets of it.
func confidenceOf(fl *Flow) string {
	if orZero(fl.Unseen) > 0 {
		return ConfidenceMedium
	}
	return ConfidenceHigh
}

// recoveryCauses are the rules that may explain why a flow's sender had to go
// back, by what most of its episodes were about.
func recoveryCauses(fl *Flow) []string {
	list := []string{"rc.retry_exhausted"}
	if l := fl.EpisodesLost; l != nil && l.Reorder > l.Upstream+l.Downstream {
		list = append(list, "rc.reordering")
	}
	return append(list, "rc.loss", "rc.icrc", "rc.reordering", "rc.rnr")
}
