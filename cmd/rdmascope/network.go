package main

import (
	"fmt"
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
	mapped     setting // the port map that was read
}

func (f *networkFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.linkSpeed, "link-speed", "", "`SPEED` of the links, such as 100G: turns PFC quanta into time")
	fl.StringVar(&f.portMap, "port-map", "", "`FILE` (TOML) that names the devices at both ends of each link: [[port]] interface, eth_src, direction, device, peer")
	fl.StringVar(&f.priorities, "dscp-priority", "", "`DSCP=PRIORITY` of untagged packets, several with commas, such as 26=3,48=6; others have DSCP/8")
}

// apply turns the flags, and what environment and configuration files say
// where a flag is missing, into options.
func (f *networkFlags) apply(opt *analysis.Options, configPath string) error {
	speed, err := settingOf("link_speed", f.linkSpeed, configPath)
	if err != nil {
		return err
	}
	if opt.LinkSpeed, err = parseSpeed(speed.text); err != nil {
		return speed.fault(err)
	}
	priorities, err := settingOf("dscp_priority", f.priorities, configPath)
	if err != nil {
		return err
	}
	if opt.Priorities, err = parsePriorities(priorities.text); err != nil {
		return priorities.fault(err)
	}
	ports, err := settingOf("port_map", f.portMap, configPath)
	if err != nil || ports.text == "" {
		return err
	}
	data, err := os.ReadFile(ports.text)
	if err != nil {
		return exitf(exitUsage, "%s: %v", ports.name(), err) // which names the file
	}
	if opt.PortMap, err = readPortMap(data); err != nil {
		return ports.fault(err)
	}
	f.mapped = ports
	return nil
}

// parsePriorities reads DSCP=PRIORITY,…; nil is the usual map.
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
			return nil, fmt.Errorf("%q is not DSCP=PRIORITY with a DSCP from 0 to 63 and a priority from 0 to 7", part)
		}
		p[dscp] = uint8(priority)
	}
	return &p, nil
}
