package analysis

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"rdmascope/analysis/marking"
)

// The rules about marking speak of the whole capture: a class that is set up
// wrongly is so for all flows through it, and one finding says it.

// dataPriorities collects data flows by what f says of them.
func dataFlows(s *Snapshot, want func(*Connection, *Flow) bool) (flows []*Flow, conns []*Connection) {
	eachFlow(s, func(c *Connection, fl *Flow) {
		if fl.markings.KindPackets(marking.KindData)+fl.markings.KindPackets(marking.KindReadResponse) > 0 && want(c, fl) {
			flows, conns = append(flows, fl), append(conns, c)
		}
	})
	return flows, conns
}

// aboutFlows is a finding about several flows together.
func aboutFlows(flows []*Flow, conns []*Connection, what string) Finding {
	var packets int64
	n := Finding{Subject: Subject{Kind: "capture"}, Metrics: Map[Decimal]{}}
	for i, fl := range flows {
		packets += fl.markings.KindPackets(marking.KindData) + fl.markings.KindPackets(marking.KindReadResponse)
		if c := conns[i]; !n.FirstTime.Known() || c.FirstTime < n.FirstTime {
			n.FirstTime = c.FirstTime
		}
		n.LastTime = max(n.LastTime, conns[i].LastTime)
	}
	if len(flows) == 1 {
		n.Subject = flowSubject(conns[0], flows[0])
	}
	n.Metrics["flows"], n.Metrics["packets"] = Decimal(len(flows)), Decimal(packets)
	n.Meaning = Text(fmt.Sprintf("%s, %s: %s", plural(int64(len(flows)), "flow"), plural(packets, "data packet"), what))
	n.Filters.Wireshark = Text(flowFilter(flows[0], conns[0].Transport))
	return n
}

var ruleQoSDefaultClass = Rule{
	Name:     "qos.default_class",
	Severity: SeverityNotice,
	Title:    "RoCE runs in the default class (DSCP 0)",
	Meaning: "Data with DSCP 0 shares queues and buffers with everything else, and no switch treats it as lossless. " +
		"RoCE is usually given a DSCP of its own (26 is common) and a priority with PFC or ECN.",
	Advice: "set the traffic class of the application or of the NIC, and trust DSCP on the switch ports",
	find: func(f *finder) {
		flows, conns := dataFlows(f.Snapshot, func(_ *Connection, fl *Flow) bool {
			for _, m := range fl.markings {
				if isData(m.Kind) && (m.DSCP != 0 || m.Tagged && m.PCP != 0) {
					return false
				}
			}
			return fl.SrcIP != "" && !strings.HasPrefix(fl.SrcIP, "lid:")
		})
		if len(flows) > 0 {
			f.add(aboutFlows(flows, conns, "DSCP 0"))
		}
	},
}

func isData(k marking.Kind) bool { return k == marking.KindData || k == marking.KindReadResponse }

var ruleQoSMixedDSCP = Rule{
	Name:     "qos.mixed_dscp",
	Severity: SeverityWarning,
	Title:    "one flow uses several DSCPs",
	Meaning:  "The data of one queue pair came with different DSCPs. They then travel in different queues and overtake one another, which RDMA NICs take for loss.",
	Advice:   "something rewrites DSCP for a part of the packets; compare captures before and behind each hop",
	find: func(f *finder) {
		flows, conns := dataFlows(f.Snapshot, func(_ *Connection, fl *Flow) bool { return dataDSCPs(fl).len() > 1 })
		if len(flows) > 0 {
			n := aboutFlows(flows, conns, fmt.Sprintf("DSCP %s in one flow", dataDSCPs(flows[0])))
			f.add(n)
		}
	},
}

// dscpSet is a set of code points, one bit each.
type dscpSet uint64

func (s dscpSet) len() int   { return bits.OnesCount64(uint64(s)) }
func (s dscpSet) least() int { return bits.TrailingZeros64(uint64(s)) }

// String lists the code points in order.
func (s dscpSet) String() string {
	var list []string
	for ; s != 0; s &= s - 1 {
		list = append(list, strconv.Itoa(s.least()))
	}
	return strings.Join(list, ", ")
}

// dataDSCPs are the code points of a flow's data.
func dataDSCPs(fl *Flow) (s dscpSet) {
	for _, m := range fl.markings {
		if isData(m.Kind) {
			s |= 1 << (m.DSCP & 63)
		}
	}
	return s
}

var ruleQoSDirection = Rule{
	Name:     "qos.direction",
	Severity: SeverityNotice,
	Title:    "the two directions use different DSCPs",
	Meaning:  "Both ends send data on the same connection, with different DSCPs: one of them is set up for another class than the other.",
	Advice:   "compare the traffic class settings of both hosts",
	find: func(f *finder) {
		for i := range f.Connections {
			c := &f.Connections[i]
			if len(c.Flows) != 2 {
				continue
			}
			a, b := dataDSCPs(&c.Flows[0]), dataDSCPs(&c.Flows[1])
			if a.len() != 1 || b.len() != 1 || a == b {
				continue
			}
			n := flowFinding(c, &c.Flows[0])
			n.weight = c.Flows[0].Packets + c.Flows[1].Packets
			n.Meaning = Text(fmt.Sprintf("%s: DSCP %d, back: DSCP %d", flowName(&c.Flows[0]), a.least(), b.least()))
			f.add(n)
		}
	},
}

var ruleQoSNotECT = Rule{
	Name:     "qos.not_ect",
	Severity: SeverityNotice,
	Title:    "data can't be marked: Not-ECT",
	Meaning:  "Data packets without ECT: a congested switch can't mark them, it can only drop them or stop the port. DCQCN never starts.",
	Advice:   "switch on ECN for this priority at the sending NIC (RoCE congestion control)",
	find: func(f *finder) {
		flows, conns := dataFlows(f.Snapshot, func(c *Connection, fl *Flow) bool {
			return c.Transport == "rocev2" && fl.ECNCapable == 0
		})
		if len(flows) > 0 {
			f.add(aboutFlows(flows, conns, "ECN bits 00"))
		}
	},
}

var ruleQoSPCPMismatch = Rule{
	Name:     "qos.pcp_mismatch",
	Severity: SeverityNotice,
	Title:    "VLAN priority and DSCP name different classes",
	Meaning: "The VLAN tag's priority (PCP) and the priority that DSCP stands for differ. Hops that trust one put the packets " +
		"into another class than hops that trust the other.",
	Advice: "make both agree, or make sure that every hop trusts the same one",
	find: func(f *finder) {
		flows, conns := dataFlows(f.Snapshot, func(_ *Connection, fl *Flow) bool { return f.mismatch(fl) != nil })
		if len(flows) > 0 {
			m := f.mismatch(flows[0])
			f.add(aboutFlows(flows, conns, fmt.Sprintf("PCP %d, DSCP %d (priority %d by %s)", m.PCP, m.DSCP, f.priorities[m.DSCP&63], f.whichMap())))
		}
	},
}

// mismatch is the first marking whose two priorities differ.
func (f *finder) mismatch(fl *Flow) *marking.Marking {
	for i := range fl.markings {
		if m := &fl.markings[i]; isData(m.Kind) && m.Tagged && m.PCP != f.priorities[m.DSCP&63]&7 {
			return m
		}
	}
	return nil
}

func (f *finder) whichMap() string {
	if *f.priorities == UsualPriorities() {
		return "the usual map"
	}
	return "the map given"
}
