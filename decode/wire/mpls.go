package wire

// mpls decodes a label stack (RFC 3032 §2.1: label 20 bits, TC 3, S 1, TTL 8).
// What follows the bottom isn't named: IP, or a pseudowire with an Ethernet
// frame (RFC 4448), with or without a control word.
func (f *frame) mpls(off int) {
	for {
		if !f.enter(LayerMPLS, off) || !f.need(off, 4, LayerMPLS) {
			return
		}
		w := be32(f.b, off)
		off += 4
		if w&0x100 != 0 {
			f.p.Encap.push(EncapMPLS, w>>12)
			break
		}
	}
	if !f.need(off, 1, LayerMPLS) {
		return
	}
	switch f.b[off] >> 4 {
	case 4:
		if !f.need(off, 14, LayerMPLS) {
			return
		}
		if f.reallyIP(off, int(be16(f.b, off+2))) && f.b[off] >= 0x45 {
			f.ipv4(off)
			return
		}
		f.pseudowire(off, off)
	case 6:
		if !f.need(off, 14, LayerMPLS) {
			return
		}
		if f.reallyIP(off, 40+int(be16(f.b, off+4))) {
			f.ipv6(off)
			return
		}
		f.pseudowire(off, off)
	case 0: // a control word (RFC 4385 §3), or an address
		f.pseudowire(off+4, off)
	default:
		f.pseudowire(off, off)
	}
}

// reallyIP tells whether the datagram at off with the given length makes sense:
// the nibble that tells IP may as well begin a MAC address (RFC 4928 §3).
func (f *frame) reallyIP(off, length int) bool {
	return length == f.end-off || !f.likelyEther(off)
}

// pseudowire looks for an Ethernet frame at the first or the second place: the
// one whose EtherType makes sense.
func (f *frame) pseudowire(first, second int) {
	at := second
	switch {
	case !f.need(first, 14, LayerMPLS):
		return
	case f.likelyEther(first):
		at = first
	case f.likelyEther(second):
	default:
		f.stop(LayerMPLS, ReasonUnknown)
		return
	}
	f.p.Encap.push(EncapPseudowire, 0)
	f.ethernet(at)
}
