package rc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	name := os.Getenv("RC_DUMP")
	if name == "" {
		t.Skip("debugging aid: RC_DUMP=NAME")
	}
	m, _ := filepath.Glob(filepath.Join(sharedDir(t), "captures", name+".pcap*"))
	f := newFeeder(Options{MaxRecoveries: 5000})
	f.noCM = os.Getenv("RC_NOCM") != ""
	for _, c := range f.run(loadCapture(t, m[0])).Connections {
		fmt.Println(c.Method, c.Confidence, c.Candidates, c.Opened, c.Closed, c.Incarnation)
		for _, v := range c.Flows {
			if v != nil {
				r := v.Recoveries
				v.Recoveries = nil
				fmt.Printf("%+v\n", *v)
				for i, l := range v.Latency {
					if l != nil {
						fmt.Printf("   %s %+v\n", LatencyNames[i], *l)
					}
				}
				for _, x := range r {
					fmt.Printf("   %+v\n", x)
				}
			}
		}
	}
}
