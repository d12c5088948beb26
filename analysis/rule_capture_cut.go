package analysis

import "fmt"

var ruleCaptureCut = Rule{
	Name:     "capture.cut",
	Severity: SeverityNotice,
	Title:    "an input ends before its end",
	Meaning:  "The file was cut short, or damaged from some packet on. All packets before it were analysed.",
	Advice:   "copy the file again, or stop the recorder before copying",
	find: func(f *finder) {
		for _, in := range f.Inputs {
			if in.Complete || in.Error == "" { // the latter while it is being read
				continue
			}
			f.add(Finding{Subject: Subject{Kind: "input", Path: in.Path}, Severity: SeverityWarning,
				Meaning: Text(fmt.Sprintf("%s: %s", in.Path, in.Error))})
		}
	},
}
