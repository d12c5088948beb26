package analysis

import "fmt"

var ruleCaptureClock = Rule{
	Name:     "capture.clock",
	Severity: SeverityNotice,
	Title:    "the capture's clock can't be trusted",
	Meaning: "Timestamps go backward or stand still. Order within the file is kept, latencies that would be negative are left out, " +
		"but rates and times are only as good as the clock.",
	Advice:     "use hardware timestamps, or a capture point with one receive queue",
	Thresholds: []Threshold{{"backward_ratio", 0.01, "share of packets stamped earlier than the one before"}},
	find: func(f *finder) {
		c := &f.Capture
		switch {
		case c.Packets > 1 && c.DurationNS == nil:
			f.add(Finding{Subject: Subject{Kind: "capture"}, Severity: SeverityWarning,
				Meaning: "no packet carries a time: there are no rates and no latencies in this report"})
		case c.Packets > 1 && *c.DurationNS == 0:
			f.add(Finding{Subject: Subject{Kind: "capture"}, Severity: SeverityWarning,
				Meaning: "all packets carry the same time: there are no rates and no latencies in this report"})
		case c.Packets > 0 && Decimal(c.BackwardTimestamps) > f.limit("backward_ratio")*Decimal(c.Packets):
			f.add(Finding{Subject: Subject{Kind: "capture"},
				Metrics: Map[Decimal]{"backward_timestamps": Decimal(c.BackwardTimestamps)},
				Limits:  Map[Decimal]{"backward_ratio": f.limit("backward_ratio")},
				Meaning: Text(fmt.Sprintf("%s of %s earlier than the one before", thousands(c.BackwardTimestamps), plural(c.Packets, "packet")))})
		}
	},
}
