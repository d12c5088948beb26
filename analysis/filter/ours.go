package filter

import (
	"rdmascope/analysis"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Mark is what the analysis says about a packet, and no octet of it does.
type Mark = analysis.PacketMark

// markNames are the names by the bit of the mark.
var markNames = [analysis.PacketMarks]string{"rdma.analysis.retransmission", "rdma.analysis.out_of_order", "rdma.analysis.duplicate_ack",
	"rdma.analysis.duplicate", "rdma.analysis.repeated_response", "rdma.analysis.episode"}

// markDocs tell what they mean.
var markDocs = [analysis.PacketMarks]string{
	"A request sent again by its sender. As all marks told by an analysis of the whole capture first",
	"A first sending that came after a packet that was sent later",
	"An ACK that acknowledges nothing new",
	"A copy of a packet seen before: captured twice, or doubled by the network",
	"A response sent again since it was asked for again",
	"The packet with which the sender steps back",
}

// Marks tells the marks of packets by their number.
type Marks interface{ Marks(number int64) Mark }

// evidence is a finding that names a packet or a connection.
type evidence struct{ rule, severity string }

// ourFields are the names that Wireshark doesn't have.
func ourFields() []*packetField {
	mark := func(name, doc string, m Mark) *packetField {
		return single(name, TypeBool, doc, func(e *packetEnv) (num, bool) {
			if e.marks == nil || e.marks.Marks(e.p.Number)&m == 0 {
				return num{}, false
			}
			return uintNum(1), true
		})
	}
	answer := func(name, doc string, kind roce.SyndromeKind) *packetField {
		return single(name, TypeBool, doc, func(e *packetEnv) (num, bool) {
			ok := e.p.Flags&wire.FlagBTH != 0 && e.p.RoCE.Present.Has(roce.HeaderAETH) && e.p.RoCE.AETH.Syndrome.Kind() == kind
			return uintNum(1), ok
		})
	}
	text := func(name, doc string, v func(*wire.Packet) string) *packetField {
		return &packetField{Field: Field{Name: name, Type: TypeText, Doc: doc}, texts: func(e *packetEnv, buf []string) []string {
			if s := v(e.p); s != "" {
				buf = append(buf, s)
			}
			return buf
		}}
	}
	found := func(name, doc string, v func(evidence) string) *packetField {
		return &packetField{Field: Field{Name: name, Type: TypeText, Doc: doc}, texts: func(e *packetEnv, buf []string) []string {
			for _, x := range e.evidence[e.p.Number] {
				buf = append(buf, v(x))
			}
			return buf
		}}
	}
	var list []*packetField
	for i, name := range markNames {
		list = append(list, mark(name, markDocs[i], 1<<i))
	}
	return append(list,
		answer("rdma.analysis.nak", "A NAK; only on packets of which it is true", roce.SyndromeNAK),
		answer("rdma.analysis.rnr", "An RNR NAK", roce.SyndromeRNRNAK),
		single("rdma.analysis.icrc_bad", TypeBool, "The iCRC is wrong", func(e *packetEnv) (num, bool) {
			return uintNum(1), e.p.Kind.IsRoCE() && e.p.ICRC == roce.ICRCBad
		}),
		text("rdma.kind", "Family: rocev2, rocev1, infiniband, tcp, pfc, pause, lldp or other", func(p *wire.Packet) string { return p.Kind.String() }),
		text("rdma.opcode", "Opcode in words, such as \"RC RDMA Write First\"", func(p *wire.Packet) string {
			if !p.Has(wire.FlagBTH) {
				return ""
			}
			return p.RoCE.BTH.Opcode.String()
		}),
		text("rdma.decode.stop", "Where and why decoding ended early, such as \"bth: cut\"", func(p *wire.Packet) string { return p.Stop.String() }),
		text("_ws.col.protocol", "Column Protocol", Protocol),
		text("_ws.col.info", "Column Info", wire.Summary),
		found("finding.rule", "Rule of a finding that names this packet as evidence", func(x evidence) string { return x.rule }),
		found("finding.severity", "Severity of such a finding: notice, warning or critical", func(x evidence) string { return x.severity }),
	)
}

// Protocol names the protocol of a packet as the list of packets shows it.
func Protocol(p *wire.Packet) string {
	switch p.Kind {
	case wire.KindRoCEv2:
		return "RoCEv2"
	case wire.KindRoCEv1:
		return "RoCEv1"
	case wire.KindInfiniBand:
		return "InfiniBand"
	case wire.KindTCP:
		if wire.ShowsIWARP(p) {
			return "iWARP"
		}
		return "TCP"
	case wire.KindPFC:
		return "PFC"
	case wire.KindPause:
		return "PAUSE"
	case wire.KindLLDP:
		return "LLDP"
	}
	switch {
	case p.Has(wire.FlagPorts):
		return "UDP"
	case p.Has(wire.FlagNet) && p.Proto == 1:
		return "ICMP"
	case p.Has(wire.FlagNet) && p.Proto == 58:
		return "ICMPv6"
	case p.IPVersion == 4:
		return "IPv4"
	case p.IPVersion == 6:
		return "IPv6"
	case p.EtherType == 0x0806:
		return "ARP"
	}
	return "other"
}

// byPacket lists the findings that name each packet.
func byPacket(list []analysis.Finding) map[int64][]evidence {
	m := make(map[int64][]evidence)
	for i := range list {
		f := &list[i]
		for _, n := range f.Packets {
			m[n] = append(m[n], evidence{f.Rule, string(f.Severity)})
		}
	}
	return m
}
