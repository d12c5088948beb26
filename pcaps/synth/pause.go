package synth

// PauseDst is the address of MAC control frames (IEEE 802.3 annex 31B).
var PauseDst = MAC{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}

// AppendPFC writes a priority flow control frame (IEEE 802.1Q 36.1, 802.3
// annex 31D), padded to 60 octets: opcode 0x0101, class-enable vector, eight
// times in quanta of 512 bit times. An enabled class with 0 quanta may send
// again (XON).
func AppendPFC(dst []byte, from MAC, enable uint16, quanta [8]uint16) []byte {
	at := len(dst)
	dst = AppendEthernet(dst, PauseDst, from, EtherMAC)
	dst = be.AppendUint16(be.AppendUint16(dst, 0x0101), enable)
	for _, q := range quanta {
		dst = be.AppendUint16(dst, q)
	}
	return PadEthernet(dst, at)
}

// AppendPFCPriority pauses (or, with 0 quanta, releases) one priority.
func AppendPFCPriority(dst []byte, from MAC, priority uint8, quanta uint16) []byte {
	var q [8]uint16
	q[priority&7] = quanta
	return AppendPFC(dst, from, 1<<(priority&7), q)
}

// AppendPause writes an 802.3x PAUSE frame (IEEE 802.3 annex 31B), padded to
// 60 octets.
func AppendPause(dst []byte, from MAC, quanta uint16) []byte {
	at := len(dst)
	dst = AppendEthernet(dst, PauseDst, from, EtherMAC)
	dst = be.AppendUint16(be.AppendUint16(dst, 0x0001), quanta)
	return PadEthernet(dst, at)
}
