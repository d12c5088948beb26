package analysis

import (
	"strconv"

	"rdmascope/analysis/iwarp"

	wire "rdmascope/decode/iwarp"
)

// iwarpConnections builds the connections of one partition's TCP streams that
// proved to be iWARP.
func iwarpConnections(part int, r *iwarp.Result) []draft {
	var a arena
	list := make([]draft, len(r.Connections))
	for i := range r.Connections {
		list[i] = iwarpConnection(part, r.Connections[i], 0, &a)
	}
	return list
}

func iwarpConnection(part int, c *iwarp.Connection, generation int32, mem *arena) draft {
	d := draft{part: part, iface: c.Key.Iface, incarnation: int32(c.Incarnation), generation: generation, first: c.FirstPacket}
	d.Transport, d.Service = "iwarp", "stream"
	d.ULP = Text(c.ULP)
	d.FirstTime, d.LastTime = Time(c.FirstTime), Time(c.LastTime)
	d.Pairing = Pairing{Method: "tcp", Confidence: "certain"}
	if c.Closed.How != iwarp.Open {
		d.Closed = &Closed{How: c.Closed.How.String(), When: Time(c.Closed.Time)}
	}
	a, b := &c.Flows[0], &c.Flows[1]
	if c.Initiator == 1 || c.Initiator < 0 && b.Src.Less(a.Src) {
		a, b = b, a
	}
	if a.SYN.Seen && c.Initiator >= 0 {
		d.Opened = d.FirstTime
	}
	for _, end := range []struct {
		to *Endpoint
		f  *iwarp.Flow
	}{{&d.A, a}, {&d.B, b}} {
		end.to.IP, end.to.Port = Text(end.f.Src.String()), Int(int64(end.f.SrcPort))
		if end.f.HasMAC {
			end.to.MAC = Text(end.f.MAC.String())
		}
	}
	for _, f := range []*iwarp.Flow{a, b} {
		if f.Packets > 0 {
			d.packets += f.Packets
			d.refs = append(d.refs, flowRef{-1, d.incarnation})
			d.Flows = append(d.Flows, mem.iwarpFlow(f, c))
		}
	}
	d.ID = connectionID("iwarp", a.Src, b.Src, uint32(a.SrcPort), uint32(b.SrcPort), uint64(generation)<<32|uint64(c.Incarnation))
	return d
}

// iwarpFlow is one direction.
func (a *arena) iwarpFlow(f *iwarp.Flow, c *iwarp.Connection) Flow {
	fl := Flow{
		SrcIP: f.Src.String(), DstIP: f.Dst.String(), SrcPort: Int(int64(f.SrcPort)), DstPort: Int(int64(f.DstPort)),
		Packets: f.Packets, WireBytes: f.WireBytes, PayloadBytes: f.PayloadBytes, Messages: Int(f.Messages), Opcodes: Counts(f.Opcodes),
		ECNCapable: f.ECNCapable, ECNCE: f.ECNCE, ChecksumBad: Int(f.ChecksumBad),
		Duplicates: Int(f.Copies), NetDuplicates: Int(f.NetworkCopies),
		Bounds: lossBounds, DSCP: ByNumber{}, PCP: ByNumber{},
	}
	count := func(name string, v iwarp.Count) *int64 {
		if v.OK() {
			return Int(v.N)
		}
		fl.Reasons = a.with(fl.Reasons, name, v.Why)
		return nil
	}
	for _, name := range []string{"acks", "naks", "rnr_naks", "cnp_packets", "episodes", "unseen_packets", "repeated_response_packets"} {
		fl.Reasons = a.with(fl.Reasons, name, "TCP has none: see tcp")
	}
	for v, n := range f.DSCP {
		fl.DSCP[int(v)] = n
	}
	for v, n := range f.PCP {
		if n > 0 {
			fl.PCP[v] = n
		}
	}
	fl.VLANIDs = sortedKeys(f.VLAN)
	fl.UnseenBytes = count("unseen_bytes", f.UnseenBytes)
	fl.LostUpstream, fl.LostDownstream = count("lost_upstream_packets", f.LostUpstream), count("lost_downstream_packets", f.LostDownstream)
	fl.Retransmitted, fl.RetransBytes = Int(f.TCP.Retransmitted), nil
	fl.Reasons = a.with(fl.Reasons, "retransmitted_bytes", "TCP counts octets: see tcp")
	fl.OutOfOrder = Int(f.TCP.OutOfOrder)
	fl.Latency = Latencies{Ack: tcpLatency(f.AckLatency), ReadFirst: tcpLatency(f.ReadFirst), ReadLast: tcpLatency(f.ReadLast), Atomic: tcpLatency(f.Atomic)}
	fl.MessageSizes = streamMessageSizes(f)
	fl.Turnround = tcpLatency(f.Turnround)
	fl.MaxReads = Int(f.Reads.MaxOutstanding)
	fl.TCP = tcpBlock(&f.TCP, count)
	fl.MPA = mpaBlock(&f.MPA, c, count)
	fl.Reads = &Reads{Requests: f.Reads.Requests, Answered: f.Reads.Answered, MatchedByOrderOnly: f.Reads.ByOrder, MaxOutstanding: Int(f.Reads.MaxOutstanding)}
	fl.Terminates, fl.Holes = List[Terminate]{}, List[Hole]{}
	for i := range f.Terminates {
		fl.Terminates = append(fl.Terminates, terminateBlock(&f.Terminates[i]))
	}
	for i := range f.Holes {
		h := &f.Holes[i]
		fl.Holes = append(fl.Holes, Hole{FirstTime: Time(h.FirstTime), FirstPacket: Int(h.FirstPacket), Bytes: Int(h.Octets), Lost: h.Lost.String(),
			BlockedNS: plain(h.Blocked), DelayedMessages: Int(h.Delayed)})
	}
	fl.stream = f
	return fl
}

