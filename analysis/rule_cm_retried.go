package analysis

import "fmt"

var ruleCMRetried = Rule{
	Name:     "cm.retried",
	Severity: SeverityNotice,
	Title:    "connection management had to repeat messages",
	Meaning:  "Requests or replies were sent again because no answer came in time. Each repeat costs the CM response timeout, usually seconds.",
	Advice:   "look for loss on the path, or a host that is slow to accept",
	find: func(f *finder) {
		for i := range f.Connections {
			c := &f.Connections[i]
			if c.CM == nil || c.CM.Retried == 0 || c.CM.State == "no_reply" {
				continue
			}
			f.add(Finding{Subject: cmSubject(c), FirstTime: c.FirstTime, LastTime: c.LastTime,
				Metrics: Map[Decimal]{"retried": Decimal(c.CM.Retried)},
				Meaning: Text(fmt.Sprintf("%s → %s: %s sent again", c.A.IP, c.B.IP, plural(c.CM.Retried, "message"))),
				Packets: cmEvidence(c), Filters: cmFilter(c)})
		}
	},
}
