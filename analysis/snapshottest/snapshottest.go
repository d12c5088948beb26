// Package snapshottest has snapshots made by hand, of which every face has golden
// texts: they hold what no single capture has.
package snapshottest

import (
	"rdmascope/analysis"
)

// Start is the first packet of all of them.
const Start = analysis.Time(1_772_619_302_113_000_000) // 2026-03-04T10:15:02.113Z

// All is every snapshot by name.
func All() map[string]*analysis.Snapshot {
	return map[string]*analysis.Snapshot{
		"healthy":  Healthy(),
		"findings": WithFindings(),
		"no_rdma":  NoRDMA(),
		"empty":    Empty(),
		"cut":      Cut(),
		"pfc":      PFCOnly(),
		"hostile":  Hostile(),
		"iwarp":    IWARP(),
		"cm_only":  CMOnly(),
	}
}

// Latency is a block of latencies that go with unit.
func Latency(count, unit int64) *analysis.Latency {
	return &analysis.Latency{Count: count, MinNS: 6 * unit, P50NS: 9 * unit, P90NS: 12 * unit,
		P99NS: 23 * unit, P999NS: 40 * unit, MaxNS: 100*unit + 1, MeanNS: 10 * unit}
}

func decimal(v float64) *analysis.Decimal {
	d := analysis.Decimal(v)
	return &d
}

// Base is a good capture of so many packets, with nothing found.
func Base(packets int64) *analysis.Snapshot {
	return &analysis.Snapshot{
		ToolVersion: "test",
		Inputs: analysis.List[analysis.Input]{{
			Path: "rack7.pcapng", Format: "pcapng", SizeBytes: analysis.Int(10_700_000_000), Complete: true,
			Interfaces: analysis.List[analysis.InputIface]{{ID: 0, Name: "eth7", LinkType: 1, SpeedBps: analysis.Int(100e9)}},
		}},
		Capture: analysis.Capture{
			StartTime: Start, EndTime: Start + 6_240_000_000, DurationNS: analysis.Int(6_240_000_000),
			Packets: packets, WireBytes: packets * 1000, CapturedBytes: packets * 1000, Grade: analysis.GradeGood,
		},
		Protocols: analysis.Protocols{RoCEv2: analysis.Traffic{Packets: packets, WireBytes: packets * 1000}},
	}
}

// Pair is a healthy RC connection.
func Pair(id, a, b string, qa, qb int64) analysis.Connection {
	return analysis.Connection{
		ID: id, Transport: "rocev2", Service: "rc",
		A:         analysis.Endpoint{IP: analysis.Text(a), QPN: analysis.Int(qa)},
		B:         analysis.Endpoint{IP: analysis.Text(b), QPN: analysis.Int(qb)},
		Pairing:   analysis.Pairing{Method: "cm", Confidence: "certain"},
		FirstTime: Start, LastTime: Start + 6_000_000_000,
		Flows: analysis.List[analysis.Flow]{
			{SrcIP: a, DstIP: b, DestQP: analysis.Int(qb), Packets: 540_112, WireBytes: 2_200_000_000,
				Opcodes:  analysis.Counts{"RC RDMA Write First": 100, "RC RDMA Write Middle": 1000, "RC RDMA Write Last": 100, "RC RDMA Read Request": 7},
				Messages: analysis.Int(107), DSCP: analysis.ByNumber{26: 540_112},
				UDPSrcPorts: analysis.List[int64]{49152}, Naks: &analysis.Naks{}, RNRNaks: analysis.Int(0), ICRCChecked: 540_112,
				Acks: analysis.Int(100), Latency: analysis.Latencies{Ack: Latency(107, 700), ReadLast: Latency(7, 4600)}},
			{SrcIP: b, DstIP: a, DestQP: analysis.Int(qa), Packets: 1000, WireBytes: 70_000,
				Opcodes: analysis.Counts{"RC Acknowledge": 993, "RC RDMA Read Response Only": 7},
				Naks:    &analysis.Naks{}, RNRNaks: analysis.Int(0), ICRCChecked: 1000},
		},
	}
}

