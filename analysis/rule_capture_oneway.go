package analysis

import "fmt"

var ruleCaptureOneWay = Rule{
	Name:     "capture.one_way",
	Severity: SeverityNotice,
	Title:    "reliable connections were captured in one direction alone",
	Meaning: "A reliable connection always has traffic both ways. Where one direction is missing, the mirror copies one side, the route is " +
		"asymmetric, or the capture was filtered: acknowledgements that aren't there prove no loss, and latencies can't be had.",
	Advice:     "mirror both directions of the port; with equal-cost paths, mirror at the host's own link",
	Thresholds: []Threshold{{"packets", 16, "packets that a connection must have before it counts"}},
	find: func(f *finder) {
		var n, first int64
		for i := range f.Connections {
			c := &f.Connections[i]
			if len(c.Flows) != 1 || c.Service != "rc" && c.Service != "xrc" || Decimal(c.Flows[0].Packets) < f.limit("packets") {
				continue
			}
			if n++; n == 1 {
				first = int64(i)
			}
		}
		if n == 0 {
			return
		}
		c := &f.Connections[first]
		f.add(Finding{Subject: Subject{Kind: "capture"},
			FirstTime: c.FirstTime, LastTime: c.LastTime,
			Metrics: Map[Decimal]{"connections": Decimal(n)},
			Meaning: Text(fmt.Sprintf("%s, the first one %s → %s", plural(n, "connection"), c.Flows[0].SrcIP, c.Flows[0].DstIP))})
	},
}
