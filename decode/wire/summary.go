package wire

import (
	"strconv"
	"strings"

	"rdmascope/decode/pfc"
	"rdmascope/decode/roce"
)

// Summary says in one line what p is, in the manner of Wireshark's Info column,
// with codes in words.
func Summary(p *Packet) string {
	switch {
	case p.Kind.IsRoCE() && p.Has(FlagBTH):
		return roceSummary(p)
	case p.Kind == KindPFC || p.Kind == KindPause:
		return macControlSummary(p)
	}
	s := otherSummary(p)
	if p.Stop.Reason != ReasonNone {
		s += " [" + p.Stop.String() + "]"
	}
	return strings.TrimSpace(s)
}

func roceSummary(p *Packet) string {
	h := &p.RoCE
	s := line{b: make([]byte, 0, 96)}
	s.text(h.BTH.Opcode.String())
	s.text("  QP ").hex(uint64(h.BTH.DestQP), 6).text(" PSN ").dec(uint64(h.BTH.PSN))
	if h.Present.Has(roce.HeaderDETH) {
		s.text(" from QP ").hex(uint64(h.DETH.SrcQP), 6)
	}
	if h.Present.Has(roce.HeaderAETH) {
		s.text(" ").text(syndromeText(h.AETH.Syndrome)).text(" MSN ").dec(uint64(h.AETH.MSN))
	}
	if h.Present.Has(roce.HeaderRETH) {
		s.text(" VA ").hex(h.RETH.VA, 0).text(" R_Key ").hex(uint64(h.RETH.RKey), 8).text(" length ").dec(uint64(h.RETH.DMALen))
	}
	if h.Present.Has(roce.HeaderAtomicETH) {
		s.text(" VA ").hex(h.AtomicETH.VA, 0).text(" R_Key ").hex(uint64(h.AtomicETH.RKey), 8)
	}
	if h.Present.Has(roce.HeaderImmDt) {
		s.text(" Imm ").hex(uint64(h.ImmDt.Immediate), 8)
	}
	if h.Present.Has(roce.HeaderIETH) {
		s.text(" invalidates ").hex(uint64(h.IETH.RKey), 8)
	}
	if h.PayloadLen > 0 {
		s.text(" payload ").dec(uint64(h.PayloadLen))
	}
	if h.BTH.AckReq {
		s.text(" AckReq")
	}
	if mad := madSummary(p); mad != "" {
		s.text("  ").text(mad)
	}
	s.marks(p)
	return string(s.b)
}

// marks appends what is unusual about a packet.
func (s *line) marks(p *Packet) {
	if p.Has(FlagNet) && p.ECN() == 3 {
		s.text(" CE")
	}
	if p.Has(FlagPart) {
		s.text(" [of the same merged frame]")
	} else if p.Has(FlagMulti) {
		s.text(" [merged by receive offload")
		if p.Merged > 0 {
			s.text(": ").dec(uint64(p.Merged)).text(" packets")
		}
		s.text("]")
	}
	if p.ICRC == roce.ICRCBad {
		s.text(" [iCRC bad]")
	}
	if p.Stop.Reason != ReasonNone {
		s.text(" [").text(p.Stop.String()).text("]")
	}
}

// syndromeText says what a syndrome means: "ACK", "ACK credits 8", "NAK PSN
// sequence error", "RNR NAK timer 0.64 ms".
func syndromeText(s roce.Syndrome) string {
	switch s.Kind() {
	case roce.SyndromeACK:
		if n, ok := s.Credits(); ok {
			return "ACK credits " + strconv.Itoa(n)
		}
		return "ACK"
	case roce.SyndromeRNRNAK:
		return "RNR NAK timer " + milliseconds(s.RNRTimer())
	}
	return s.String()
}

