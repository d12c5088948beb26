package analysis

import (
	"fmt"
	"strings"

	"rdmascope/analysis/marking"
)

// sharedPriority is what else travels in a priority that RoCE has on an
// interface; evidence of findings.
type sharedPriority struct {
	iface       string
	priority    int
	roce, other int64 // packets
	firstOther  int64
	dscps       string // of the priority, for a filter
}

// buildShared finds the priorities that RoCE shares. The default class is left
// out: there qos.default_class has said it all.
func buildShared(m *marker, r *merged, priorities *Priorities) (list []sharedPriority) {
	var roce map[uint16]*[8]int64
	for i, o := range r.front.others {
		if o.packets == [8]int64{o.packets[0]} {
			continue
		}
		if roce == nil {
			roce = rocePriorities(r, priorities)
		}
		n := roce[uint16(i)]
		if n == nil {
			continue
		}
		for p := 1; p < 8; p++ {
			if n[p] > 0 && o.packets[p] > 0 {
				list = append(list, sharedPriority{iface: m.iface(uint16(i)), priority: p, roce: n[p], other: o.packets[p], firstOther: o.first[p], dscps: dscpsOf(priorities, p)})
			}
		}
	}
	return list
}

// dscpsOf is a Wireshark set of the DSCPs of a priority.
func dscpsOf(priorities *Priorities, p int) string {
	var list []string
	for dscp, q := range priorities {
		if int(q&7) == p {
			list = append(list, fmt.Sprint(dscp))
		}
	}
	return strings.Join(list, ", ")
}

var ruleQoSSharedPriority = Rule{
	Name:     "qos.shared_priority",
	Severity: SeverityNotice,
	Title:    "other traffic in RoCE's priority",
	Meaning: "Packets that aren't RDMA travel in the same priority as RoCE. They fill the queue that PFC makes lossless, so they cause pauses " +
		"and stand still with them, and TCP doesn't heed the marks that DCQCN lives by as RoCE does.",
	Advice: "give RoCE a priority of its own, and don't trust DSCP or PCP on ports where other hosts may set them",
	Thresholds: []Threshold{
		{"packets", 100, "packets of other traffic in the priority"},
		{"share_ratio", 0.05, "their share of the priority's packets"},
	},
	find: func(f *finder) {
		for i := range f.shared {
			s := &f.shared[i]
			share := Decimal(s.other) / Decimal(s.other+s.roce)
			if Decimal(s.other) < f.limit("packets") || share < f.limit("share_ratio") {
				continue
			}
			prio := Priority(s.priority)
			n := Finding{Subject: Subject{Kind: "pfc_port", Interface: s.iface, Priority: &prio}, weight: s.other,
				Metrics: Map[Decimal]{"packets": Decimal(s.other), "roce_packets": Decimal(s.roce), "share_ratio": share},
				Limits:  Map[Decimal]{"packets": f.limit("packets"), "share_ratio": f.limit("share_ratio")},
				Meaning: Text(fmt.Sprintf("priority %d on %s: %s of RoCE, %s of other traffic (%.0f %%)", s.priority, s.iface,
					plural(s.roce, "packet"), plural(s.other, "packet"), float64(share)*100))}
			// Tagged packets have the priority in the tag, others by DSCP.
			n.Filters.Wireshark = Text(fmt.Sprintf("!infiniband && (vlan.priority == %d || !vlan && (ip.dsfield.dscp in {%s} || ipv6.tclass.dscp in {%s}))",
				s.priority, s.dscps, s.dscps))
			evidence(&n, s.firstOther)
			f.add(n)
		}
	},
}

var ruleQoSPairDSCP = Rule{
	Name:     "qos.pair_dscp",
	Severity: SeverityNotice,
	Title:    "queue pairs between the same hosts use different DSCPs",
	Meaning: "Data from one host to another travel in different classes, depending on the queue pair. That may be meant, for services apart; " +
		"else some application sets a traffic class of its own, and its data share neither the lossless queue nor the marks of the others.",
	Advice: "compare the traffic class that each application sets (rdma_set_option, ibv_ah_attr, NCCL_IB_TC) with the host's default",
	find: func(f *finder) {
		type direction struct{ src, dst string }
		first := map[direction]*Flow{}
		var flows []*Flow
		var conns []*Connection
		eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if fl.markings.KindPackets(marking.KindData) == 0 {
				return
			}
			d := dataDSCPs(fl)
			if d.len() != 1 {
				return // qos.mixed_dscp
			}
			k := direction{fl.SrcIP, fl.DstIP}
			g := first[k]
			if g == nil {
				first[k] = fl
				return
			}
			if dataDSCPs(g) != d {
				flows, conns = append(flows, fl), append(conns, c)
			}
		})
		if len(flows) > 0 {
			d := direction{flows[0].SrcIP, flows[0].DstIP}
			f.add(aboutFlows(flows, conns, fmt.Sprintf("DSCP %d, others from %s to %s DSCP %d", dataDSCPs(flows[0]).least(), d.src, d.dst, dataDSCPs(first[d]).least())))
		}
	},
}