// Healthy has two connections and nothing to find.
func Healthy() *analysis.Snapshot {
	s := Base(541_112)
	c := Pair("c01", "10.0.0.7", "10.0.1.9", 0x91c4, 0x1a2f3)
	c.CM = &analysis.CM{State: "established", Requests: 1, Replies: 1, RetryCount: analysis.Int(7), Port: analysis.Int(18515), ServiceID: "0x0000000001064853"}
	s.Protocols.CM = analysis.Traffic{Packets: 3, WireBytes: 966}
	s.Connections = append(s.Connections, c)
	s.ConnectionsTotal = 1
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityOK, Headline: "No findings in 541,112 packets (1 connection); PFC was not observable."}
	s.Capture.KernelDroppedPackets = analysis.Int(0)
	return s
}

// WithFindings has a storm, what it caused, and doubts about the capture.
func WithFindings() *analysis.Snapshot {
	s := Base(81_234_567)
	s.Capture.PFCVisible = true
	s.Capture.Grade, s.Capture.GradeReasons = analysis.GradeLimited, analysis.List[string]{"snap length 192: iCRC not checked"}
	s.Capture.SnaplenCutPackets = 80_000_000
	s.Capture.UnseenPackets = analysis.Int(0)
	for i, id := range []string{"c01", "c02", "c03"} {
		a := []string{"10.0.0.7", "10.0.0.8", "fd00:1234:5678:9abc:def0:1234:5678:9abc"}[i]
		b := []string{"10.0.1.9", "10.0.1.9", "fd00:1234:5678:9abc:def0:1234:5678:9abd"}[i]
		c := Pair(id, a, b, 0x91c4+int64(i), 0x1a2f3+int64(i))
		for j := range c.Flows {
			f := &c.Flows[j]
			f.ICRCChecked = 0
			f.Retransmitted, f.LostUpstream, f.LostDownstream = analysis.Int(0), analysis.Int(0), analysis.Int(0)
		}
		s.Connections = append(s.Connections, c)
	}
	f := &s.Connections[1].Flows[0]
	f.Naks = &analysis.Naks{PSNSequenceError: 3, RemoteAccessError: 1}
	f.RNRNaks, f.RNRTimers = analysis.Int(12), analysis.ByNumber{12: 10, 1: 2}
	f.Retransmitted, f.LostDownstream = analysis.Int(2211), analysis.Int(3)
	f.Latency.Message = Latency(61_204, 4_800_000)
	f.Latency.Message.Recovered = 5
	s.ConnectionsTotal, s.ConnectionsOmitted = 412, 409
	prio := analysis.Priority(3)
	s.Findings = analysis.List[analysis.Finding]{
		{ID: "F1", Rule: "pfc.storm", Severity: analysis.SeverityCritical, Confidence: "high", Title: "priority 3, pauses sent by b8:ce:f6:11:22:33",
			Meaning:   "4,814 pause frames, quanta 65535, no resume; 37 queue pairs silent for more than 100 ms meanwhile; the limit is a paused share of 10 %",
			FirstTime: Start + 2_909_117_000, LastTime: Start + 3_389_904_000, FirstPacket: analysis.Int(40_112_008), LastPacket: analysis.Int(44_871_090),
			Packets: analysis.List[int64]{40_112_008}, Subject: analysis.Subject{Kind: "pfc_port", EthSrc: "b8:ce:f6:11:22:33", Priority: &prio},
			Metrics: analysis.Map[analysis.Decimal]{"paused_ratio": 0.93}, Limits: analysis.Map[analysis.Decimal]{"paused_ratio": 0.1},
			Filters: analysis.Filters{Wireshark: "eth.src==b8:ce:f6:11:22:33 && macc.cbfc.enbv.c3==1"},
			Advice:  "that host stopped draining: check its PCIe and rx counters; is the PFC watchdog on?"},
		{ID: "F2", Rule: "rc.go_back_n", Severity: analysis.SeverityCritical, Confidence: "medium", Title: "10.0.0.8 → 10.0.1.9 QP 0x01a2f4 went back and sent 2,211 packets again after one NAK",
			FirstTime: Start + 3_390_420_000, LastTime: Start + 3_420_420_000, FirstPacket: analysis.Int(44_871_377), CausedBy: "F1",
			Subject: analysis.Subject{Kind: "flow", ConnectionID: "c02", SrcIP: "10.0.0.8", DstIP: "10.0.1.9", DestQP: analysis.Int(0x1a2f4)},
			Metrics: analysis.Map[analysis.Decimal]{"resent_packets": 2211, "recovery_ns": 30e6}, Limits: analysis.Map[analysis.Decimal]{"recovery_ns": 1e6},
			Filters: analysis.Filters{Wireshark: "infiniband.bth.destqp==0x01a2f4 && frame.number in {44871377..45260118} && ip.src==10.0.0.8"}},
		{ID: "F3", Rule: "ecn.no_cnp", Severity: analysis.SeverityWarning, Confidence: "low", Title: "CE marks without CNP", Metrics: analysis.Map[analysis.Decimal]{"ce_packets": 1920}},
		{ID: "F4", Rule: "qos.default_class", Severity: analysis.SeverityNotice, Confidence: "high", Title: "RoCE in DSCP 0"},
	}
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityCritical, FindingID: "F1", Headline: "PFC storm on priority 3 froze 37 of 412 QPs for 481 ms."}
	s.PFC.LinkSpeedBps, s.PFC.LinkSpeedFrom = analysis.Int(100e9), "pcapng"
	s.PFC.Sources = analysis.List[analysis.PFCSource]{{Interface: "eth7", Direction: "inbound", EthSrc: "b8:ce:f6:11:22:33", Priority: 3, LinkSpeedBps: analysis.Int(100e9),
		XOFFFrames: 4814, PausedNS: analysis.Int(447_000_000), PausedRatio: decimal(0.0716), LongestPauseNS: analysis.Int(447_000_000), Transitions: analysis.Int(0), Expiries: analysis.Int(0), FirstTime: Start, LastTime: Start}}
	s.PFC.Storms = analysis.List[analysis.PFCStorm]{{Interface: "eth7", EthSrc: "b8:ce:f6:11:22:33", Priority: 3, StartTime: Start + 2_909_117_000, DurationNS: 480_787_000, Frames: 4814, Kind: "storm", Root: true,
		Victims: analysis.List[analysis.PFCVictim]{{ConnectionID: "c01", QuietNS: 480e6}}}}
	s.Conformance = analysis.List[analysis.Conformance]{{Rule: "rc.reth_length", Count: 2, FirstPacket: analysis.Int(1234)}}
	s.Storage.IO = analysis.List[analysis.StorageIO]{{ConnectionID: "c01", QueueID: analysis.Int(1), Protocol: "nvme", Operation: "Read", Count: 100, Answered: 99, Unanswered: 1, Bytes: analysis.Int(409_600), Completion: Latency(99, 5000)}}
	return s
}