// madSummary names the management datagram that p carries: "CM REQ", "SubnDir
// Get"; "" for none.
func madSummary(p *Packet) string {
	h, ok := madHeader(p, 4)
	if !ok {
		return ""
	}
	class := roce.MgmtClass(h[1])
	if class != roce.MgmtClassCommMgt || len(h) < roce.MADHeaderLen {
		return class.String() + " " + roce.Method(h[3]).String()
	}
	attribute := roce.AttributeID(be16(h, 16))
	s := "CM " + attribute.CMName()
	if attribute.CMName() == "" {
		return s + "attribute " + hexText(uint64(attribute), 16)
	}
	body := h[roce.MADHeaderLen:]
	switch {
	case attribute == roce.AttributeREQ && len(body) >= 16:
		s += " service " + serviceText(be64(body, 8))
	case attribute == roce.AttributeSIDRREQ && len(body) >= 16:
		s += " service " + serviceText(be64(body, 8))
	case attribute == roce.AttributeREJ && len(body) >= 12:
		s += " " + roce.RejectReason(be16(body, 10)).String()
	}
	return s
}

func serviceText(v uint64) string {
	if w := serviceWords(v); w != "" {
		return w
	}
	return hexText(v, 64)
}

// macControlSummary says which priorities a pause frame stops, or lets go.
func macControlSummary(p *Packet) string {
	var f pfc.Frame
	off := int(p.TransOff)
	if off > len(p.Data) {
		return "MAC control [cut]"
	}
	err := f.Decode(p.EthDst, p.Data[off:], int(p.TransLen))
	s := line{}
	switch p.Kind {
	case KindPause:
		s.text("PAUSE ").dec(uint64(f.Pause)).text(" quanta")
	case KindPFC:
		s.text("PFC")
		for i := range pfc.Priorities {
			if f.Enabled(i) {
				s.text(" prio ").dec(uint64(i)).text(": ").dec(uint64(f.Time[i])).text(" quanta")
			}
		}
	default:
		s.text("MAC control")
	}
	if err != nil {
		s.text(" [").text(err.Error()).text("]")
	}
	return string(s.b)
}

// otherSummary names what is neither RoCE nor a pause frame.
func otherSummary(p *Packet) string {
	s := line{}
	ports := func() { s.dec(uint64(p.SrcPort)).text(" → ").dec(uint64(p.DstPort)) }
	switch {
	case p.Kind == KindTCP && p.TransOff != 0:
		ports()
		if rdma := iwarpSummary(p); rdma != "" {
			s.text(" ").text(rdma)
			break
		}
		s.text(" [").text(p.TCP.Flags.String()).text("] Seq ").dec(uint64(p.TCP.Seq)).text(" Ack ").dec(uint64(p.TCP.Ack))
		s.text(" Win ").dec(uint64(p.TCP.Window)).text(" Len ").dec(uint64(p.TransLen))
	case p.Kind == KindLLDP:
		s.text("LLDP")
	case p.Has(FlagPorts):
		ports()
		s.text(" Len ").dec(uint64(p.TransLen))
	case p.Has(FlagNet) && p.Has(FlagLaterFragment):
		s.text("fragment of IP protocol ").dec(uint64(p.Proto))
	case p.Has(FlagNet):
		s.text(protocolText(uint64(p.Proto)))
	case p.Has(FlagEth):
		s.text(etherText(uint64(p.EtherType)))
	}
	return string(s.b)
}

func protocolText(v uint64) string {
	if n := protoName(v); n != "" {
		return n
	}
	return "IP protocol " + strconv.FormatUint(v, 10)
}

func etherText(v uint64) string {
	if n := etherName(v); n != "" {
		return n
	}
	if v <= maxLength {
		return "LLC"
	}
	return "EtherType " + hexText(v, 16)
}

// line is text under construction.
type line struct{ b []byte }

func (l *line) text(s string) *line {
	l.b = append(l.b, s...)
	return l
}

func (l *line) dec(v uint64) *line {
	l.b = strconv.AppendUint(l.b, v, 10)
	return l
}

// hex appends v with at least the given number of digits.
func (l *line) hex(v uint64, digits int) *line { return l.text(hexText(v, 4*digits)) }
