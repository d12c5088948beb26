package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// Immediate Data message (RFC 7306 §6.1): eight octets of the application.
const ImmediateLen = 8

// Immediate is the body of an Immediate Data message, with or without
// solicited event.
type Immediate struct {
	Data uint64

	contents, payload []byte
}

func (i *Immediate) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*i = Immediate{}
	if len(data) < ImmediateLen {
		df.SetTruncated()
		return ErrTruncated
	}
	i.Data = binary.BigEndian.Uint64(data)
	i.contents, i.payload = data[:ImmediateLen], data[ImmediateLen:]
	return nil
}

func (i *Immediate) LayerType() gopacket.LayerType     { return LayerTypeImmediate }
func (i *Immediate) CanDecode() gopacket.LayerClass    { return LayerTypeImmediate }
func (i *Immediate) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (i *Immediate) LayerContents() []byte             { return i.contents }
func (i *Immediate) LayerPayload() []byte              { return i.payload }
