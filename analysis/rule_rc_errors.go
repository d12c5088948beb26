package analysis

import "fmt"

// The three fatal NAKs end a queue pair: both sides go to the error state.

var ruleRCInvalidRequest = Rule{
	Name:     "rc.invalid_request",
	Severity: SeverityCritical,
	Title:    "NAK: invalid request",
	Meaning:  "The responder refused a request as invalid: an opcode that doesn't follow, a length that doesn't fit, more READs than agreed. The queue pair is dead.",
	Advice:   "an error of the application or of a driver: compare the refused packet with what both sides agreed (PMTU, READ depth)",
	find: func(f *finder) {
		fatalNaks(f, 1, func(n *Naks) int64 { return n.InvalidRequest })
	},
}

var ruleRCRemoteAccess = Rule{
	Name:     "rc.remote_access_error",
	Severity: SeverityCritical,
	Title:    "NAK: remote access error",
	Meaning: "The responder refused an RDMA READ, WRITE or atomic: wrong R_Key, an address outside the memory region, or a right that it wasn't given. " +
		"The queue pair is dead.",
	Advice: "compare R_Key and address of the refused request with what the other side registered; look for a region freed too early",
	find: func(f *finder) {
		fatalNaks(f, 2, func(n *Naks) int64 { return n.RemoteAccessError })
	},
}

var ruleRCRemoteOperational = Rule{
	Name:     "rc.remote_operational_error",
	Severity: SeverityCritical,
	Title:    "NAK: remote operational error",
	Meaning:  "The responder could not carry out a valid request: often a receive buffer that is too short for the SEND. The queue pair is dead.",
	Advice:   "compare the sender's message size with the receiver's buffers; the receiver's completion queue holds its own error",
	find: func(f *finder) {
		fatalNaks(f, 3, func(n *Naks) int64 { return n.RemoteOperationalError })
	},
}

func fatalNaks(f *finder, code int, count func(*Naks) int64) {
	eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
		if fl.Naks == nil || count(fl.Naks) == 0 {
			return
		}
		n := flowFinding(c, fl)
		n.weight = count(fl.Naks)
		n.Metrics["naks"] = Decimal(n.weight)
		n.Meaning = Text(fmt.Sprintf("%s: refused by the responder", flowName(fl)))
		n.Filters.Wireshark = Text(and(hostFilter("src", fl.DstIP, c.Transport), hostFilter("dst", fl.SrcIP, c.Transport),
			fmt.Sprintf("infiniband.aeth.syndrome == 0x%02x", 0x60|code)))
		if p := fl.firstNak[code]; p != 0 {
			n.Packets = List[int64]{p}
		}
		f.add(n)
	})
}

var ruleRCICRC = Rule{
	Name:     "rc.icrc",
	Severity: SeverityWarning,
	Title:    "packets with a wrong iCRC",
	Meaning: "The invariant CRC covers everything that no switch may change. A wrong one means that the packet was damaged on the way " +
		"(or that a middlebox rewrote it); the receiver drops it as if it were lost.",
	Advice:     "look at the CRC and symbol error counters of the links and at cables and optics before the capture point",
	Thresholds: []Threshold{{"bad_packets", 1, "packets with a wrong iCRC"}},
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if fl.ICRCBad == 0 || Decimal(fl.ICRCBad) < f.limit("bad_packets") {
				return
			}
			n := flowFinding(c, fl)
			n.weight = fl.ICRCBad
			n.Metrics["icrc_bad_packets"] = Decimal(fl.ICRCBad)
			n.Meaning = Text(fmt.Sprintf("%s: %s of %s checked", flowName(fl), thousands(fl.ICRCBad), thousands(fl.ICRCChecked)))
			if fl.ICRCChecked > 0 && fl.ICRCBad == fl.ICRCChecked {
				n.Meaning += "; all of them: the sender's NIC adds the iCRC later (captured on the host), or a middlebox rewrote every packet"
				n.Severity = SeverityNotice
			}
			f.add(n)
		})
	},
}

var ruleRCReadDepth = Rule{
	Name:     "rc.read_depth",
	Severity: SeverityNotice,
	Title:    "more READs or atomics outstanding than agreed",
	Meaning:  "The two sides agreed on how many READs and atomics may be open at once; the requester had more.",
	Advice:   "the responder may answer with \"invalid request\"; check max_rd_atomic against max_dest_rd_atomic",
	find: func(f *finder) {
		eachRCFlow(f.Snapshot, func(c *Connection, fl *Flow) {
			if c.CM == nil || c.CM.InitiatorDepth == nil || fl.MaxReads == nil || fl.SrcIP != string(c.A.IP) || *fl.MaxReads <= *c.CM.InitiatorDepth ||
				*c.CM.InitiatorDepth == 0 {
				return
			}
			n := flowFinding(c, fl)
			n.Metrics["max_outstanding_reads"] = Decimal(*fl.MaxReads)
			n.Limits["initiator_depth"] = Decimal(*c.CM.InitiatorDepth)
			n.Meaning = Text(fmt.Sprintf("%s: %d open at once, %d agreed", flowName(fl), *fl.MaxReads, *c.CM.InitiatorDepth))
			f.add(n)
		})
	},
}

var ruleRCConformance = Rule{
	Name:     "rc.conformance",
	Severity: SeverityNotice,
	Title:    "packets break the transport's rules",
	Meaning:  "Sequences of packets that the specification doesn't allow: opcodes that don't follow one another, lengths that don't add up, ACKs of what was never sent.",
	Advice:   "a driver or firmware error, or packets missing in the capture; the list of rules in the report names the first packet of each",
	find: func(f *finder) {
		for _, r := range f.Conformance {
			n := Finding{Subject: Subject{Kind: "capture"}, Metrics: Map[Decimal]{"count": Decimal(r.Count)}, weight: r.Count,
				Meaning: Text(fmt.Sprintf("%s: %s", r.Rule, plural(r.Count, "time")))}
			if r.FirstPacket != nil {
				n.Packets = List[int64]{*r.FirstPacket}
				n.Filters.Wireshark = Text(framesFilter(n.Packets))
			}
			if orZero(f.Capture.UnseenPackets) > 0 || orZero(f.Capture.KernelDroppedPackets) > 0 {
				n.Confidence = ConfidenceLow
			}
			f.add(n)
		}
	},
}
