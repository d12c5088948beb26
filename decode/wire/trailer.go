package wire

import "math/bits"

// Lengths of the trailers that taps append. Both begin with the frame check
// sequence that the frame had on the wire; another one may follow.
const (
	fcsLen        = 4
	metamakoLen   = fcsLen + 12 // without extensions
	exablazeLen   = fcsLen + 12
	vssTrailerLen = 8
)

// trailer looks for a tap's timestamp in the octets [from, to) that follow the
// outermost datagram. Padding may stand before it, so it is looked for from the
// frame's end, with and without a new frame check sequence behind it.
func (f *frame) trailer(from, to int) {
	if f.d.skipTapTime || to > len(f.b) || f.p.Has(FlagTapTime) {
		return
	}
	// A stamp near the capture's time is looked for first, also where any would
	// do: one in a hundred Exablaze trailers can be read as one of Metamako's.
	any := f.d.anyTapTime
	f.d.anyTapTime = false
	found := f.stamp(from, to)
	f.d.anyTapTime = any
	if !found && (!any || !f.stamp(from, to)) {
		f.vss(from, to)
	}
}

// stamp reads a trailer with or without a new frame check sequence behind it.
func (f *frame) stamp(from, to int) bool {
	for _, end := range [...]int{to, to - fcsLen} {
		if f.metamako(from, end) || f.exablaze(from, end) {
			return true
		}
	}
	return false
}

// metamako reads the trailer of Metamako devices, now Arista 7130: original FCS
// 4, extensions, seconds 4, nanoseconds 4, flags 1, device 2, port 1.
func (f *frame) metamako(from, end int) bool {
	at := f.metamakoBegin(from, end)
	if at < from {
		return false
	}
	t := f.b[end-12 : end]
	if !f.tapTime(be32(t, 0), uint64(be32(t, 4))) {
		return false
	}
	f.p.Encap.push(EncapMetamako, uint32(be16(t, 9))<<8|uint32(t[11]))
	f.enter(LayerTapTrailer, at)
	return true
}

// metamakoBegin returns where the trailer that ends at end begins, or less than
// from if there can be none.
func (f *frame) metamakoBegin(from, end int) int {
	at := end - metamakoLen
	if at < from || f.b[end-4]&metamakoReserved != 0 {
		return from - 1
	}
	if f.b[end-4]&metamakoExtended != 0 {
		return f.metamakoExtensions(from+fcsLen, end-12) - fcsLen
	}
	return at
}

// Flags of a Metamako trailer that matter here. The others: 0x01 the original
// FCS was right, 0x04 the frame is a duplicate, 0x10 the clock was degraded,
// 0x20 a property of the 64b/66b block.
const (
	metamakoExtended = 0x02
	metamakoReserved = 0xc8
)

// metamakoExtensions walks the extensions, which are read from the trailer back
// to the frame. The last word of each has in bits 7:6 how many words stand
// before it, in bit 5 the mark of the last one and in bits 4:0 its tag; with tag
// 0x1f the length is in bits 15:6, less one. It returns the offset of the first
// octet of all, or one before from when they don't fit.
func (f *frame) metamakoExtensions(from, end int) int {
	for at := end; at-4 >= from; {
		word := be32(f.b, at-4)
		words := 1 + int(word>>6&3)
		if word&0x1f == 0x1f {
			words = 2 + int(word>>6&0x3ff)
		}
		if at -= 4 * words; at < from {
			break
		}
		if word&0x20 != 0 {
			return at
		}
	}
	return from - 1
}

// exablaze reads the trailer of Exablaze devices, now Cisco Nexus 3550:
// original FCS 4, device 1, port 1, seconds 4, fraction of a second 5, reserved
// 1 (0).
func (f *frame) exablaze(from, end int) bool {
	at := end - exablazeLen
	if at < from || f.b[end-1] != 0 {
		return false
	}
	t := f.b[at:end]
	fraction := uint64(be32(t, 10))<<8 | uint64(t[14])
	hi, lo := bits.Mul64(fraction, uint64(second))
	if !f.tapTime(be32(t, 6), hi<<24|lo>>40) {
		return false
	}
	f.p.Encap.push(EncapExablaze, uint32(t[4])<<8|uint32(t[5]))
	f.enter(LayerTapTrailer, at)
	return true
}

// vss names the trailer of VSS Monitoring's taps by the time that it begins
// with: seconds 4, clock source 2 bits and nanoseconds 30; a port of 1 or 2
// octets and a frame check sequence may follow. It wasn't held against real
// frames, so the time isn't used.
func (f *frame) vss(from, to int) {
	n := to - from
	if n < vssTrailerLen || n > vssTrailerLen+2+fcsLen || n&3 == 3 || f.p.Has(FlagNoTime) {
		return
	}
	ns := int64(be32(f.b, from+4) & 0x3fffffff)
	if d := int64(be32(f.b, from))*second + ns - f.p.Time; ns < second && d > -TapWindow && d < TapWindow {
		f.p.Encap.push(EncapVSS, 0)
	}
}
