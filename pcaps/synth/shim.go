package synth

// Label is an MPLS label stack entry (RFC 3032 2.1).
//
//	Label 20 | TC 3 | S 1 | TTL 8
type Label struct {
	Label uint32
	TC    uint8
	TTL   uint8
}

// appendLabels writes the stack; the last entry has the bottom-of-stack bit.
func appendLabels(dst []byte, stack []Label) []byte {
	for i, l := range stack {
		dst = be.AppendUint32(dst, l.Label<<12|uint32(l.TC&7)<<9|uint32(bit(i == len(stack)-1, 0))<<8|uint32(l.TTL))
	}
	return dst
}

// replaceType keeps MACs and tags, and puts etherType and head before what
// followed the old EtherType.
func replaceType(frame []byte, etherType uint16, head []byte, keepType bool) []byte {
	at, _ := etherPayload(frame)
	out := be.AppendUint16(append([]byte(nil), frame[:at]...), etherType)
	out = append(out, head...)
	if !keepType {
		at += 2
	}
	return append(out, frame[at:]...)
}

// MPLS puts a label stack before the frame's IP packet.
func MPLS(stack ...Label) Wrap {
	return func(frame []byte) []byte {
		return replaceType(frame, EtherMPLS, appendLabels(nil, stack), false)
	}
}

// Pseudowire carries the whole frame over MPLS (RFC 4448), with the control
// word or without.
func Pseudowire(outer Path, controlWord bool, stack ...Label) Wrap {
	return func(frame []byte) []byte {
		out := appendLabels(outer.AppendEthernet(nil, EtherMPLS), stack)
		if controlWord {
			out = append(out, 0, 0, 0, 0)
		}
		return append(out, frame...)
	}
}

// MPLSUDP carries the IP packet behind a label stack in UDP 6635 (RFC 7510).
func MPLSUDP(outer Path, stack ...Label) Wrap {
	return func(frame []byte) []byte {
		_, ip := splitIP(frame)
		return outerUDP(outer, 6635, append(appendLabels(nil, stack), ip...))
	}
}

// VNTag inserts Cisco's VN-Tag after the MACs.
//
//	0x8926 | d 1 | p 1 | dvif 14 | l 1 | r 1 | ver 2 | svif 12
func VNTag(toBridge bool, dvif, svif uint16) Wrap {
	return func(frame []byte) []byte {
		out := be.AppendUint16(append([]byte(nil), frame[:12]...), EtherVNTag)
		out = be.AppendUint16(out, uint16(bit(toBridge, 7))<<8|dvif&0x3fff)
		out = be.AppendUint16(out, svif&0xfff)
		return append(out, frame[12:]...)
	}
}

// SNAP turns the EtherType into a length with an LLC/SNAP header (IEEE 802.2,
// RFC 1042): AA AA 03, OUI 0, type. Frames that don't fit an 802.3 length
// (1500 octets) are left as they are.
func SNAP() Wrap {
	return func(frame []byte) []byte {
		at, _ := etherPayload(frame)
		size := len(frame) - at - 2 + 8
		if size > 1500 {
			return frame
		}
		return replaceType(frame, uint16(size), []byte{0xaa, 0xaa, 3, 0, 0, 0}, true)
	}
}

// NSH carries the whole frame behind a network service header (RFC 8300) of
// MD type 1 (16 octets of context) or, without context, MD type 2.
func NSH(outer Path, path uint32, index uint8, context []byte) Wrap {
	return func(frame []byte) []byte {
		out := outer.AppendEthernet(nil, EtherNSH)
		words, md := uint16(2), byte(2)
		if len(context) == 16 {
			words, md = 6, 1
		}
		// Ver 2 =0 | O 1 | U 1 | TTL 6 | Length 6, in words
		out = be.AppendUint16(out, 63<<6|words)
		out = append(out, md, 3) // next protocol 3: Ethernet
		out = be.AppendUint32(out, path<<8|uint32(index))
		if md == 1 {
			out = append(out, context...)
		}
		return append(out, frame...)
	}
}
