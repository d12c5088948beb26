package analysis

import "fmt"

var ruleRCUnanswered = Rule{
	Name:     "rc.unanswered",
	Severity: SeverityNotice,
	Title:    "fell silent with requests unanswered",
	Meaning: "Requests were on their way, and then nothing more passed: no answer, no repetition, no word that the connection ends. " +
		"So it looks when a queue pair dies of a local error, which no packet tells, when a host or the path is gone, and also " +
		"when the capture ends before the sender's timer has run out.",
	Advice: "read the completion error of the sending application and the state of its queue pair (rdma resource show qp), then drops at its own egress queue; " +
		"if the capture ended early, take a longer one",
	Thresholds: []Threshold{
		{"silence_ns", 10e6, "shortest silence at the end of the capture"},
		{"latencies", 4, "and that many times the longest that an answer had taken"},
		{"warning_ns", 1e9, "silence from which on it is a warning"},
	},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if orZero(fl.Unanswered) == 0 || saysWhy(c, fl) || !fl.quietSince.Known() || !c.seenUntil.Known() {
				return
			}
			silent := int64(c.seenUntil - fl.quietSince)
			slowest := slowestAnswer(fl)
			if Decimal(silent) < f.limit("silence_ns") || Decimal(silent) < f.limit("latencies")*Decimal(slowest) {
				return
			}
			n := flowFinding(c, fl)
			n.weight = silent
			n.FirstTime, n.LastTime = fl.quietSince, c.seenUntil
			n.Confidence = confidenceOf(fl)
			n.causes = []string{"pfc.storm", "pfc.deadlock"}
			if Decimal(silent) >= f.limit("warning_ns") {
				n.Severity = SeverityWarning
			}
			n.Metrics["unanswered_packets"], n.Metrics["silence_ns"] = Decimal(*fl.Unanswered), Decimal(silent)
			n.Limits["silence_ns"], n.Limits["latencies"] = f.limit("silence_ns"), f.limit("latencies")
			what := fmt.Sprintf("%s: %s unanswered, nothing for %s up to the end", flowName(fl), plural(*fl.Unanswered, "packet"), milliseconds(silent))
			if fl.unfinished {
				what += ", in the middle of a message"
			}
			if slowest > 0 {
				what += fmt.Sprintf(" (answers had taken %s at most)", milliseconds(slowest))
			}
			n.Meaning = Text(what)
			f.add(n)
		})
	},
}

// saysWhy tells whether packets say why a flow's requests stay unanswered: a
// fatal NAK, retries that were used up, or an end that was agreed.
func saysWhy(c *Connection, fl *Flow) bool {
	if c.Closed != nil || fl.RetriesExhausted != nil && *fl.RetriesExhausted {
		return true
	}
	n := fl.Naks
	return n != nil && n.InvalidRequest+n.RemoteAccessError+n.RemoteOperationalError > 0
}

// slowestAnswer is the longest that the answer to a packet took.
func slowestAnswer(fl *Flow) int64 {
	most := int64(0)
	for _, l := range []*Latency{fl.Latency.Ack, fl.Latency.ReadFirst, fl.Latency.ReadLast, fl.Latency.Atomic} {
		if l != nil {
			most = max(most, l.MaxNS)
		}
	}
	return most
}
