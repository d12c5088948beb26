package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// Terminate header (RFC 5040 §4.8):
//
//	+-------+-------+---------------+-+-+-+-------------------------+
//	| Layer | EType |  Error Code   |M|D|R|       Reserved          |
//	+-------+-------+---------------+-+-+-+-------------------------+
//	|   DDP Segment Length  (with M or D)   |  DDP header (with D)  |
//	|                Read Request header (with R)                   |
//
// M: the segment length is valid. D: the DDP header of the message that failed
// is quoted. R: the RDMAP header of a failed Read Request is quoted too.
const (
	TerminateMinLen = 4
	TerminateMaxLen = 4 + 2 + UntaggedLen + ReadRequestLen
)

// TerminateOrder tells in which bit order the control word was written.
type TerminateOrder uint8

const (
	// OrderRFC: as RFC 5040 draws it.
	OrderRFC TerminateOrder = iota
	// OrderSwapped: Linux siw (seen in 6.12) fills little-endian bit fields, so
	// Layer and EType change places and M, D, R are the *low* bits of octet 2.
	OrderSwapped
	// OrderAmbiguous: no flag is set and both readings name a known error. The
	// fields then hold the RFC's reading, Other the second one.
	OrderAmbiguous
	// OrderUnknown: neither reading names a known error.
	OrderUnknown
)

func (o TerminateOrder) String() string {
	switch o {
	case OrderRFC:
		return "rfc"
	case OrderSwapped:
		return "swapped"
	case OrderAmbiguous:
		return "ambiguous"
	}
	return "unknown"
}

// TerminateError names an error: the layer that found it, its type, its code.
type TerminateError struct {
	Layer uint8
	EType uint8
	Code  uint8
}

// Terminate is the last message of a stream that ends by an error.
type Terminate struct {
	TerminateError
	Order TerminateOrder
	Other TerminateError // the second reading, valid with OrderAmbiguous

	LengthValid bool // M
	HasDDP      bool // D
	HasRDMAP    bool // R

	// SegmentLength of the message that failed; valid with LengthValid.
	SegmentLength uint16
	// DDP is the header of the message that failed, valid with HasDDP unless
	// it was cut or makes no sense itself (DDPValid tells).
	DDP      DDP
	DDPValid bool
	// Read is the Read Request that failed, valid with ReadValid.
	Read      ReadRequest
	ReadValid bool

	contents, payload []byte
}

// DecodeFromBytes reads a Terminate behind its DDP header. A quoted header that
// was cut off is reported with ErrTruncated; the error itself is then valid.
func (t *Terminate) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*t = Terminate{}
	if len(data) < TerminateMinLen {
		df.SetTruncated()
		return ErrTruncated
	}
	t.decodeControl(data)
	n, err := t.decodeQuoted(data)
	t.contents, t.payload = data[:n], data[n:]
	if err == ErrTruncated {
		df.SetTruncated()
	}
	return err
}

// decodeControl finds the order. A flag bit settles it, since the RFC's three
// and siw's three don't overlap; else the table of known errors does.
func (t *Terminate) decodeControl(b []byte) {
	rfc := TerminateError{Layer: b[0] >> 4, EType: b[0] & 0x0f, Code: b[1]}
	swapped := TerminateError{Layer: b[0] & 0x0f, EType: b[0] >> 4, Code: b[1]}
	flags := b[2]
	switch {
	case flags&0xe0 != 0 && flags&0x1f == 0:
		t.Order = OrderRFC
	case flags&0x07 != 0 && flags&0xf8 == 0:
		t.Order = OrderSwapped
	case rfc == swapped && rfc.Known():
		t.Order = OrderRFC
	case rfc.Known() && swapped.Known():
		t.Order = OrderAmbiguous
		t.Other = swapped
	case rfc.Known():
		t.Order = OrderRFC
	case swapped.Known():
		t.Order = OrderSwapped
	default:
		t.Order = OrderUnknown
	}
	t.TerminateError = rfc
	if t.Order == OrderSwapped {
		t.TerminateError = swapped
		t.LengthValid, t.HasDDP, t.HasRDMAP = flags&1 != 0, flags&2 != 0, flags&4 != 0
		return
	}
	t.LengthValid, t.HasDDP, t.HasRDMAP = flags&0x80 != 0, flags&0x40 != 0, flags&0x20 != 0
}

// decodeQuoted reads the quoted headers and returns where they end.
func (t *Terminate) decodeQuoted(b []byte) (n int, err error) {
	n = TerminateMinLen
	if !t.LengthValid && !t.HasDDP {
		return n, nil
	}
	if len(b) < n+2 {
		return n, ErrTruncated
	}
	t.SegmentLength = binary.BigEndian.Uint16(b[n:])
	n += 2
	if !t.HasDDP {
		return n, nil
	}
	// A header may be quoted just because it is malformed: that isn't the
	// Terminate's fault, so its error is kept back (DDPValid is false).
	switch err := t.DDP.decode(b[n:]); err {
	case nil:
		t.DDPValid = true
	case ErrTruncated:
		return n, err
	}
	if len(b) < n+t.DDP.Len() {
		return n, ErrTruncated
	}
	n += t.DDP.Len()
	if !t.HasRDMAP {
		return n, nil
	}
	if err := t.Read.DecodeFromBytes(b[n:], gopacket.NilDecodeFeedback); err != nil {
		return n, err
	}
	t.ReadValid = true
	return n + ReadRequestLen, nil
}

func (t *Terminate) LayerType() gopacket.LayerType     { return LayerTypeTerminate }
func (t *Terminate) CanDecode() gopacket.LayerClass    { return LayerTypeTerminate }
func (t *Terminate) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (t *Terminate) LayerContents() []byte             { return t.contents }
func (t *Terminate) LayerPayload() []byte              { return t.payload }
