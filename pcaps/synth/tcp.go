package synth

// TCP flags.
const (
	FIN     = 0x01
	SYN     = 0x02
	RST     = 0x04
	PSH     = 0x08
	ACKFlag = 0x10
	URG     = 0x20
	ECE     = 0x40
	CWR     = 0x80
)

// Segment is a TCP segment (RFC 9293 3.1).
type Segment struct {
	SrcPort, DstPort uint16
	Seq, Ack         uint32
	Flags            uint8
	Window           uint16
	Urgent           uint16
	Options          []byte // padded to a word
	Payload          []byte
	// Partial leaves the pseudo-header sum alone in the checksum field, as a
	// sending host with checksum offload shows it.
	Partial bool
	// BadChecksum flips a bit of the checksum.
	BadChecksum bool
}

// AppendTCP writes a whole Ethernet frame, without padding.
func AppendTCP(dst []byte, path *Path, s *Segment) []byte {
	dst = path.AppendEthernet(dst, path.etherType())
	return AppendTCPIP(dst, path, s)
}

// AppendTCPIP writes the same from the IP header on.
func AppendTCPIP(dst []byte, path *Path, s *Segment) []byte {
	head := 20 + (len(s.Options)+3)&^3
	size := head + len(s.Payload)
	dst = path.AppendIP(dst, ProtoTCP, size)
	at := len(dst)
	dst = be.AppendUint16(be.AppendUint16(dst, s.SrcPort), s.DstPort)
	dst = be.AppendUint32(be.AppendUint32(dst, s.Seq), s.Ack)
	dst = append(dst, byte(head/4)<<4, s.Flags)
	dst = be.AppendUint16(dst, s.Window)
	dst = be.AppendUint16(be.AppendUint16(dst, 0), s.Urgent)
	dst = zeroTo(append(dst, s.Options...), at+head)
	dst = append(dst, s.Payload...)
	sum := path.pseudoSum(ProtoTCP, size)
	check := Checksum(sum, dst[at:])
	if s.Partial {
		check = ^Checksum(sum, nil)
	}
	if s.BadChecksum {
		check ^= 0x0100
	}
	be.PutUint16(dst[at+16:], check)
	return dst
}

// TCPTimestamps is the option of RFC 7323 with two NOPs before it.
func TCPTimestamps(value, echo uint32) []byte {
	return be.AppendUint32(be.AppendUint32([]byte{1, 1, 8, 10}, value), echo)
}

// TCPSACK is the option of RFC 2018 with two NOPs before it; edges are left,
// right, left, right …
func TCPSACK(edges ...uint32) []byte {
	o := []byte{1, 1, 5, byte(2 + 4*len(edges))}
	for _, e := range edges {
		o = be.AppendUint32(o, e)
	}
	return o
}

// TCPSynOptions are MSS, SACK permitted and window scale.
func TCPSynOptions(mss uint16, scale uint8) []byte {
	return append(be.AppendUint16([]byte{2, 4}, mss), 4, 2, 3, 3, scale, 1)
}
