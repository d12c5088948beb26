package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
)

// networkFlags tell what a capture doesn't: how fast its links are, whose ports
// they join, which priority a DSCP has.
type networkFlags struct {
	linkSpeed  string
	portMap    string
	priorities string
}

func (f *networkFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.linkSpeed, "link-speed", "", "`SPEED` of the links, such as 100G: turns PFC quanta into time")
	fl.StringVar(&f.portMap, "port-map", "", "`FILE` (TOML) that names the devices at both ends of each link: [[port]] interface, eth_src, direction, device, peer")
	fl.StringVar(&f.priorities, "dscp-priority", "", "priorities of untagged packets by DSCP, `DSCP=PRIORITY,…`, such as 26=3,48=6; others have DSCP/8")
}

// apply turns the flags into options.
func (f *networkFlags) apply(opt *analysis.Options) error {
	var err error
	if opt.LinkSpeed, err = parseSpeed(f.linkSpeed); err != nil {
		return err
	}
	if opt.Priorities, err = parsePriorities(f.priorities); err != nil {
		return err
	}
	if f.portMap == "" {
		return nil
	}
	data, err := os.ReadFile(f.portMap)
	if err != nil {
		return exitf(exitUsage, "--port-map: %v", err)
	}
	if opt.PortMap, err = readPortMap(data); err != nil {
		return exitf(exitUsage, "--port-map %s: %v", f.portMap, err)
	}
	return nil
}

// parsePriorities reads --dscp-priority; nil is the usual map.
func parsePriorities(s string) (*analysis.Priorities, error) {
	if s == "" {
		return nil, nil
	}
	p := analysis.UsualPriorities()
	for _, part := range strings.Split(s, ",") {
		left, right, ok := strings.Cut(strings.TrimSpace(part), "=")
		dscp, err := strconv.ParseUint(left, 10, 6)
		priority, err2 := strconv.ParseUint(right, 10, 3)
		if !ok || err != nil || err2 != nil {
			return nil, exitf(exitUsage, "--dscp-priority %s: %q is not DSCP=PRIORITY with a DSCP from 0 to 63 and a priority from 0 to 7", s, part)
		}
		p[dscp] = uint8(priority)
	}
	return &p, nil
}
