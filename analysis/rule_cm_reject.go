package analysis

import (
	"fmt"
	"slices"
)

var ruleCMReject = Rule{
	Name:     "cm.reject",
	Severity: SeverityWarning,
	Title:    "a connection was refused",
	Meaning:  "The other side answered a connection request with a rejection; its reason code says why.",
	Advice:   "reason 8: nothing listens on that port; 28: the application refused, its log knows; 10: a stale connection of a host that restarted",
	find: func(f *finder) {
		// A client that tries again and again is refused once, for a reader.
		groups := map[string]int{}
		eachRejection(f.Snapshot, func(c *Connection) {
			key := rejection(c)
			if i, seen := groups[key]; seen {
				n := &f.found[i]
				n.LastTime = max(n.LastTime, c.LastTime)
				n.weight++
				if len(n.Packets) < maxEvidence {
					n.Packets = append(n.Packets, cmEvidence(c)...)
				}
				return
			}
			groups[key] = len(f.found)
			f.add(Finding{Subject: cmSubject(c), FirstTime: c.FirstTime, LastTime: c.LastTime, Meaning: Text(key),
				Packets: cmEvidence(c), Filters: cmFilter(c), weight: 1})
		})
		for i := range f.found {
			n := &f.found[i]
			n.Metrics = Map[Decimal]{"rejected": Decimal(n.weight)}
			if n.weight > 1 {
				n.Title = fmt.Sprintf("%s connections were refused", thousands(n.weight))
				n.LastPacket = Int(slices.Max(n.Packets))
			}
		}
	},
}

// rejection says who was refused by whom, and why.
func rejection(c *Connection) string {
	what := fmt.Sprintf("%s → %s: %s", c.A.IP, c.B.IP, c.CM.RejectText)
	if c.CM.RejectReason != nil {
		what += fmt.Sprintf(" (reason %d)", *c.CM.RejectReason)
	}
	if c.CM.Port != nil {
		what += fmt.Sprintf(", port %d", *c.CM.Port)
	}
	return what
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
