package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The rules about pauses take storms as the time line found them; the
// detection times are settings of that (see Options), since a storm's
// boundaries depend on them.

var rulePFCStorm = Rule{
	Name:     "pfc.storm",
	Severity: SeverityCritical,
	Title:    "PFC storm",
	Meaning: "A port was told to stop sending a priority, and told again before each pause ran out, for longer than any healthy receiver needs: " +
		"at least 99 % of 200 ms. Everything of that priority behind the port stands still, and the pause spreads to the switches before it.",
	Advice: "the device that sends the pauses stopped draining: check its PCIe, its receive counters and its host; switch on the PFC watchdog of the port",
	Thresholds: []Threshold{
		{"detect_ms", 200, "shortest storm (SONiC pfcwd's detection time)"},
		{"restore_ms", 200, "storms nearer to one another than this are one that flaps"},
		{"paused_ratio", 0.99, "paused share of a storm"},
		{"cause_ms", 1, "a pause that began at most this long before another one may have caused it"},
		{"caused_ratio", 0.8, "share of a sender's pauses that must have a cause for it not to be a root"},
		{"pfcwd_poll_ms", 200, "polling interval of SONiC's pfcwd, for its verdict"},
		{"nic_watchdog_ms", 100, "time of a NIC's watchdog, for its verdict"},
		{"mlx5_stall_ms", 8000, "stall time of mlx5, which warns at 85 % of it, for its verdict"},
	},
	find: func(f *finder) { stormFindings(f, "storm") },
}

var rulePFCChoppy = Rule{
	Name:     "pfc.choppy",
	Severity: SeverityWarning,
	Title:    "choppy pause: many short stops",
	Meaning: "Pauses come and go a hundred times a second or more. That is congestion held back hop by hop, not a storm: " +
		"throughput suffers, latency jitters, and a watchdog that looks for one long pause sees nothing.",
	Advice: "look for incast at the device that pauses; check that ECN marks before PFC has to stop (Kmin, Kmax)",
	Thresholds: []Threshold{
		{"pauses", 100, "pauses ended by XON that begin within the window"},
		{"window_ms", 1000, "the window"},
	},
	find: func(f *finder) { stormFindings(f, "choppy") },
}

var rulePFCHeavy = Rule{
	Name:     "pfc.heavy",
	Severity: SeverityWarning,
	Title:    "heavily paused",
	Meaning:  "A priority was paused for more than a tenth of the capture, without any one storm.",
	Advice:   "find the receiver that can't keep up; see whether ECN slows the senders before PFC stops them",
	Thresholds: []Threshold{
		{"paused_ratio", 0.1, "paused share of the capture"},
		{"window_ms", 100, "windows in which the report shows the pause over time"},
	},
	find: func(f *finder) { stormFindings(f, "heavy") },
}

func stormFindings(f *finder, kind string) {
	for i := range f.PFC.Storms {
		s := &f.PFC.Storms[i]
		if s.Kind != kind {
			continue
		}
		n := Finding{
			Subject:   Subject{Kind: "pfc_port", Interface: s.Interface, EthSrc: s.EthSrc, Priority: &s.Priority},
			FirstTime: s.StartTime, LastTime: s.StartTime + Time(s.DurationNS),
			Metrics: Map[Decimal]{"duration_ns": Decimal(s.DurationNS), "pause_frames": Decimal(s.Frames), "victims": Decimal(len(s.Victims))},
			Filters: Filters{Wireshark: Text(pauseFilter(s.EthSrc, s.Priority))},
			weight:  s.DurationNS,
		}
		n.Title = fmt.Sprintf("%s on priority %s, by %s", f.rule.Title, s.Priority, s.EthSrc)
		if share := Quotient(s.pausedNS, s.DurationNS); share != nil {
			n.Metrics["paused_ratio"] = *share
		}
		what := fmt.Sprintf("%s in %s", plural(s.Frames, "pause frame"), milliseconds(s.DurationNS))
		if len(s.Victims) > 0 {
			what += fmt.Sprintf("; %s fell silent", plural(int64(len(s.Victims)), "connection"))
		}
		if s.Flaps > 0 {
			n.Metrics["flaps"] = Decimal(s.Flaps)
			what += fmt.Sprintf("; it came back %s, until %s after it began", times(s.Flaps), milliseconds(int64(s.LastTime-s.StartTime)))
		}
		if s.Open {
			what += "; still going when the capture ended"
		}
		if s.Root {
			what += "; it began here"
		}
		if len(s.Spread) > 0 {
			what += fmt.Sprintf(", and spread to %s", plural(int64(len(s.Spread)), "port"))
		}
		what += f.pauseSender(s, &n)
		if chains := f.chainsFrom(s); chains > 0 {
			n.Metrics["chains"] = Decimal(chains)
			what += fmt.Sprintf("; %s of pauses on other ports began with one of these", plural(chains, "chain"))
		}
		if f.PFC.LinkSpeedFrom == "assumed" {
			// At another speed the pauses are longer or shorter in proportion.
			n.Confidence = ConfidenceMedium
			what += "; the link speed is assumed (--link-speed)"
			if j := f.joined(s); j != nil && kind != "storm" {
				n.Metrics["storm_at_link_speed_bps"], n.Metrics["storm_ns"] = Decimal(j.joinedBps), Decimal(j.joinedNS)
				what += fmt.Sprintf(": on a link of %d Gbit/s or less it is one unbroken pause of %s, a storm", j.joinedBps/1e9, milliseconds(j.joinedNS))
			}
		}
		n.Meaning = Text(what)
		if s.firstPacket != 0 {
			n.Packets = List[int64]{s.firstPacket}
		}
		f.add(n)
	}
}

