package iwarp

import "encoding/binary"

// Markers (RFC 5044 §4.3) stand in the stream every 512 octets, counted from
// the first octet of full operation and with the markers themselves counted:
//
//	+-------------------------------+-------------------------------+
//	|          Reserved, 0          |            FPDUPTR            |
//	+-------------------------------+-------------------------------+
//
// FPDUPTR is the number of stream octets from the FPDU's length field to the
// marker; 0 where an FPDU follows.
const (
	MarkerLen    = 4
	MarkerPeriod = 512
)

// markerMode is what a walker believes about markers.
type markerMode uint8

const (
	// markersOff: none.
	markersOff markerMode = iota
	// markersLearn: not known. A zero word where an FPDU should start can't be
	// a length, so it is taken for a marker and fixes the phase.
	markersLearn
	// markersOn: one wherever (offset − phase) mod 512 = 0.
	markersOn
)

// markers is the marker arithmetic of one direction. TCP numbers wrap at 2³²,
// which 512 divides, so that the unwrapped offset gives the same positions.
type markers struct {
	mode  markerMode
	phase uint16 // offset mod 512 of the markers, valid with markersOn
}

// index is the place of offset within its 512-octet period; below MarkerLen it
// is an octet of a marker.
func (m markers) index(offset uint64) int {
	return int((offset - uint64(m.phase)) & (MarkerPeriod - 1))
}

// inMarker tells whether the octet at offset is a marker's.
func (m markers) inMarker(offset uint64) bool {
	return m.mode == markersOn && m.index(offset) < MarkerLen
}

// run is the number of octets from offset to the next marker.
func (m markers) run(offset uint64) int {
	if m.mode != markersOn {
		return maxInt
	}
	return MarkerPeriod - m.index(offset)
}

// octets counts the marker octets in [from, to).
func (m markers) octets(from, to uint64) uint64 {
	if m.mode != markersOn {
		return 0
	}
	upTo := func(x uint64) uint64 {
		// One period is added so that the difference can't pass below zero.
		x = x - uint64(m.phase) + MarkerPeriod
		return x/MarkerPeriod*MarkerLen + min(x%MarkerPeriod, MarkerLen)
	}
	return upTo(to) - upTo(from)
}

// end is the offset behind an FPDU of total octets whose length field stands at
// start. A marker directly behind it belongs to the next.
func (m markers) end(start, total uint64) uint64 {
	if m.mode != markersOn {
		return start + total
	}
	const between = MarkerPeriod - MarkerLen
	run := uint64(m.run(start))
	if total <= run {
		return start + total
	}
	return start + total + (total-run+between-1)/between*MarkerLen
}

const maxInt = int(^uint(0) >> 1)

// pointerTo looks in b for a marker whose FPDUPTR names the octet b[at]: the
// only way to find the phase where no handshake was seen or the sender counts
// in its own way. A marker with pointer 0 isn't looked for: without CRCs every
// FPDU ends with such a word.
func pointerTo(b []byte, at, total int) (marker int, ok bool) {
	last := min(len(b)-MarkerLen, at+min(total, MarkerPeriod))
	for i := at + 4; i <= last; i += 4 {
		if binary.BigEndian.Uint32(b[i:]) == uint32(i-at) {
			return i, true
		}
	}
	return 0, false
}
