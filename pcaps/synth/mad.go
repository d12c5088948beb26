package synth

// MAD is a management datagram's header (IBTA 13.4.3) with its data; it is
// always 256 octets on the wire.
//
//	BaseVersion 8 | MgmtClass 8 | ClassVersion 8 | Method 8
//	Status 16 | ClassSpecific 16
//	TransactionID 64
//	AttributeID 16 | rsvd 16
//	AttributeModifier 32
type MAD struct {
	Class         uint8
	ClassVersion  uint8
	Method        uint8
	Status        uint16
	ClassSpecific uint16
	Transaction   uint64
	Attribute     uint16
	Modifier      uint32
	Data          []byte // up to 232 octets
}

// Append writes the 256 octets.
func (m *MAD) Append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, 1, m.Class, m.ClassVersion, m.Method)
	dst = be.AppendUint16(be.AppendUint16(dst, m.Status), m.ClassSpecific)
	dst = be.AppendUint64(dst, m.Transaction)
	dst = be.AppendUint16(be.AppendUint16(dst, m.Attribute), 0)
	dst = be.AppendUint32(dst, m.Modifier)
	dst = append(dst, m.Data...)
	return zeroTo(dst, at+256)
}

// zeroTo fills dst up to length n.
func zeroTo(dst []byte, n int) []byte {
	for len(dst) < n {
		dst = append(dst, 0)
	}
	return dst
}

// QKeyGSI is the well-known Q_Key of QP1 (IBTA 10.2.5).
const QKeyGSI = 0x80010000

// MADPacket carries a management datagram to QP1: UD SEND ONLY from QP1.
func MADPacket(psn uint32, m *MAD) Packet {
	return Packet{
		Opcode: UD | SendOnly, PSN: psn, DestQP: 1, SrcQP: 1, QKey: QKeyGSI,
		Payload: m.Append(nil),
	}
}

// UDSend is an unreliable datagram, from srcQP.
func UDSend(psn, qkey, srcQP uint32, payload []byte) Packet {
	return Packet{Opcode: UD | SendOnly, PSN: psn, QKey: qkey, SrcQP: srcQP, Payload: payload}
}