// joined is the source of a storm's pauses, if they would join into one on a
// slower link; else nil.
func (f *finder) joined(s *PFCStorm) *PFCSource {
	for i := range f.PFC.Sources {
		if r := &f.PFC.Sources[i]; r.Interface == s.Interface && r.EthSrc == s.EthSrc && r.Priority == s.Priority && r.joinedBps > 0 {
			return r
		}
	}
	return nil
}

// chainsFrom counts the chains of pauses over interfaces whose root is the
// storm's sender.
func (f *finder) chainsFrom(s *PFCStorm) (n int64) {
	for i := range f.PFC.Spreads {
		if r := f.PFC.Spreads[i].Root; r != nil && r.Interface == s.Interface && r.EthSrc == s.EthSrc {
			n++
		}
	}
	return n
}

// pauseFilter selects the pause frames of a source for a priority.
func pauseFilter(src string, p Priority) string {
	if p == PriorityAll {
		return and("eth.src == "+src, "macc.opcode == 0x0001")
	}
	return and("eth.src == "+src, fmt.Sprintf("macc.cbfc.enbv.c%d == 1", p))
}

var rulePFCDeadlock = Rule{
	Name:     "pfc.deadlock",
	Severity: SeverityCritical,
	Title:    "suspected PFC deadlock",
	Meaning:  "Ports pause one another in a cycle, each fully: none can send until the one before it does. Nothing but a watchdog or a reset ends that.",
	Advice:   "look for a routing loop or an up-down path; the PFC watchdog of any port in the cycle breaks it",
	find: func(f *finder) {
		for i := range f.PFC.Deadlocks {
			d := &f.PFC.Deadlocks[i]
			n := Finding{Subject: Subject{Kind: "pfc_port", Priority: &d.Priority}, FirstTime: d.StartTime, LastTime: d.StartTime + Time(d.DurationNS),
				Metrics: Map[Decimal]{"ports": Decimal(len(d.Members)), "duration_ns": Decimal(d.DurationNS)}, weight: d.DurationNS,
				Confidence: ConfidenceMedium}
			var ring, filters []string
			for _, m := range d.Members {
				ring = append(ring, m.name())
				filters = append(filters, "("+pauseFilter(m.EthSrc, d.Priority)+")")
			}
			ring = append(ring, d.Members[0].name())
			n.Meaning = Text(fmt.Sprintf("priority %s: %s, for %s at once", d.Priority, strings.Join(ring, " stops "), milliseconds(d.DurationNS)))
			n.Subject.Interface, n.Subject.EthSrc = d.Members[0].Interface, d.Members[0].EthSrc
			n.Filters.Wireshark = Text(strings.Join(filters, " || "))
			f.add(n)
		}
	},
}

// name is a sender's device, else its MAC.
func (m *PFCMember) name() string {
	if m.Device != "" {
		return string(m.Device)
	}
	return m.EthSrc
}

var rulePFCViolation = Rule{
	Name:     "pfc.violation",
	Severity: SeverityWarning,
	Title:    "data were sent into a pause",
	Meaning:  "A device went on sending a priority that it had been told to stop, longer than it is allowed to take for stopping. The receiver has to drop what it has no room for.",
	Advice:   "check that PFC is enabled for this priority on the sender's port, and that both ends map DSCP or PCP to the same priority",
	find: func(f *finder) {
		for i := range f.PFC.Violations {
			v := &f.PFC.Violations[i]
			n := Finding{Subject: Subject{Kind: "pfc_port", Interface: v.Interface, EthSrc: v.EthSrc, Priority: &v.Priority, ConnectionID: string(v.ConnectionID)},
				FirstTime: v.FirstTime, LastTime: v.FirstTime, weight: v.Packets,
				Metrics: Map[Decimal]{"packets": Decimal(v.Packets)},
				Meaning: Text(fmt.Sprintf("%s of priority %s towards %s while it paused them", plural(v.Packets, "packet"), v.Priority, v.EthSrc))}
			if v.FirstPacket != nil {
				n.Packets = List[int64]{*v.FirstPacket}
				n.Filters.Wireshark = Text(framesFilter(n.Packets))
			}
			f.add(n)
		}
	},
}

