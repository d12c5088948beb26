package pfc

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// EtherType of MAC control frames.
const EtherType = 0x8808

// Priorities is the number of classes of PFC.
const Priorities = 8

// Destination is the address that a pause frame goes to: a bridge never
// forwards it.
var Destination = [6]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}

// Opcode is the MAC control opcode (IEEE 802.3 annex 31A).
type Opcode uint16

// Opcodes.
const (
	OpcodePAUSE Opcode = 0x0001
	OpcodePFC   Opcode = 0x0101
)

// String returns "PAUSE", "PFC" or the number.
func (o Opcode) String() string {
	switch o {
	case OpcodePAUSE:
		return "PAUSE"
	case OpcodePFC:
		return "PFC"
	}
	return fmt.Sprintf("Unknown (0x%04x)", uint16(o))
}

// Lengths from the MAC control opcode on; with an untagged Ethernet header of
// 14 bytes a frame is at least 34 (PFC) or 18 (PAUSE) bytes long.
const (
	OpcodeLen = 2
	PFCLen    = 18 // behind the opcode: vector and eight times
	PAUSELen  = 2  // behind the opcode: one time
)

// Frame is a PFC or PAUSE frame. It is meant to be reused: Decode overwrites
// it. It holds no pointers.
//
//	+-------------------------------+-------------------------------+
//	|  Opcode (0x0101 or 0x0001)    | class-enable vector or time   |
//	+-------------------------------+-------------------------------+
//	|   PFC: time[0]                |   time[1] … time[7]           |
//	+-------------------------------+-------------------------------+
type Frame struct {
	Opcode Opcode
	Vector uint16             // PFC: bit i enables class i; the high byte has to be 0
	Time   [Priorities]Quanta // PFC: per class, valid where enabled
	Pause  Quanta             // PAUSE: for the whole link
	Reason Reason             // why the frame is malformed, else ReasonNone
}

// Decode decodes the frame whose MAC control opcode is at b[0]. dst is the
// Ethernet destination, wireLen the true length from the opcode on (at least
// len(b), unless trailers follow).
//
// The error is nil, ErrTruncated, ErrOpcode or a malformed frame's reason; the
// fields are set as far as the bytes go, and zero behind.
func (f *Frame) Decode(dst [6]byte, b []byte, wireLen int) error {
	*f = Frame{}
	if len(b) > wireLen {
		b = b[:max(wireLen, 0)]
	}
	if len(b) < OpcodeLen {
		if wireLen >= OpcodeLen {
			return ErrTruncated
		}
		return f.fail(ReasonShort)
	}
	f.Opcode = Opcode(binary.BigEndian.Uint16(b))
	b = b[OpcodeLen:]
	var need int
	switch f.Opcode {
	case OpcodePFC:
		need = PFCLen
		f.pfc(b)
	case OpcodePAUSE:
		need = PAUSELen
		if len(b) >= PAUSELen {
			f.Pause = Quanta(binary.BigEndian.Uint16(b))
		}
	default:
		return ErrOpcode
	}
	switch {
	case wireLen < OpcodeLen+need:
		return f.fail(ReasonShort)
	case dst != Destination:
		return f.fail(ReasonDestination)
	case f.Vector>>8 != 0:
		return f.fail(ReasonVector)
	case len(b) < need:
		return ErrTruncated
	}
	return nil
}

func (f *Frame) fail(r Reason) error {
	f.Reason = r
	return reasonErrors[r]
}

// pfc decodes as many of vector and times as b has.
func (f *Frame) pfc(b []byte) {
	if len(b) < 2 {
		return
	}
	f.Vector = binary.BigEndian.Uint16(b)
	b = b[2:]
	for i := range f.Time {
		if len(b) < 2 {
			return
		}
		f.Time[i] = Quanta(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
}

// Enabled tells whether a PFC frame speaks about a priority.
func (f *Frame) Enabled(priority int) bool {
	return f.Opcode == OpcodePFC && priority >= 0 && priority < Priorities && f.Vector>>priority&1 != 0
}

// XOFF tells whether a PFC frame stops a priority: enabled, with quanta.
func (f *Frame) XOFF(priority int) bool { return f.Enabled(priority) && f.Time[priority] > 0 }

// XON tells whether a PFC frame releases a priority: enabled, without quanta.
func (f *Frame) XON(priority int) bool { return f.Enabled(priority) && f.Time[priority] == 0 }

// LowestEnabled returns the lowest enabled priority of a PFC frame; ok is false
// when there is none, and for PAUSE.
func (f *Frame) LowestEnabled() (priority int, ok bool) {
	v := uint8(f.Vector)
	if f.Opcode != OpcodePFC || v == 0 {
		return 0, false
	}
	return bits.TrailingZeros8(v), true
}
