package analysis

import "fmt"

var ruleCaptureLoss = Rule{
	Name:     "capture.loss",
	Severity: SeverityWarning,
	Title:    "the capture itself lost packets",
	Meaning: "The recorder tells of packets that it dropped, or data were acknowledged that the capture never shows. " +
		"What is missing here was lost by the capture, not by the network; every count of this report may be too low.",
	Advice: "capture again with a larger buffer, a shorter snaplen (128 octets keep all headers) or a filter; look at the mirror port's own drop counters",
	find: func(f *finder) {
		dropped, unseen := f.Capture.KernelDroppedPackets, f.Capture.UnseenPackets
		n := Finding{Subject: Subject{Kind: "capture"}, Metrics: Map[Decimal]{}}
		what := ""
		if dropped != nil && *dropped > 0 {
			n.Metrics["kernel_dropped_packets"] = Decimal(*dropped)
			what = fmt.Sprintf("the recorder says that it dropped %s", plural(*dropped, "packet"))
		}
		if unseen != nil && *unseen > 0 {
			n.Metrics["unseen_packets"] = Decimal(*unseen)
			if what != "" {
				what += "; "
			}
			what += plural(*unseen, "packet") + " arrived at the receiver and are not in the capture"
			if m := f.Capture.MergedUnsplitFrames; m > 0 {
				what += fmt.Sprintf(", unless they are in the %s that receive offload merged and that could not be told apart", plural(m, "frame"))
			}
		}
		if what != "" {
			n.Meaning = Text(what)
			f.add(n)
		}
	},
}
