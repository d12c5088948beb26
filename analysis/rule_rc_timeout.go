package analysis

import "fmt"

var ruleRCTimeout = Rule{
	Name:     "rc.timeout",
	Severity: SeverityWarning,
	Title:    "the sender waited for its ACK timer",
	Meaning: "A packet or its acknowledgement was missing and nothing told the sender so: it sat still until its transport timer ran out. " +
		"That costs a thousand times more than a NAK, and shows as a stall.",
	Advice:     "loss of the last packet of a burst, or of ACKs; see where it was lost. A shorter ACK timeout shortens the stall, not the loss",
	Thresholds: []Threshold{{"timeouts", 1, "timeouts of a flow"}, {"critical_ns", 1e9, "time lost to recovery from which on it is critical"}},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if fl.Episodes == nil || fl.Episodes.Timeout == 0 || Decimal(fl.Episodes.Timeout) < f.limit("timeouts") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = fl.Episodes.Timeout
			n.causes = recoveryCauses(fl)
			n.Confidence = confidenceOf(fl)
			n.Metrics["timeouts"] = Decimal(fl.Episodes.Timeout)
			what := fmt.Sprintf("%s: %s", flowName(fl), plural(fl.Episodes.Timeout, "timeout"))
			if orZero(fl.RecoveryTimeNS) > 0 {
				n.Metrics["recovery_time_ns"] = Decimal(*fl.RecoveryTimeNS)
				what += ", " + milliseconds(*fl.RecoveryTimeNS) + " lost to recovery"
				if Decimal(*fl.RecoveryTimeNS) >= f.limit("critical_ns") {
					n.Severity = SeverityCritical
				}
			}
			n.Meaning = Text(what)
			recoveryEvidence(&n, fl, func(r *Recovery) bool { return r.Kind == "timeout" })
			f.add(n)
		})
	},
}

func milliseconds(ns int64) string {
	switch {
	case ns >= 10e9:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	case ns >= 10e6:
		return fmt.Sprintf("%d ms", ns/1e6)
	}
	return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
}
