package wire

import "rdmascope/decode/roce"

// MADClass returns the class of the management datagram that p carries (IBTA
// 13.4.4): subnet management on QP0, and on QP1 subnet administration, CM,
// performance, SHARP's aggregation management and others. ok is false when it
// carries none, or none that the capture has the first two octets of.
func MADClass(p *Packet) (class uint8, ok bool) {
	h, ok := madHeader(p, 2)
	if !ok {
		return 0, false
	}
	return h[1], true
}

// madHeader returns the captured part of the management datagram in p, of
// which at least n octets must be there.
func madHeader(p *Packet, n int) ([]byte, bool) {
	if !p.Has(FlagBTH) || !p.RoCE.CarriesMAD() {
		return nil, false
	}
	b := p.Payload()
	if len(b) < n || b[0] != madBaseVersion {
		return nil, false
	}
	return b[:min(len(b), roce.MADLen)], true
}

// mad looks at the management datagram that the transport carries: whether its
// header is there and of a kind that is known. What its class makes of the rest
// is read where it is used.
func (f *frame) mad() {
	h := &f.p.RoCE
	var m roce.MADFields
	err := m.Decode(f.p.Payload(), h.PayloadLen)
	switch e, _ := err.(*roce.Error); {
	case err == nil:
	case e == roce.ErrMADVersion:
		f.stop(LayerMAD, ReasonUnknown)
	case e.Class == roce.ErrTruncated:
		f.stop(LayerMAD, ReasonCut)
	default:
		f.stop(LayerMAD, ReasonShort)
	}
}

// madBaseVersion is the base version of all management datagrams (IBTA 13.4.2).
const madBaseVersion = 1
