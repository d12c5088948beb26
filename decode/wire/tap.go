package wire

// TapWindow is how far, in ns, a tap's stamp may be from the capture's time to be
// believed: clocks of different machines, not of different years. Octets that
// are no stamp at all pass with a chance of 1 in 3500.
const TapWindow = 7 * 24 * 3600 * second

const second = int64(1e9)

// tapTime takes over a time that a tap stamped on the frame, if it can be one.
func (f *frame) tapTime(sec uint32, ns uint64) bool {
	p := f.p
	if f.d.skipTapTime || ns >= uint64(second) || sec == 0 && ns == 0 { // 0: a clock that was never set
		return false
	}
	t := int64(sec)*second + int64(ns)
	if !f.d.anyTapTime {
		if p.Has(FlagNoTime) {
			return false
		}
		if d := t - p.Time; d > TapWindow || d < -TapWindow {
			return false
		}
	}
	p.TrailerNS = t
	p.Flags |= FlagTapTime
	return true
}

// aristaHeader passes over the header that an Arista tap aggregator puts
// behind the source MAC (EtherType 0xD28B): subtype 2 (1 = timestamp),
// timescale 1 (0 TAI, 1 UTC), format and hardware 1 (1 = 64 bit, 2 = 48 bit),
// seconds 4 or 2, nanoseconds 4, then the original EtherType. It returns the
// header's length with that EtherType, 0 when decoding ends here.
//
// Real frames that say TAI carry UTC all the same, so the timescale isn't
// believed (PTP's 37 s would move them out of their place).
func (f *frame) aristaHeader(off int) int {
	if !f.enter(LayerTapHeader, off) || !f.need(off, 4, LayerTapHeader) {
		return 0
	}
	if be16(f.b, off) != aristaTimestamp {
		f.stop(LayerTapHeader, ReasonUnknown)
		return 0
	}
	n := 4 + 8 + 2
	format := f.b[off+3] >> 4
	switch format {
	case arista64:
	case arista48:
		n -= 2
	default:
		f.stop(LayerTapHeader, ReasonUnknown)
		return 0
	}
	if !f.need(off, n, LayerTapHeader) {
		return 0
	}
	f.p.Encap.push(EncapTapHeader, 0)
	if format == arista64 {
		f.tapTime(be32(f.b, off+4), uint64(be32(f.b, off+8)))
	} else if !f.p.Has(FlagNoTime) {
		f.tapTime(nearestSecond(be16(f.b, off+4), f.p.Time), uint64(be32(f.b, off+6)))
	}
	return n
}

// Subtype and formats of Arista's header.
const (
	aristaTimestamp = 1
	arista64        = 1
	arista48        = 2
)

// nearestSecond completes the low 16 bits of a time in seconds to the time
// that is nearest to the capture's: at most 9.1 hours away.
func nearestSecond(low uint16, captured int64) uint32 {
	near := uint32(captured / second)
	return near + uint32(int32(int16(low-uint16(near))))
}

// keyFrame names the frames by which an Arista 7150, and a Nexus 3550 (Exablaze)
// in its compatible modes, relates its ticks to UTC: ticks 8 octets, ns since
// 1970 8, then what synchronised them. The stamps themselves, 31 bits of ticks in
// place of the frame check sequence or in front of it, are left alone: nothing in
// a frame tells that it has one, and how they relate to the ticks of the key
// frames is not specified where it could be held against (no document at hand
// has it). The same goes for the other stamps of 32 bits of
// older Nexus 3550 modes.
func (f *frame) keyFrame(off int) {
	const length = 24 // as far as it is looked at
	if off+length > min(len(f.b), f.end) || f.p.Has(FlagNoTime) {
		return
	}
	if d := int64(be64(f.b, off+8)) - f.p.Time; d < TapWindow && d > -TapWindow {
		f.p.Encap.push(EncapKeyFrame, 0)
		f.enter(LayerTapHeader, off)
	}
}
