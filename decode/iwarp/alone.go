package iwarp

import "encoding/binary"

// LoneFPDU is an FPDU that a TCP segment shows without its stream.
type LoneFPDU struct {
	At          int // its length field's offset in the segment
	ULPDULength uint16
	DDP         DDP // aliases the segment
	// Ends: its last octet lies in the segment. Else it goes on in a later one.
	Ends bool
	// CRCField is valid with CRCSeen. That it doesn't verify means nothing by
	// itself: whether CRCs are on is the handshake's to tell.
	CRCField uint32
	CRCSeen  bool
	Verified bool
}

// Alone tells what one TCP segment of wire octets, of which b was captured,
// shows by itself: the length of the start-up frame that it begins with, and the
// FPDUs that begin at its start or behind that frame. It is for views of single
// packets, which have no stream; a Stream finds more.
//
// What isn't certain is left out. A start-up frame is known by its key. FPDUs
// are, when they give the evidence that lock-on asks for (evidence.go), or form
// a chain of possible headers that ends where the segment ends: a segment of
// random octets looks so with probability 2⁻³⁰ (control octets 2⁻¹⁴, length
// 2⁻¹⁶). Where what follows an FPDU can't be another one, only FPDUs whose CRCs
// verify count. Segments that begin within an FPDU, and FPDUs that hold a
// marker, so show nothing.
func Alone(b []byte, wire int) (frame int, list []LoneFPDU) {
	if matchKey(b) == keyWhole {
		if frame = frameLen(b); frame == 0 {
			frame = MPAHeaderLen // cut inside its header
		}
	}
	c := chain{b: b, wire: wire, at: frame}
	for c.next() {
		list = append(list, c.last)
	}
	if !c.certain() {
		return frame, nil
	}
	return frame, list
}

// chain walks over the FPDUs of one segment.
type chain struct {
	b        []byte
	wire, at int
	last     LoneFPDU
	score    int
	context  tagged
	n        int
	broken   bool // what follows can't be an FPDU
	unproved bool // an FPDU's CRC doesn't verify
	stopped  bool
}

func (c *chain) certain() bool {
	switch {
	case c.n == 0 || c.broken && c.unproved:
		return false
	case c.at == c.wire:
		return true
	}
	return c.score >= evidenceLock
}

// next takes the FPDU that begins at c.at.
func (c *chain) next() bool {
	if c.stopped || len(c.b)-c.at < 4 {
		return false
	}
	b := c.b[c.at:]
	if !possible(b) {
		c.broken = true
		return false
	}
	f := FPDU{ULPDULength: binary.BigEndian.Uint16(b), Start: uint64(c.at), noHole: true}
	switch err := f.DDP.decode(b[LengthLen:min(len(b), LengthLen+int(f.ULPDULength))]); {
	case err != nil: // cut, since the control octets are possible
		return false
	case f.DDP.Check(f.ULPDULength) != nil:
		c.broken = true
		return false
	}
	score, ok := headerEvidence(&f, &c.context)
	if !ok {
		c.broken = true
		return false
	}
	c.score += score
	c.n++
	c.last = LoneFPDU{At: c.at, ULPDULength: f.ULPDULength, DDP: f.DDP}
	c.end(&f, b)
	return true
}

// end weighs the end of an FPDU, and goes on behind it.
func (c *chain) end(f *FPDU, b []byte) {
	total := FPDULen(f.ULPDULength)
	if total > c.wire-c.at {
		c.stopped = true
		return
	}
	c.last.Ends = true
	f.End, f.EndsSegment = uint64(c.at+total), c.at+total == c.wire
	if f.noHole = total <= len(b); f.noHole {
		f.CRCField = binary.LittleEndian.Uint32(b[total-CRCLen:])
		f.verified = CheckCRC(b[:total])
		c.last.CRCField, c.last.CRCSeen, c.last.Verified = f.CRCField, true, f.verified
	}
	c.unproved = c.unproved || !f.verified
	score, _ := endEvidence(f)
	c.score += score
	c.context.follow(f)
	c.at += total
}
