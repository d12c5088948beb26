package iwarp

import "github.com/google/gopacket"

// HeadMax is how many first octets of an FPDU are kept (length field, headers
// and the begin of the payload, by which storage protocols are recognised).
const HeadMax = 128

// FPDUState tells how an FPDU ended.
type FPDUState uint8

const (
	// Whole: every octet was seen.
	Whole FPDUState = iota
	// Partial: octets are missing, but its length led over the hole or past
	// its end. It was sent, and counts.
	Partial
	// Aborted: the framing broke inside. It does not count: what was taken for
	// an FPDU may be none, or may be found again by the search that follows.
	Aborted
)

func (s FPDUState) String() string {
	switch s {
	case Whole:
		return "whole"
	case Partial:
		return "partial"
	}
	return "aborted"
}

// FPDU is one FPDU found in a stream. A Handler may read it during the call
// only.
type FPDU struct {
	// Start is the stream offset of the length field, End the offset behind
	// the CRC, markers counted. At BeginFPDU End is where it will end.
	Start, End uint64
	// At and EndAt are the Segment.At of its first and its last octet. EndAt
	// is valid at EndFPDU.
	At, EndAt int64

	ULPDULength uint16
	// Segments is the number of TCP segments that hold octets of it.
	Segments uint16
	// Markers counts the markers inside it and the one directly before it.
	Markers uint16
	// Missing counts the octets of it (markers not counted) that lie in holes.
	Missing uint32
	// CRCField is the CRC as sent; valid with a CRC of good, bad or undecided.
	CRCField uint32

	DDP DDP // its LayerContents are empty
	// HeaderCut: a hole took the end of the header. Of DDP only the control
	// octets are valid, or nothing when its Opcode is OpcodeUnseen.
	HeaderCut bool
	// Odd is a fault that doesn't break the framing (ErrQueue), else nil.
	Odd error

	State FPDUState // valid at EndFPDU
	CRC   CRCState  // valid at EndFPDU

	// AtSegmentStart: its first octet (or the marker before) begins a segment.
	// EndsSegment: its last octet ends one.
	AtSegmentStart, EndsSegment bool
	// Recovered: found by a search, and reported when the search locked on.
	Recovered bool

	leadMarker       bool
	verified, noHole bool
	headLen          uint8
	head             [HeadMax]byte
}

// Octets is the FPDU's length without markers.
func (f *FPDU) Octets() int { return FPDULen(f.ULPDULength) }

// PayloadLength is the number of application octets: none of Read Requests,
// Atomics and Terminates.
func (f *FPDU) PayloadLength() int {
	if !f.DDP.Opcode.CarriesPayload() {
		return 0
	}
	return int(f.ULPDULength) - f.DDP.Len()
}

// Head is the begin of the ULPDU (DDP header first) as far as it was kept: at
// BeginFPDU the headers, at EndFPDU up to HeadMax − 2 octets.
func (f *FPDU) Head() []byte {
	n := min(int(f.headLen), LengthLen+int(f.ULPDULength))
	if n < LengthLen {
		return nil
	}
	return f.head[LengthLen:n]
}

// Body is what was kept behind the DDP header: RDMAP header or payload.
func (f *FPDU) Body() []byte {
	h := f.Head()
	if f.HeaderCut || len(h) < f.DDP.Len() {
		return nil
	}
	return h[f.DDP.Len():]
}

// ReadRequest decodes the body of a Read Request.
func (f *FPDU) ReadRequest(r *ReadRequest) bool {
	return f.DDP.Opcode == RDMAReadReq && r.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback) == nil
}

// AtomicRequest decodes the body of an Atomic Request.
func (f *FPDU) AtomicRequest(a *AtomicRequest) bool {
	return f.DDP.Opcode == AtomicReq && a.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback) == nil
}

// AtomicResponse decodes the body of an Atomic Response.
func (f *FPDU) AtomicResponse(a *AtomicResponse) bool {
	return f.DDP.Opcode == AtomicResp && a.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback) == nil
}

// Immediate decodes the body of an Immediate Data message.
func (f *FPDU) Immediate(i *Immediate) bool {
	is := f.DDP.Opcode == ImmediateData || f.DDP.Opcode == ImmediateSE
	return is && i.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback) == nil
}

// Terminate decodes the body of a Terminate. It is whole at EndFPDU only.
// Quoted headers that were cut leave the error itself valid.
func (f *FPDU) Terminate(t *Terminate) bool {
	if f.DDP.Opcode != Terminated {
		return false
	}
	err := t.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback)
	return err == nil || len(f.Body()) >= TerminateMinLen
}

// clear makes f ready for the next FPDU. The head's octets may stay: headLen
// tells how many are valid.
func (f *FPDU) clear() {
	f.Start, f.End, f.At, f.EndAt = 0, 0, 0, 0
	f.ULPDULength, f.Segments, f.Markers, f.Missing, f.CRCField = 0, 0, 0, 0, 0
	f.DDP, f.HeaderCut, f.Odd = DDP{}, false, nil
	f.State, f.CRC = Whole, CRCUndecided
	f.AtSegmentStart, f.EndsSegment, f.Recovered = false, false, false
	f.leadMarker, f.verified, f.noHole = false, false, true
	f.headLen = 0
}