// NoRDMA has none.
func NoRDMA() *analysis.Snapshot {
	s := Base(1_204_331)
	s.Protocols = analysis.Protocols{Other: analysis.Traffic{Packets: 1_204_331, WireBytes: 1_204_331_000}}
	s.Capture.Contents = analysis.Counts{"TCP": 855_075, "UDP port 4789": 349_255, "TCP port 18515": 1}
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityNotice, Headline: "No RoCE, iWARP or PFC in 1,204,331 packets."}
	return s
}

// Empty has no packet.
func Empty() *analysis.Snapshot {
	s := &analysis.Snapshot{ToolVersion: "test", Verdict: analysis.Verdict{Severity: analysis.SeverityNotice}}
	s.Capture.Grade = analysis.GradePoor
	s.Inputs = analysis.List[analysis.Input]{{Path: "-", Format: "pcap", Complete: true}}
	return s
}

// Cut is an early state of a report: what later versions measure is
// null, a file ended early, packets are cut, clocks ran backwards.
func Cut() *analysis.Snapshot {
	s := Base(12_000)
	c := Pair("c01", "10.0.0.7", "10.0.1.9", 0x91c4, 0x1a2f3)
	c.A.QPN, c.Pairing = nil, analysis.Pairing{Method: "none", Confidence: "none"}
	c.Flows = c.Flows[:1]
	f := &c.Flows[0]
	f.Latency, f.ICRCChecked = analysis.Latencies{}, 0
	f.Naks, f.RNRNaks = nil, nil
	f.Reasons = analysis.Map[string]{"naks": "no reverse traffic captured", "rnr_naks": "no reverse traffic captured", "latency": "not paired"}
	s.Connections, s.ConnectionsTotal = append(s.Connections, c), 1
	in := &s.Inputs[0]
	in.Complete, in.Error, in.Compression = false, "cut short in packet 12,001", "gzip"
	in.Interfaces[0].DroppedPackets, in.Interfaces[0].ReceivedPackets = analysis.Int(77), analysis.Int(12_077)
	in.Interfaces = append(in.Interfaces, analysis.InputIface{ID: 1, LinkType: 113})
	k := &s.Capture
	k.KernelDroppedPackets, k.SnaplenCutPackets, k.MalformedPackets, k.UnknownPackets, k.BackwardTimestamps, k.Fragments = analysis.Int(77), 11_000, 3, 2, 5, 1
	k.UntrustedPackets = 4
	k.DuplicatePackets = analysis.Int(9)
	k.DecodeStops = analysis.Map[analysis.Counts]{"BTH": {"opcode not known": 2}, "RETH": {"truncated": 3, "cut by the snap length": 10}}
	k.Evictions = analysis.Counts{"half_connections": 4}
	k.Grade, k.GradeReasons = analysis.GradePoor, analysis.List[string]{"77 packets dropped by the recorder", "5 timestamps ran backwards"}
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityWarning, Headline: "The capture is incomplete: what looks like loss may be the capture's own."}
	return s
}

