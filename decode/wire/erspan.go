package wire

// erspan2 decodes an ERSPAN type II header (draft-foschiano-erspan-03 §4.2):
// version 4 bits (1), VLAN 12, COS 3, encapsulation 2, truncated 1, session 10;
// reserved 12, index 20. The frame that follows has no FCS.
func (f *frame) erspan2(off int) {
	if !f.enter(LayerERSPAN, off) || !f.need(off, 8, LayerERSPAN) {
		return
	}
	w := be32(f.b, off)
	if w>>28 != 1 {
		f.stop(LayerERSPAN, ReasonUnknown)
		return
	}
	f.erspanTruncated(w)
	f.p.Encap.push(EncapERSPAN2, w&0x3ff)
	f.ethernet(off + 8)
}

// erspan3 decodes an ERSPAN type III header (draft-foschiano-erspan-03 §4.3):
// as type II in the first word (version 2, BSO in place of En), timestamp 4,
// SGT 2, then P 1 bit, frame type 5, hardware 6, direction 1, granularity 2,
// O 1. With O an 8-octet platform subheader follows.
func (f *frame) erspan3(off int) {
	if !f.enter(LayerERSPAN, off) || !f.need(off, 12, LayerERSPAN) {
		return
	}
	w, last := be32(f.b, off), be16(f.b, off+10)
	if w>>28 != 2 {
		f.stop(LayerERSPAN, ReasonUnknown)
		return
	}
	f.erspanTruncated(w)
	f.p.Encap.push(EncapERSPAN3, w&0x3ff)
	n := 12
	if last&1 != 0 {
		n += 8
	}
	if !f.need(off, n, LayerERSPAN) {
		return
	}
	if !f.d.skipTapTime {
		f.erspanTime(off, n)
	}
	switch last >> 10 & 0x1f {
	case 0:
		f.ethernet(off + n)
	case 2:
		f.ipByVersion(off + n)
	default:
		f.stop(LayerERSPAN, ReasonUnknown)
	}
}

func (f *frame) erspanTruncated(w uint32) {
	if w&0x400 != 0 {
		f.p.Flags |= FlagTruncated
	}
}

// Granularities of an ERSPAN III timestamp, and the platforms whose subheader
// holds the seconds for it (draft-foschiano-erspan-03 §4.3; Wireshark's
// packet-cisco-erspan.c for the platforms).
const (
	granularity100us = 0
	granularity100ns = 1
	granularity1588  = 2 // the timestamp is the nanoseconds part of an IEEE 1588 time
	platformUTC5     = 5
	platformUTC6     = 6
)

// erspanTime takes over the mirror's timestamp: where it is absolute, with
// nanoseconds in the header and UTC seconds in the subheader, as the packet's
// tap time, else as ticks from an epoch that only the switch knows. A subheader
// with their upper 32 bits adds nothing: the epoch stays unknown, and how often
// the lower ones have wrapped the capture's clock tells.
func (f *frame) erspanTime(off, n int) {
	p, stamp := f.p, be32(f.b, off+4)
	switch be16(f.b, off+10) >> 1 & 3 {
	case granularity100us:
		p.TickNS = 100_000
	case granularity100ns:
		p.TickNS = 100
	case granularity1588:
		if n < 20 {
			return
		}
		if id := f.b[off+12] >> 2; id == platformUTC5 || id == platformUTC6 {
			f.tapTime(be32(f.b, off+16), uint64(stamp))
		}
		return
	default:
		return
	}
	// The session and the hardware that counts.
	p.Ticks, p.TickSource = stamp, be16(f.b, off+2)&0x3ff|be16(f.b, off+10)>>4&0x3f<<10
}
