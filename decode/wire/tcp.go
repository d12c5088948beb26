package wire

import "encoding/binary"

// TCPHeader is what the analyses need of a TCP header (RFC 9293 §3.1).
type TCPHeader struct {
	Seq, Ack  uint32
	Window    uint16
	Flags     TCPFlags
	HeaderLen uint8 // 20…60 octets, options included
}

// TCPFlags are the control bits, CWR…FIN in the order of the wire.
type TCPFlags uint8

// Control bits.
const (
	TCPFin TCPFlags = 1 << iota
	TCPSyn
	TCPRst
	TCPPsh
	TCPAck
	TCPUrg
	TCPEce
	TCPCwr
)

// tcpFlagNames are in the order in which Wireshark lists them.
var tcpFlagNames = [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"}

// String returns the flags as "SYN, ACK".
func (t TCPFlags) String() string {
	s := ""
	for i, name := range tcpFlagNames {
		if t>>i&1 != 0 {
			if s != "" {
				s += ", "
			}
			s += name
		}
	}
	return s
}

// tcp decodes a TCP header (RFC 9293 §3.1) up to the data offset; options are
// read where they are used.
func (f *frame) tcp(off int) {
	if !f.enter(LayerTCP, off) || !f.need(off, 20, LayerTCP) {
		return
	}
	p, h := f.p, f.b[off:off+20]
	p.Kind = KindTCP
	p.SrcPort, p.DstPort = be16(h, 0), be16(h, 2)
	p.Flags |= FlagPorts
	p.L4Off = uint32(off)
	p.TCP = TCPHeader{Seq: be32(h, 4), Ack: be32(h, 8), HeaderLen: h[12] >> 4 * 4, Flags: TCPFlags(h[13]), Window: be16(h, 14)}
	hl := int(p.TCP.HeaderLen)
	if hl < 20 {
		f.stop(LayerTCP, ReasonLength)
		return
	}
	p.TransOff, p.TransLen = uint32(off+hl), span(off+hl, f.end)
	f.need(off, hl, LayerTCP)
}

// CheckState is the result of a checksum.
type CheckState uint8

// Checksum results. CheckPartial is what offloading hosts leave in frames that
// they capture before the adapter has finished them: the sum of the pseudo
// header alone.
const (
	CheckNone CheckState = iota // not checkable: cut, a fragment, no TCP
	CheckOK
	CheckBad
	CheckPartial
)

var checkNames = [...]string{"not checkable", "ok", "bad", "partial (offload)"}

// String returns the result in words.
func (c CheckState) String() string {
	if int(c) < len(checkNames) {
		return checkNames[c]
	}
	return "invalid"
}

// TCPChecksum checks the checksum of a TCP segment (RFC 9293 §3.1). It reads
// the whole segment, so it isn't part of Decode: only who needs it pays.
func (p *Packet) TCPChecksum() CheckState {
	from, to := int(p.L4Off), int(p.TransOff)+int(p.TransLen)
	if p.Kind != KindTCP || p.TransOff == 0 || to > len(p.Data) || p.Flags&(FlagFragment|FlagHiddenCut) != 0 {
		return CheckNone
	}
	segment := p.Data[from:to]
	pseudo := uint64(protoTCP) + uint64(len(segment))
	if p.IPVersion == 4 {
		pseudo += uint64(uint32(p.Src.Lo)) + uint64(uint32(p.Dst.Lo))
	} else {
		for _, a := range [...]Addr{p.Src, p.Dst} {
			pseudo += a.Hi>>32 + a.Hi&0xffffffff + a.Lo>>32 + a.Lo&0xffffffff
		}
	}
	switch field := binary.BigEndian.Uint16(segment[16:]); {
	case fold(pseudo+sum(segment)) == 0xffff:
		return CheckOK
	case field == fold(pseudo):
		return CheckPartial
	}
	return CheckBad
}
