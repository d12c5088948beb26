package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// FPDU without markers (RFC 5044 §4.1):
//
//	+-------------------------------+-------------------------------+
//	|        ULPDU_Length           |          ULPDU ...            |
//	+-------------------------------+               +---------------+
//	|                               |  PAD (0-3 octets)             |
//	+-------------------------------+-------------------------------+
//	|                             CRC                               |
//	+---------------------------------------------------------------+
//
// PAD makes length field, ULPDU and itself a multiple of four octets.
const (
	LengthLen  = 2 // ULPDU_Length
	CRCLen     = 4
	MaxFPDULen = LengthLen + 0xffff + 3 + CRCLen // without markers
)

// FPDULen is the length of an FPDU without markers.
func FPDULen(ulpdu uint16) int { return LengthLen + int(ulpdu) + padLen(ulpdu) + CRCLen }

func padLen(ulpdu uint16) int { return -(LengthLen + int(ulpdu)) & 3 }

// FPDUHeader is one FPDU without markers, as a layer: its payload is the ULPDU.
// A Stream, which knows markers and segment borders, doesn't use it.
type FPDUHeader struct {
	ULPDULength uint16
	Pad         uint8
	CRC         uint32 // in the CRC's own value; valid with Whole
	Whole       bool   // all octets are there
	Rest        []byte // what follows in the same segment: the next FPDU
	contents    []byte
	payload     []byte
}

// DecodeFromBytes reads one FPDU. When its end is cut off, the ULPDU is kept
// as far as it goes; only a cut length field is an error.
func (f *FPDUHeader) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*f = FPDUHeader{}
	if len(data) < LengthLen {
		df.SetTruncated()
		return ErrTruncated
	}
	f.ULPDULength = binary.BigEndian.Uint16(data)
	f.contents = data[:LengthLen]
	if f.ULPDULength < TaggedLen {
		return ErrLength
	}
	f.Pad = uint8(padLen(f.ULPDULength))
	total := FPDULen(f.ULPDULength)
	f.payload = data[LengthLen:min(len(data), LengthLen+int(f.ULPDULength))]
	if len(data) < total {
		df.SetTruncated()
		return nil
	}
	f.Whole = true
	f.CRC = binary.LittleEndian.Uint32(data[total-CRCLen:])
	f.Rest = data[total:]
	return nil
}

func (f *FPDUHeader) LayerType() gopacket.LayerType     { return LayerTypeFPDU }
func (f *FPDUHeader) CanDecode() gopacket.LayerClass    { return LayerTypeFPDU }
func (f *FPDUHeader) NextLayerType() gopacket.LayerType { return LayerTypeDDP }
func (f *FPDUHeader) LayerContents() []byte             { return f.contents }
func (f *FPDUHeader) LayerPayload() []byte              { return f.payload }