var rulePFCNotEnabled = Rule{
	Name:     "pfc.not_enabled",
	Severity: SeverityWarning,
	Title:    "pause of a priority for which PFC isn't enabled",
	Meaning:  "DCBX (in LLDP) announces for which priorities a port honours PFC. Pause frames for another one are ignored, or stop traffic that nobody meant to stop.",
	Advice:   "compare the PFC configuration of both ends of the link; a NIC that pauses the wrong priority maps DSCP or PCP differently",
	find: func(f *finder) {
		for _, i := range f.PFC.notEnabled {
			s := &f.PFC.Sources[i]
			n := Finding{Subject: Subject{Kind: "pfc_port", Interface: s.Interface, EthSrc: s.EthSrc, Priority: &s.Priority},
				FirstTime: s.FirstTime, LastTime: s.LastTime, weight: s.XOFFFrames,
				Metrics: Map[Decimal]{"xoff_frames": Decimal(s.XOFFFrames)},
				Meaning: Text(fmt.Sprintf("%s pauses priority %s %s, which its link doesn't announce as lossless", s.EthSrc, s.Priority, times(s.XOFFFrames))),
				Filters: Filters{Wireshark: Text(pauseFilter(s.EthSrc, s.Priority))}}
			if s.firstPacket != 0 {
				n.Packets = List[int64]{s.firstPacket}
			}
			f.add(n)
		}
	},
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

var rulePFCMalformed = Rule{
	Name:     "pfc.malformed",
	Severity: SeverityNotice,
	Title:    "malformed pause frames",
	Meaning:  "Pause frames with a wrong destination, a wrong enable vector, or too short: receivers ignore them, or worse.",
	Advice:   "a firmware error of the sender, or a test generator; look at its MAC address",
	find: func(f *finder) {
		for i := range f.PFC.Sources {
			s := &f.PFC.Sources[i]
			if s.MalformedFrames == 0 {
				continue
			}
			n := Finding{Subject: Subject{Kind: "pfc_port", Interface: s.Interface, EthSrc: s.EthSrc, Priority: &s.Priority},
				FirstTime: s.FirstTime, LastTime: s.LastTime, weight: s.MalformedFrames,
				Metrics: Map[Decimal]{"malformed_frames": Decimal(s.MalformedFrames)},
				Meaning: Text(fmt.Sprintf("%s from %s: %s", plural(s.MalformedFrames, "frame"), s.EthSrc, malformedWords(s.MalformedReasons))),
				Filters: Filters{Wireshark: Text(and("eth.src == "+s.EthSrc, "eth.type == 0x8808"))}}
			if s.firstPacket != 0 {
				n.Packets = List[int64]{s.firstPacket}
			}
			f.add(n)
		}
	},
}

// malformedWords says what is wrong, and how often.
func malformedWords(reasons Counts) string {
	words := map[string]string{"short": "too short", "destination": "wrong destination", "enable_vector": "class-enable vector of more than 8 bits"}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		list = append(list, fmt.Sprintf("%s (%s)", words[name], thousands(reasons[name])))
	}
	return strings.Join(list, ", ")
}

var rulePFCVictim = Rule{
	Name:     "pfc.victim",
	Severity: SeverityWarning,
	Title:    "connections stood still behind a pause",
	Meaning:  "These connections sent until the pause began and were silent for most of it: they did nothing wrong, they wait for a priority that is stopped.",
	Advice:   "solve the storm that silenced them",
	Thresholds: []Threshold{
		{"quiet_ratio", 0.5, "share of the storm in which a victim sent nothing"},
		{"gaps", 10, "a victim's last packet came at most this many of its median gaps before the storm"},
	},
	find: func(f *finder) {
		for i := range f.PFC.Storms {
			s := &f.PFC.Storms[i]
			if len(s.Victims) == 0 {
				continue
			}
			longest := int64(0)
			for _, v := range s.Victims {
				longest = max(longest, v.QuietNS)
			}
			f.add(Finding{Subject: Subject{Kind: "pfc_port", Interface: s.Interface, EthSrc: s.EthSrc, Priority: &s.Priority, ConnectionID: s.Victims[0].ConnectionID},
				FirstTime: s.StartTime, LastTime: s.StartTime + Time(s.DurationNS), weight: longest,
				Metrics: Map[Decimal]{"connections": Decimal(len(s.Victims)), "quiet_ns": Decimal(longest)},
				Meaning: Text(fmt.Sprintf("%s silent for up to %s", plural(int64(len(s.Victims)), "connection"), milliseconds(longest))),
				causes:  []string{"pfc.storm", "pfc.choppy", "pfc.heavy"},
				Filters: Filters{Wireshark: Text(pauseFilter(s.EthSrc, s.Priority))}})
		}
	},
}