// plain is a count, nil when unknown: where no name is there to give a reason.
func plain(v iwarp.Count) *int64 {
	if !v.OK() {
		return nil
	}
	return Int(v.N)
}

func sortedKeys(m map[uint16]int64) List[int64] {
	var list List[int64]
	for v := range 1 << 12 {
		if m[uint16(v)] > 0 {
			list = append(list, int64(v))
		}
	}
	return list
}

func tcpLatency(l *iwarp.Latency) *Latency {
	if l == nil || l.Count == 0 {
		return nil
	}
	return &Latency{Count: l.Count, Coalesced: l.Coalesced, Recovered: l.Recovered, MinNS: l.Min, P50NS: l.P50, P90NS: l.P90, P99NS: l.P99,
		P999NS: l.P999, MaxNS: l.Max, MeanNS: l.Mean, samples: l}
}

func streamMessageSizes(f *iwarp.Flow) Counts {
	c := Counts{}
	for k, n := range f.MessageSizes {
		if n > 0 {
			name := "0"
			if k > 0 {
				name = strconv.FormatUint(uint64(1)<<(k-1), 10)
			}
			c[name] = n
		}
	}
	return c
}

func tcpBlock(t *iwarp.TCP, count func(string, iwarp.Count) *int64) *TCP {
	return &TCP{
		DataSegments: t.DataSegments, Retransmitted: Int(t.Retransmitted), RetransmittedBytes: Int(t.RetransmittedBytes), OutOfOrder: Int(t.OutOfOrder),
		DuplicateAcks: count("tcp.duplicate_acks", t.DuplicateAcks), FastRetransmits: count("tcp.fast_retransmits", t.Fast),
		Timeouts: count("tcp.timeouts", t.Timeouts), TailProbes: count("tcp.tail_probes", t.TailProbes),
		UnknownRetransmits: count("tcp.unknown_retransmits", t.UnknownResends), SpuriousSegments: count("tcp.spurious_segments", t.Spurious),
		DSACKs: count("tcp.dsacks", t.DSACKs), ZeroWindows: count("tcp.zero_windows", t.ZeroWindows),
		HandshakeNS: count("tcp.handshake_ns", t.HandshakeNS), RTT: tcpLatency(t.RTT),
	}
}

func mpaBlock(m *iwarp.MPA, c *iwarp.Connection, count func(string, iwarp.Count) *int64) *MPA {
	b := &MPA{FPDUs: m.FPDUs, LongestFPDU: Int(m.Longest), SendMSS: count("mpa.send_mss_bytes", m.SendMSS), AboveMSS: aboveMSS(m), MarkerFaults: Int(m.MarkerFaults), Segments: m.Segments, AlignedSegments: m.Aligned,
		CRCBad: count("mpa.crc_bad", m.CRCBad)}
	if m.CRCGood.OK() && m.CRCBad.OK() {
		b.CRCChecked = Int(m.CRCGood.N + m.CRCBad.N)
	}
	if v := count("mpa.markers", m.Markers); v != nil {
		b.Markers = Bool(*v > 0)
	}
	switch c.CRC {
	case wire.CRCOn:
		b.CRC = Bool(true)
	case wire.CRCOff:
		b.CRC = Bool(false)
	}
	f := &m.Frame
	if !f.Seen {
		return b
	}
	b.Revision, b.PrivateDataBytes = Int(int64(f.Revision)), Int(int64(f.PrivateLength))
	if f.Reply {
		b.Reject = Bool(f.Reject)
	}
	if f.Enhanced {
		b.IRD, b.ORD = Int(int64(f.IRD)), Int(int64(f.ORD))
		b.PrivateDataBytes = Int(max(int64(f.PrivateLength)-4, 0))
	}
	return b
}

// aboveMSS counts the FPDUs that no segment can hold; nil where the MSS isn't
// known.
func aboveMSS(m *iwarp.MPA) *int64 {
	if !m.SendMSS.OK() {
		return nil
	}
	return Int(m.AboveMSS)
}

func terminateBlock(t *iwarp.Terminate) Terminate {
	order := map[wire.TerminateOrder]string{wire.OrderRFC: "normal", wire.OrderSwapped: "swapped", wire.OrderAmbiguous: "ambiguous"}[t.Order]
	if order == "" {
		order = "unknown"
	}
	return Terminate{Layer: int64(t.Layer), Type: int64(t.EType), Code: int64(t.Code), Text: t.TerminateError.String(), Order: order, Packet: Int(t.Packet)}
}

// iwarpTraffic is what the iWARP connections took of the capture's TCP.
func iwarpTraffic(r *merged) Traffic {
	var sum Traffic
	for i := range r.partitions {
		for k := range r.partitions[i].iwarp.Connections {
			for _, f := range r.partitions[i].iwarp.Connections[k].Flows {
				sum.Packets += f.Packets
				sum.WireBytes += f.WireBytes
			}
		}
	}
	return sum
}
