package decode

// aristaHeader passes over the header that an Arista tap aggregator puts
// behind the source MAC (EtherType 0xD28B): subtype 2 (1 = timestamp),
// timescale 1 (0 TAI, 1 UTC), format and hardware 1 (1 = 64 bit, 2 = 48 bit),
// seconds 4 or 2, nanoseconds 4, then the original EtherType. It returns the
// header's length with that EtherType, 0 when decoding ends here.
func (f *frame) aristaHeader(off int) int {
	if !f.enter(LayerTapHeader) || !f.need(off, 4, LayerTapHeader) {
		return 0
	}
	if be16(f.b, off) != 1 {
		f.stop(LayerTapHeader, ReasonUnknown)
		return 0
	}
	n := 4 + 8 + 2
	switch f.b[off+3] >> 4 {
	case 1:
	case 2:
		n -= 2
	default:
		f.stop(LayerTapHeader, ReasonUnknown)
		return 0
	}
	if !f.need(off, n, LayerTapHeader) {
		return 0
	}
	f.p.Encap.push(EncapTapHeader, 0)
	return n
}
