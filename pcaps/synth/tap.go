package synth

import "math/bits"

// What taps and switches add to a frame to tell the time.

// Timescales of Arista's header.
const (
	AristaTAI = 0
	AristaUTC = 1
)

// Arista inserts the TapAgg timestamp header after the source MAC: EtherType
// 0xD28B, subtype 1, time scale, format (1: 32.32, 2: 16.32 seconds and
// nanoseconds). now is read for every frame.
func Arista(timescale uint8, short bool, now func() (sec, nsec uint32)) Wrap {
	return func(frame []byte) []byte {
		sec, nsec := now()
		out := be.AppendUint16(append([]byte(nil), frame[:12]...), EtherArista)
		out = append(be.AppendUint16(out, 1), timescale)
		if short {
			out = be.AppendUint16(append(out, 2<<4), uint16(sec))
		} else {
			out = be.AppendUint32(append(out, 1<<4), sec)
		}
		return append(be.AppendUint32(out, nsec), frame[12:]...)
	}
}

// Trailer is what a tap appends behind a frame's own FCS.
type Trailer struct {
	Now    func() (sec, nsec uint32)
	Device uint16 // 8 bits for Exablaze
	Port   uint8
	Flags  uint8    // Metamako: bit 0 original FCS valid, bit 1 TLVs …
	TLVs   []byte   // Metamako: before the seconds
	FCS    *[4]byte // the original FCS; nil computes it
	NewFCS bool     // the whole ends with an FCS of its own
}

// begin copies the frame, pads it as it was on the wire, and ends it with its
// FCS.
func (t *Trailer) begin(frame []byte) []byte {
	out := PadEthernet(append([]byte(nil), frame...), 0)
	if t.FCS != nil {
		return append(out, t.FCS[:]...)
	}
	return AppendFCS(out, 0)
}

func (t *Trailer) end(out []byte) []byte {
	if t.NewFCS {
		return AppendFCS(out, 0)
	}
	return out
}

// Metamako appends the trailer of Metamako (Arista 7130): FCS, TLVs, seconds
// 32, nanoseconds 32, flags 8, device 16, port 8.
func Metamako(t Trailer) Wrap {
	return func(frame []byte) []byte {
		sec, nsec := t.Now()
		out := append(t.begin(frame), t.TLVs...)
		out = be.AppendUint32(be.AppendUint32(out, sec), nsec)
		out = be.AppendUint16(append(out, t.Flags), t.Device)
		return t.end(append(out, t.Port))
	}
}

// Exablaze appends the trailer of Exablaze (Cisco Nexus 3550): FCS, device 8,
// port 8, seconds 32, fraction 40 (in 2⁻⁴⁰ s), reserved 8.
func Exablaze(t Trailer) Wrap {
	return func(frame []byte) []byte {
		sec, nsec := t.Now()
		// nsec/1e9 · 2⁴⁰, rounded up, so that the nanosecond comes back whole.
		hi, lo := bits.Mul64(uint64(nsec), 1<<40)
		lo, carry := bits.Add64(lo, 1e9-1, 0)
		frac, _ := bits.Div64(hi+carry, lo, 1e9)
		out := append(t.begin(frame), byte(t.Device), t.Port)
		out = be.AppendUint32(out, sec)
		return t.end(append(out, byte(frac>>32), byte(frac>>24), byte(frac>>16), byte(frac>>8), byte(frac), 0))
	}
}

// FCS appends the frame check sequence; short frames are padded first.
func FCS() Wrap {
	return func(frame []byte) []byte { return AppendFCS(PadEthernet(append([]byte(nil), frame...), 0), 0) }
}
