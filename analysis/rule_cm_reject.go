package analysis

import "fmt"

var ruleCMReject = Rule{
	Name:     "cm.reject",
	Severity: SeverityWarning,
	Title:    "a connection was refused",
	Meaning:  "The other side answered a connection request with a rejection; its reason code says why.",
	Advice:   "reason 8: nothing listens on that port; 28: the application refused, its log knows; 10: a stale connection of a host that restarted",
	find: func(f *finder) {
		eachRejection(f.Snapshot, func(c *Connection) {
			what := fmt.Sprintf("%s → %s: %s", c.A.IP, c.B.IP, c.CM.RejectText)
			if c.CM.RejectReason != nil {
				what += fmt.Sprintf(" (reason %d)", *c.CM.RejectReason)
			}
			if c.CM.Port != nil {
				what += fmt.Sprintf(", port %d", *c.CM.Port)
			}
			f.add(Finding{Subject: cmSubject(c), FirstTime: c.FirstTime, LastTime: c.LastTime, Meaning: Text(what),
				Packets: cmEvidence(c), Filters: cmFilter(c)})
		})
	},
}

func eachRejection(s *Snapshot, f func(*Connection)) {
	for i := range s.Connections {
		if c := &s.Connections[i]; c.CM != nil && c.CM.State == "rejected" {
			f(c)
		}
	}
}

func cmSubject(c *Connection) Subject {
	return Subject{Kind: "connection", ConnectionID: c.ID, SrcIP: string(c.A.IP), DstIP: string(c.B.IP)}
}

// cmEvidence is the first packet of the dialogue.
func cmEvidence(c *Connection) List[int64] {
	if c.CM.firstPacket == 0 {
		return nil
	}
	return List[int64]{c.CM.firstPacket}
}

// cmFilter selects the connection management between the two hosts.
func cmFilter(c *Connection) Filters {
	return Filters{Wireshark: Text("infiniband.bth.destqp == 1 && " + hostsFilter(string(c.A.IP), string(c.B.IP), c.Transport))}
}
