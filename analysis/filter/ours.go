package filter

import (
	"rdmascope/analysis"
	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// Mark is what the analysis says about a packet, and no octet of it does.
type Mark uint8

// Marks of a packet.
const (
	MarkRetransmission Mark = 1 << iota // sent again by its sender
	MarkOutOfOrder                      // a first sending that came late
	MarkDuplicateAck
)

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
			ok := e.p.Flags&decode.FlagBTH != 0 && e.p.RoCE.Present.Has(roce.HeaderAETH) && e.p.RoCE.AETH.Syndrome.Kind() == kind
			return uintNum(1), ok
		})
	}
	text := func(name, doc string, v func(*decode.Packet) string) *packetField {
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
	return []*packetField{
		mark(retransmissionName, "Sent again by its sender. Told by the analysis: refused where none was made or it marks no packets", MarkRetransmission),
		mark(outOfOrderName, "A first sending that arrived late. Told by the analysis, as retransmission", MarkOutOfOrder),
		mark(duplicateAckName, "A duplicate ACK. Told by the analysis, as retransmission", MarkDuplicateAck),
		answer("rdma.analysis.nak", "A NAK; only on packets of which it is true", roce.SyndromeNAK),
		answer("rdma.analysis.rnr", "An RNR NAK", roce.SyndromeRNRNAK),
		single("rdma.analysis.icrc_bad", TypeBool, "The iCRC is wrong", func(e *packetEnv) (num, bool) {
			return uintNum(1), e.p.Kind.IsRoCE() && e.p.ICRC == roce.ICRCBad
		}),
		text("rdma.kind", "Family: rocev2, rocev1, infiniband, tcp, pfc, pause, lldp or other", func(p *decode.Packet) string { return p.Kind.String() }),
		text("rdma.opcode", "Opcode in words, such as \"RC RDMA Write First\"", func(p *decode.Packet) string {
			if !p.Has(decode.FlagBTH) {
				return ""
			}
			return p.RoCE.BTH.Opcode.String()
		}),
		text("rdma.decode.stop", "Where and why decoding ended early, such as \"bth: cut\"", func(p *decode.Packet) string { return p.Stop.String() }),
		text("_ws.col.protocol", "Column Protocol", Protocol),
		text("_ws.col.info", "Column Info", decode.Summary),
		found("finding.rule", "Rule of a finding that names this packet as evidence", func(x evidence) string { return x.rule }),
		found("finding.severity", "Severity of such a finding: notice, warning or critical", func(x evidence) string { return x.severity }),
	}
}

const (
	retransmissionName = "rdma.analysis.retransmission"
	outOfOrderName     = "rdma.analysis.out_of_order"
	duplicateAckName   = "rdma.analysis.duplicate_ack"
)

// Protocol names the protocol of a packet as the list of packets shows it.
func Protocol(p *decode.Packet) string {
	switch p.Kind {
	case decode.KindRoCEv2:
		return "RoCEv2"
	case decode.KindRoCEv1:
		return "RoCEv1"
	case decode.KindInfiniBand:
		return "InfiniBand"
	case decode.KindTCP:
		return "TCP"
	case decode.KindPFC:
		return "PFC"
	case decode.KindPause:
		return "PAUSE"
	case decode.KindLLDP:
		return "LLDP"
	}
	switch {
	case p.Has(decode.FlagPorts):
		return "UDP"
	case p.Has(decode.FlagNet) && p.Proto == 1:
		return "ICMP"
	case p.Has(decode.FlagNet) && p.Proto == 58:
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
