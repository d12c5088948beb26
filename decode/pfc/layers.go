package pfc

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// LayerTypes of this package, numbered in a private range above gopacket's
// 2000, which it leaves to applications.
var (
	LayerTypeMACControl = register(2150, "MACControl", func() layer { return new(MACControl) })
	LayerTypePFC        = register(2151, "PFC", func() layer { return new(PFC) })
	LayerTypePAUSE      = register(2152, "PAUSE", func() layer { return new(PAUSE) })
)

type layer interface {
	gopacket.Layer
	gopacket.DecodingLayer
}

func register(number int, name string, make func() layer) gopacket.LayerType {
	d := gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error {
		l := make()
		if err := l.DecodeFromBytes(data, p); err != nil {
			return err
		}
		p.AddLayer(l)
		return p.NextDecoder(l.NextLayerType())
	})
	return gopacket.RegisterLayerType(number, gopacket.LayerTypeMetadata{Name: name, Decoder: d})
}

// BaseLayer keeps the bytes of a layer and of what it carries, for gopacket.
type BaseLayer struct {
	Contents []byte
	Payload  []byte
}

// LayerContents returns the bytes of the header itself.
func (b *BaseLayer) LayerContents() []byte { return b.Contents }

// LayerPayload returns the bytes that the layer carries: padding, for a pause.
func (b *BaseLayer) LayerPayload() []byte { return b.Payload }

func (b *BaseLayer) split(data []byte, n int, df gopacket.DecodeFeedback) error {
	if len(data) < n {
		if df != nil {
			df.SetTruncated()
		}
		return ErrTruncated
	}
	b.Contents, b.Payload = data[:n:n], data[n:]
	return nil
}

// MACControl is the opcode of a MAC control frame, behind EtherType 0x8808.
//
//	+-------------------------------+
//	|            Opcode             |
//	+-------------------------------+
type MACControl struct {
	BaseLayer
	Opcode Opcode
}

// DecodeFromBytes decodes the opcode at the start of data.
func (m *MACControl) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := m.split(data, OpcodeLen, df); err != nil {
		return err
	}
	m.Opcode = Opcode(binary.BigEndian.Uint16(data))
	return nil
}

// LayerType returns LayerTypeMACControl.
func (m *MACControl) LayerType() gopacket.LayerType { return LayerTypeMACControl }

// CanDecode returns LayerTypeMACControl.
func (m *MACControl) CanDecode() gopacket.LayerClass { return LayerTypeMACControl }

// NextLayerType returns PFC or PAUSE, the payload after other opcodes.
func (m *MACControl) NextLayerType() gopacket.LayerType {
	switch m.Opcode {
	case OpcodePFC:
		return LayerTypePFC
	case OpcodePAUSE:
		return LayerTypePAUSE
	}
	return gopacket.LayerTypePayload
}

// PFC is the body of an 802.1Qbb frame, behind the opcode (IEEE 802.3 annex
// 31D.3).
//
//	+-------------------------------+-------------------------------+
//	|      class-enable vector      |            time[0]            |
//	+-------------------------------+-------------------------------+
//	|            time[1]            |            time[2]            |
//	+-------------------------------+-------------------------------+
//	|            time[3]            |            time[4]            |
//	+-------------------------------+-------------------------------+
//	|            time[5]            |            time[6]            |
//	+-------------------------------+-------------------------------+
//	|            time[7]            |
//	+-------------------------------+
type PFC struct {
	BaseLayer
	Frame
}

// DecodeFromBytes decodes the body at the start of data. The destination isn't
// known here; a high byte in the vector is malformed, fewer bytes than the
// fields need count as cut.
func (p *PFC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := p.split(data, PFCLen, df); err != nil {
		return err
	}
	p.Frame = Frame{Opcode: OpcodePFC}
	p.pfc(data)
	if p.Vector>>8 != 0 {
		return p.fail(ReasonVector)
	}
	return nil
}

// LayerType returns LayerTypePFC.
func (p *PFC) LayerType() gopacket.LayerType { return LayerTypePFC }

// CanDecode returns LayerTypePFC.
func (p *PFC) CanDecode() gopacket.LayerClass { return LayerTypePFC }

// NextLayerType returns the padding, as payload.
func (p *PFC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// PAUSE is the body of an 802.3x frame, behind the opcode (IEEE 802.3 annex
// 31B.3).
//
//	+-------------------------------+
//	|          pause_time           |
//	+-------------------------------+
type PAUSE struct {
	BaseLayer
	Time Quanta // 0 releases the link
}

// DecodeFromBytes decodes the body at the start of data.
func (p *PAUSE) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := p.split(data, PAUSELen, df); err != nil {
		return err
	}
	p.Time = Quanta(binary.BigEndian.Uint16(data))
	return nil
}

// LayerType returns LayerTypePAUSE.
func (p *PAUSE) LayerType() gopacket.LayerType { return LayerTypePAUSE }

// CanDecode returns LayerTypePAUSE.
func (p *PAUSE) CanDecode() gopacket.LayerClass { return LayerTypePAUSE }

// NextLayerType returns the padding, as payload.
func (p *PAUSE) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }
