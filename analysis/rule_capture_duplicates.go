package analysis

import "fmt"

var ruleCaptureDuplicates = Rule{
	Name:     "capture.duplicates",
	Severity: SeverityNotice,
	Title:    "packets are in the capture twice",
	Meaning: "Byte-equal packets within a millisecond: a mirror session that copies both directions of two ports, `-i any`, " +
		"or a network that duplicates. They count in packets and bytes, and in nothing else.",
	Advice:     "mirror one direction of each port, or capture on one interface",
	Thresholds: []Threshold{{"duplicate_ratio", 0.001, "share of packets that are copies"}},
	find: func(f *finder) {
		d := f.Capture.DuplicatePackets
		if d == nil || *d == 0 || Decimal(*d) < f.limit("duplicate_ratio")*Decimal(f.Capture.Packets) {
			return
		}
		f.add(Finding{Subject: Subject{Kind: "capture"},
			Metrics: Map[Decimal]{"duplicate_packets": Decimal(*d)},
			Limits:  Map[Decimal]{"duplicate_ratio": f.limit("duplicate_ratio")},
			Meaning: Text(fmt.Sprintf("%s of %s are copies", thousands(*d), plural(f.Capture.Packets, "packet")))})
	},
}
