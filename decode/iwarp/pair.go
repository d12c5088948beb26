package iwarp

// Negotiated is what one start-up frame asked for: an MPAFrame without its
// octets.
type Negotiated struct {
	Seen     bool
	Revision uint8
	Markers  bool
	CRC      bool
	Reject   bool
	Enhanced bool

	PeerToPeer, RTRSend, RTRWrite, RTRRead bool
	IRD, ORD                               uint16
}

// CRCMode tells whether the CRC fields of a connection mean anything.
type CRCMode uint8

const (
	CRCUnknown CRCMode = iota
	CRCOn
	CRCOff
)

func (m CRCMode) String() string {
	switch m {
	case CRCOn:
		return "on"
	case CRCOff:
		return "off"
	}
	return "unknown"
}

// crcEvidence is how many FPDUs settle whether CRCs are on when no handshake
// tells: two good ones (by chance 2⁻⁶⁴), or two fields of 0.
const crcEvidence = 2

// Pair is both directions of one connection. The zero Pair is not ready: Init
// it, or take NewPair. It must not be copied once in use.
type Pair struct {
	Streams       [2]Stream
	request       Negotiated
	reply         Negotiated
	crcGood, zero uint8
	rejected      bool
}

// NewPair returns a Pair that is ready.
func NewPair() *Pair {
	p := new(Pair)
	p.Init()
	return p
}

// Init makes p ready for a new connection.
func (p *Pair) Init() {
	for i := range p.Streams {
		p.Streams[i].Close()
	}
	*p = Pair{}
	for i := range p.Streams {
		p.Streams[i].pair = p
		p.Streams[i].w.next()
	}
}

// Request and Reply are the start-up frames, as far as they were seen.
func (p *Pair) Request() Negotiated { return p.request }
func (p *Pair) Reply() Negotiated   { return p.reply }

// CRCMode tells whether CRCs are on: by the frames (C in either binds both,
// RFC 5044 §7.1.2), else by the FPDUs seen.
func (p *Pair) CRCMode() CRCMode {
	switch {
	case p.request.CRC || p.reply.CRC:
		return CRCOn
	case p.request.Seen && p.reply.Seen:
		return CRCOff
	case p.crcGood >= crcEvidence:
		return CRCOn
	case p.zero >= crcEvidence:
		return CRCOff
	}
	return CRCUnknown
}

// learnCRC takes a whole FPDU as evidence.
func (p *Pair) learnCRC(f *FPDU) {
	switch {
	case f.verified:
		p.crcGood = min(p.crcGood+1, crcEvidence)
	case f.CRCField == 0:
		p.zero = min(p.zero+1, crcEvidence)
	}
}

// state is the CRC verdict on an FPDU that has ended.
func (p *Pair) crcState(f *FPDU) CRCState {
	mode := p.CRCMode()
	switch {
	case mode == CRCOff:
		return CRCNotNegotiated
	case !f.noHole:
		return CRCUnchecked
	case f.verified:
		return CRCGood
	case mode == CRCOn:
		return CRCBad
	}
	return CRCUndecided
}

func (p *Pair) note(m *MPAFrame) {
	n := Negotiated{Seen: true, Revision: m.Revision, Markers: m.Markers, CRC: m.CRC, Reject: m.Reject && m.Reply,
		Enhanced: m.Enhanced, PeerToPeer: m.PeerToPeer, RTRSend: m.RTRSend, RTRWrite: m.RTRWrite, RTRRead: m.RTRRead,
		IRD: m.IRD, ORD: m.ORD}
	if m.Reply {
		p.reply = n
		p.rejected = n.Reject
		return
	}
	p.request = n
}

// markersOf tells what is agreed for a stream whose sender sent the reply
// (isReply) or the request: M in the peer's frame (RFC 5044 §7.1.2).
func (p *Pair) markersOf(role role) (agreed, known bool) {
	switch {
	case role == roleResponder && p.request.Seen:
		return p.request.Markers, true
	case role == roleInitiator && p.reply.Seen:
		return p.reply.Markers, true
	case role == roleUnknown && p.request.Seen && p.reply.Seen && p.request.Markers == p.reply.Markers:
		return p.reply.Markers, true
	}
	return false, false
}