// PFCOnly has pauses and nothing else.
func PFCOnly() *analysis.Snapshot {
	s := Base(5000)
	s.Protocols = analysis.Protocols{PFC: analysis.Traffic{Packets: 4990, WireBytes: 299_400}, Pause: analysis.Traffic{Packets: 10, WireBytes: 600}}
	s.Capture.PFCVisible = true
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityNotice, Headline: "No RDMA, but pauses: priority 3 was paused 41 % of the time."}
	s.PFC.LinkSpeedBps, s.PFC.LinkSpeedFrom = analysis.Int(100e9), "assumed"
	s.PFC.Sources = analysis.List[analysis.PFCSource]{
		{Interface: "0", EthSrc: "00:00:00:00:00:00", Priority: analysis.PriorityAll, XOFFFrames: 10, FirstTime: Start, LastTime: Start, MalformedFrames: 2},
		{Interface: "spine-leaf-uplink-0/1/2", EthSrc: "b8:ce:f6:11:22:33", Direction: "outbound", Priority: 3, LinkSpeedBps: analysis.Int(100e9),
			XOFFFrames: 4000, XONFrames: 990, PausedNS: analysis.Int(2_558_400_000), PausedRatio: decimal(0.41), LongestPauseNS: analysis.Int(335_539), Transitions: analysis.Int(990), Expiries: analysis.Int(0), FirstTime: Start, LastTime: Start},
	}
	return s
}

