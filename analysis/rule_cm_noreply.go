package analysis

import "fmt"

var ruleCMNoReply = Rule{
	Name:     "cm.no_reply",
	Severity: SeverityWarning,
	Title:    "a connection request got no answer",
	Meaning:  "A REQ was sent, and within its response time nothing came back: not a REP, not even a rejection.",
	Advice:   "check that the other host's RDMA device is up and its GID, VLAN and MTU fit; a firewall for UDP 4791; a mirror that shows one direction",
	find: func(f *finder) {
		for i := range f.Connections {
			c := &f.Connections[i]
			if c.CM == nil || c.CM.State != "no_reply" {
				continue
			}
			f.add(Finding{Subject: cmSubject(c), FirstTime: c.FirstTime, LastTime: c.LastTime,
				Metrics: Map[Decimal]{"requests": Decimal(c.CM.Requests)},
				Meaning: Text(fmt.Sprintf("%s → %s: %s, no answer", c.A.IP, c.B.IP, plural(c.CM.Requests, "request"))),
				Packets: cmEvidence(c), Filters: cmFilter(c)})
		}
	},
}
