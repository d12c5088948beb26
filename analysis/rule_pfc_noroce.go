package analysis

import (
	"fmt"
)

var rulePFCNoRoCE = Rule{
	Name:     "pfc.no_roce",
	Severity: SeverityNotice,
	Title:    "pause of a priority without RoCE",
	Meaning: "A port pauses a priority in which no RoCE packet was seen, though RoCE passes here in another one. Either the pause is for other " +
		"traffic, or the ends disagree about which priority RoCE has: then PFC protects the wrong queue.",
	Advice:     "compare the priority that PFC is enabled for with the priority of RoCE's PCP or DSCP on both ends of the link",
	Thresholds: []Threshold{{"roce_packets", 100, "RoCE packets seen on the interface, without which nothing can be said"}},
	find: func(f *finder) {
		for i := range f.PFC.Sources {
			s := &f.PFC.Sources[i]
			var total int64
			list := ""
			for p, n := range s.roce {
				total += n
				if n > 0 {
					list += fmt.Sprintf(", %d", p)
				}
			}
			if s.Priority == PriorityAll || s.XOFFFrames == 0 || s.roce[s.Priority] > 0 || Decimal(total) < f.limit("roce_packets") {
				continue
			}
			n := Finding{Subject: Subject{Kind: "pfc_port", Interface: s.Interface, EthSrc: s.EthSrc, Priority: &s.Priority},
				FirstTime: s.FirstTime, LastTime: s.LastTime, weight: s.XOFFFrames,
				Metrics: Map[Decimal]{"xoff_frames": Decimal(s.XOFFFrames), "roce_packets": Decimal(total)},
				Limits:  Map[Decimal]{"roce_packets": f.limit("roce_packets")},
				Meaning: Text(fmt.Sprintf("%s pauses priority %s %s; RoCE runs in priority %s", s.EthSrc, s.Priority, times(s.XOFFFrames), list[2:])),
				Filters: Filters{Wireshark: Text(pauseFilter(s.EthSrc, s.Priority))}}
			evidence(&n, s.firstPacket)
			f.add(n)
		}
	},
}