// Hostile carries escapes in every text that comes from outside.
func Hostile() *analysis.Snapshot {
	const evil = "\x1b[2J\x1b]0;owned\x07a\u202eb\xff\r\n\tc\u009b31m"
	s := Base(10)
	s.Inputs[0].Path = "$(reboot)'" + evil
	s.Inputs[0].Complete, s.Inputs[0].Error = false, evil
	s.Inputs[0].Interfaces[0].Name = evil
	s.Capture.DecodeStops = analysis.Map[analysis.Counts]{evil: {evil: 1}}
	s.Capture.GradeReasons = analysis.List[string]{evil}
	c := Pair(evil, evil, evil, 1, 2)
	c.CM = &analysis.CM{State: "rejected", RejectReason: analysis.Int(28), RejectText: evil, Requests: 1}
	s.Connections, s.ConnectionsTotal = append(s.Connections, c), 1
	s.Findings = analysis.List[analysis.Finding]{{ID: "F1", Rule: evil, Severity: analysis.SeverityNotice, Confidence: "low", Title: evil, Meaning: evil, Advice: evil,
		FirstPacket: analysis.Int(1), Filters: analysis.Filters{Wireshark: evil}}}
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityNotice, FindingID: "F1", Headline: evil}
	s.Capture.PFCVisible = true
	s.PFC.Sources = analysis.List[analysis.PFCSource]{{Interface: evil, EthSrc: evil}}
	return s
}

// IWARP has a connection over TCP.
func IWARP() *analysis.Snapshot {
	s := Base(100)
	s.Protocols = analysis.Protocols{IWARP: analysis.Traffic{Packets: 100, WireBytes: 100_000}}
	s.Connections = analysis.List[analysis.Connection]{{
		ID: "c07", Transport: "iwarp", Service: "stream", Pairing: analysis.Pairing{Method: "tcp", Confidence: "certain"},
		A: analysis.Endpoint{IP: "10.0.0.1", Port: analysis.Int(40_000)}, B: analysis.Endpoint{IP: "10.0.0.2", Port: analysis.Int(4420)},
		Closed: &analysis.Closed{How: "fin", When: Start},
		Flows: analysis.List[analysis.Flow]{
			{SrcIP: "10.0.0.1", DstIP: "10.0.0.2", SrcPort: analysis.Int(40_000), DstPort: analysis.Int(4420), Packets: 60, WireBytes: 60_000,
				Opcodes: analysis.Counts{"RDMA_WRITE": 10, "READ_REQUEST": 20, "SEND_INV": 5}, TCP: &analysis.TCP{RTT: Latency(9, 1000)}, MPA: &analysis.MPA{},
				Reads: &analysis.Reads{}, Terminates: analysis.List[analysis.Terminate]{}, Holes: analysis.List[analysis.Hole]{}},
			{SrcIP: "10.0.0.2", DstIP: "10.0.0.1", SrcPort: analysis.Int(4420), DstPort: analysis.Int(40_000), Packets: 40, WireBytes: 40_000,
				Opcodes: analysis.Counts{"READ_RESPONSE": 20}},
		},
	}}
	s.ConnectionsTotal = 1
	s.Verdict.Severity = analysis.SeverityOK
	return s
}

// CMOnly has attempts to connect alone.
func CMOnly() *analysis.Snapshot {
	s := Base(40)
	s.Protocols = analysis.Protocols{CM: analysis.Traffic{Packets: 4, WireBytes: 1288}, Other: analysis.Traffic{Packets: 36, WireBytes: 3600}}
	for i, id := range []string{"c01", "c02"} {
		c := Pair(id, "10.0.0.7", "10.0.1.9", 17+int64(i), 18)
		c.Flows, c.Service = nil, ""
		c.CM = &analysis.CM{State: "req", Requests: 3, Retried: 2, Port: analysis.Int(4420)}
		s.Connections = append(s.Connections, c)
	}
	s.Connections = append(s.Connections, s.Connections[1])
	s.Connections[2].ID, s.Connections[2].CM = "c03", &analysis.CM{State: "established", Requests: 1, Replies: 1, Port: analysis.Int(4420)}
	s.Connections[0].CM = &analysis.CM{State: "rejected", Requests: 1, RejectReason: analysis.Int(8), RejectText: "invalid service id: nobody listens on this port", Port: analysis.Int(7471)}
	s.ConnectionsTotal = 3
	s.Verdict = analysis.Verdict{Severity: analysis.SeverityWarning, Headline: "Three connections were attempted, one came about, no data was seen."}
	return s
}
