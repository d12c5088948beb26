package analysis

import (
	"fmt"

	"rdmascope/analysis/marking"
)

var ruleECNCNPClass = Rule{
	Name:     "ecn.cnp_class",
	Severity: SeverityNotice,
	Title:    "CNPs travel in the class of the data",
	Meaning: "Congestion notifications carry the same DSCP (and PCP) as the data. They then wait in the very queues whose congestion " +
		"they report, or are paused with them, and the sender slows down late. Usually they have a strict queue of their own (DSCP 48, priority 6).",
	Advice: "give CNPs a DSCP of their own at the NIC (cnp_dscp, cnp_802p_prio), and a strict queue for it at the switches",
	find: func(f *finder) {
		var flows []*Flow
		var conns []*Connection
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if cnp := inOneClass(c, fl); cnp != nil {
				flows, conns = append(flows, fl), append(conns, c)
			}
		})
		if len(flows) == 0 {
			return
		}
		m := inOneClass(conns[0], flows[0])
		n := aboutFlows(flows, conns, fmt.Sprintf("CNPs and data in DSCP %d", m.DSCP))
		n.Filters.Wireshark = Text(cnpFilter(conns[0], flows[0]))
		evidence(&n, m.FirstPacket)
		f.add(n)
	},
}

// inOneClass returns the CNPs of the way back that are marked as most of the
// flow's data are, nil when they have a class of their own.
func inOneClass(c *Connection, data *Flow) *marking.Marking {
	if len(c.Flows) != 2 {
		return nil
	}
	back := &c.Flows[0]
	if back == data {
		back = &c.Flows[1]
	}
	of := func(fl *Flow, want func(marking.Kind) bool) *marking.Marking {
		for i := range fl.markings { // most packets first
			if want(fl.markings[i].Kind) {
				return &fl.markings[i]
			}
		}
		return nil
	}
	cnp := of(back, func(k marking.Kind) bool { return k == marking.KindCNP })
	d := of(data, isData)
	if cnp == nil || d == nil || cnp.DSCP != d.DSCP || cnp.Tagged && d.Tagged && cnp.PCP != d.PCP {
		return nil
	}
	return cnp
}
