package iwarp

// Lock-on in mid-stream is one rule. A candidate is a walk over FPDUs from some
// octet on; it gathers evidence, and becomes the stream's framing at
// evidenceLock. A field that can't be, a marker that doesn't fit, or a wrong
// CRC where CRCs are on rejects it at once.
//
// By chance (uniform octets) the cheapest way to 5 is a tagged header (2⁻¹⁴ an
// offset) with a CRC that verifies: 2⁻⁴⁶. Untagged headers bring 3 at 2⁻⁴⁶ (a
// Send with Invalidate, 32 bits of queue number) and need 2 more; tagged ones
// that each end a segment reach 5 at 2⁻⁵⁹, five in a row at 2⁻⁷⁰. A terabyte of
// random octets (2⁴⁰ offsets) so locks with probability 2⁻⁶. Octets that repeat
// the bits of a valid header over and over can lock: without CRCs nothing tells
// them from FPDUs.
const (
	evidenceUntagged   = 3 // an untagged header right in every field
	evidenceTagged     = 1
	evidenceContinues  = 2 // same STag, and the tagged offset goes on
	evidenceCRC        = 4
	evidenceSegmentEnd = 1 // the FPDU ends where a segment ends
	evidenceZeroCRC    = 1 // senders without CRCs leave the field 0
	evidenceLock       = 5
)

// taggedContext is what the last tagged FPDUs of one opcode leave behind, for
// evidenceContinues.
type taggedContext struct {
	valid  bool
	stag   uint32
	lo, hi uint64 // the tagged offsets at which an FPDU goes on lie in [lo, hi]
	pos    uint64 // the stream offset behind the last
}

// tagged holds the contexts of RDMA Write and Read Response, which run in one
// direction side by side.
type tagged [2]taggedContext

func (t *tagged) of(o Opcode) *taggedContext {
	if o == RDMAReadResp {
		return &t[1]
	}
	return &t[0]
}

// follow takes an FPDU of a candidate: what goes on there goes on exactly.
func (t *tagged) follow(f *FPDU) {
	if f.HeaderCut || !f.DDP.Tagged {
		return
	}
	end := f.DDP.TO + uint64(f.PayloadLength())
	*t.of(f.DDP.Opcode) = taggedContext{valid: true, stag: f.DDP.STag, lo: end, hi: end, pos: f.End}
}

// learn takes an FPDU of a stream in step: after a hole its buffer may go on
// anywhere that was seen in use, since applications fill one over and over.
func (t *tagged) learn(f *FPDU) {
	if f.HeaderCut || !f.DDP.Tagged {
		return
	}
	c := t.of(f.DDP.Opcode)
	to, end := f.DDP.TO, f.DDP.TO+uint64(f.PayloadLength())
	if c.valid && c.stag == f.DDP.STag {
		c.lo, c.hi, c.pos = min(c.lo, to), max(c.hi, end), f.End
		return
	}
	*c = taggedContext{valid: true, stag: f.DDP.STag, lo: to, hi: end, pos: f.End}
}

// continues tells whether f goes on where its context ended. Over octets that
// were not followed (a hole, a desync) the tagged offset may have moved on by
// as many at most.
func (t *tagged) continues(f *FPDU) bool {
	c := t.of(f.DDP.Opcode)
	return c.valid && f.DDP.STag == c.stag && f.Start >= c.pos &&
		f.DDP.TO >= c.lo && f.DDP.TO-c.lo <= c.hi-c.lo+(f.Start-c.pos)
}

// headerEvidence weighs a header whose control octets and lengths are already
// known to be possible; ok is false when another field can't be.
func headerEvidence(f *FPDU, c *tagged) (score int, ok bool) {
	d := &f.DDP
	if f.HeaderCut || d.Version != 1 {
		return 0, false // version 0 is for handshakes: it would double the chance
	}
	payload := uint64(f.ULPDULength) - uint64(d.Len())
	if d.Tagged {
		if d.TO+payload < d.TO { // RFC 5041 §5.2: a wrap is an error
			return 0, false
		}
		if c.continues(f) {
			return evidenceTagged + evidenceContinues, true
		}
		return evidenceTagged, true
	}
	switch {
	case f.Odd != nil, d.MSN == 0,
		d.STag != 0 && !d.Opcode.Invalidates(),
		uint64(d.MO)+payload > 1<<32,
		!d.Opcode.IsSend() && (!d.Last || d.MO != 0):
		return 0, false
	}
	return evidenceUntagged, true
}

// endEvidence weighs an FPDU that has ended. crcWrong: its CRC was checkable
// and does not verify.
func endEvidence(f *FPDU) (score int, crcWrong bool) {
	if f.EndsSegment {
		score += evidenceSegmentEnd
	}
	if !f.noHole {
		return score, false
	}
	switch {
	case f.verified:
		return score + evidenceCRC, false
	case f.CRCField == 0:
		score += evidenceZeroCRC
	}
	return score, true
}

// possible is the quick look at the four octets where an FPDU may start. It
// passes one of 2¹¹ random places, and none that could lock is lost.
func possible(b []byte) bool {
	if b[2]&(ddpReserved|ddpVersion) != 1 || b[3]&(rdmapVersion|rdmapReserved) != 0x40 {
		return false
	}
	o := Opcode(b[3] & rdmapOpcode)
	if !o.Known() || o.Tagged() != (b[2]&ddpFlagT != 0) {
		return false
	}
	return checkLength(o, uint16(b[0])<<8|uint16(b[1])) == nil
}
