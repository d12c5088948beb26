package decode

// TCPHeader is what the analyses need of a TCP header (RFC 9293 §3.1).
type TCPHeader struct {
	Seq, Ack   uint32
	Window     uint16
	Flags      TCPFlags
	HeaderLen  uint8 // 20…60 octets, options included
	ChecksumOK CheckState
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

// CheckState is the result of a checksum.
type CheckState uint8

// Checksum results. CheckPartial is what offloading hosts leave: the sum of
// the pseudo header alone.
const (
	CheckNone CheckState = iota
	CheckOK
	CheckBad
	CheckPartial
)
