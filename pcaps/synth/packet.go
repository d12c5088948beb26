package synth

// Packet is what an InfiniBand transport packet says: the BTH and whatever
// extension headers its opcode brings. Fields of headers that the opcode
// doesn't bring are ignored, so that one Packet can be reused for a stream.
type Packet struct {
	Opcode uint8
	SE     bool // solicited event
	MigReq bool
	AckReq bool
	FECN   bool
	BECN   bool
	TVer   uint8
	PKey   uint16 // 0, which is no valid key, means 0xffff
	DestQP uint32
	PSN    uint32

	EECN   uint32 // RDETH
	QKey   uint32 // DETH
	SrcQP  uint32 // DETH
	XRCSRQ uint32 // XRCETH

	VA     uint64 // RETH, AtomicETH
	RKey   uint32 // RETH, AtomicETH
	DMALen uint32 // RETH: length of the whole message

	SwapAdd uint64 // AtomicETH
	Compare uint64 // AtomicETH

	Syndrome uint8  // AETH
	MSN      uint32 // AETH
	Original uint64 // AtomicAckETH

	Imm    uint32 // ImmDt
	InvKey uint32 // IETH

	Placement   uint8 // FETH bits 3:0
	Selectivity uint8 // FETH bits 5:4

	Payload []byte
}

// padding is the number of pad octets that round the payload up to a word.
func (p *Packet) padding() int { return -len(p.Payload) & 3 }

// size is the number of octets from the BTH to the end of the padding.
func (p *Packet) size() int {
	n := 12 + len(p.Payload) + p.padding()
	h := headersOf(p.Opcode)
	for bit, octets := range headerSizes {
		if h&(1<<bit) != 0 {
			n += octets
		}
	}
	return n
}

// headerSizes by bit of headers.
var headerSizes = [...]int{4, 8, 4, 4, 16, 28, 4, 8, 4, 4, 16}

// appendBTH writes the base transport header (IBTA 9.2).
//
//	OpCode 8 | SE 1 M 1 PadCnt 2 TVer 4 | P_Key 16
//	F 1 B 1 resv 6 | DestQP 24
//	A 1 resv 7 | PSN 24
func (p *Packet) appendBTH(dst []byte) []byte {
	flags := byte(p.padding())<<4 | p.TVer&0xf
	if p.SE {
		flags |= 0x80
	}
	if p.MigReq {
		flags |= 0x40
	}
	pkey := p.PKey
	if pkey == 0 {
		pkey = 0xffff
	}
	qp := p.DestQP & 0xffffff
	if p.FECN {
		qp |= 1 << 31
	}
	if p.BECN {
		qp |= 1 << 30
	}
	psn := p.PSN & 0xffffff
	if p.AckReq {
		psn |= 1 << 31
	}
	dst = be.AppendUint16(append(dst, p.Opcode, flags), pkey)
	return be.AppendUint32(be.AppendUint32(dst, qp), psn)
}

// appendExtensions writes the extension headers (IBTA 9.3) in wire order.
func (p *Packet) appendExtensions(dst []byte) []byte {
	h := headersOf(p.Opcode)
	if h&hRDETH != 0 {
		dst = be.AppendUint32(dst, p.EECN&0xffffff)
	}
	if h&hDETH != 0 {
		dst = be.AppendUint32(be.AppendUint32(dst, p.QKey), p.SrcQP&0xffffff)
	}
	if h&hXRCETH != 0 {
		dst = be.AppendUint32(dst, p.XRCSRQ&0xffffff)
	}
	if h&hFETH != 0 {
		dst = be.AppendUint32(dst, uint32(p.Placement&0xf)|uint32(p.Selectivity&3)<<4)
	}
	if h&(hRETH|hAtomicETH) != 0 {
		dst = be.AppendUint32(be.AppendUint64(dst, p.VA), p.RKey)
	}
	if h&hRETH != 0 {
		dst = be.AppendUint32(dst, p.DMALen)
	}
	if h&hAtomicETH != 0 {
		dst = be.AppendUint64(be.AppendUint64(dst, p.SwapAdd), p.Compare)
	}
	if h&hAETH != 0 {
		dst = be.AppendUint32(dst, uint32(p.Syndrome)<<24|p.MSN&0xffffff)
	}
	if h&hAtomicAckETH != 0 {
		dst = be.AppendUint64(dst, p.Original)
	}
	if h&hImmDt != 0 {
		dst = be.AppendUint32(dst, p.Imm)
	}
	if h&hIETH != 0 {
		dst = be.AppendUint32(dst, p.InvKey)
	}
	if h&hCNP != 0 {
		dst = be.AppendUint64(be.AppendUint64(dst, 0), 0)
	}
	return dst
}

// AppendTransport writes BTH, extension headers, payload and padding, without
// the ICRC.
func (p *Packet) AppendTransport(dst []byte) []byte {
	dst = p.appendExtensions(p.appendBTH(dst))
	dst = append(dst, p.Payload...)
	for range p.padding() {
		dst = append(dst, 0)
	}
	return dst
}
