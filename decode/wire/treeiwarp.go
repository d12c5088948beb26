package wire

import (
	"strconv"

	"rdmascope/decode/iwarp"
)

// The tree of one packet knows no stream: it shows what iwarp.Alone is sure of.

var mpaFrameFields = []field{
	{"iwarp_mpa.marker_flag", "Markers wanted", 128, 1, flag, nil},
	{"iwarp_mpa.crc_flag", "CRCs wanted", 129, 1, flag, nil},
	{"iwarp_mpa.rej_flag", "Rejected", 130, 1, flag, nil},
	{"iwarp_mpa.res", "Reserved", 131, 5, hexa, enhancedWords},
	{"iwarp_mpa.rev", "Revision", 136, 8, dec, nil},
	{"iwarp_mpa.pdlength", "Private data length", 144, 16, dec, nil},
}

var (
	mpaKeys    = []field{{"iwarp_mpa.key.req", "Key", 0, 128, octets, nil}, {"iwarp_mpa.key.rep", "Key", 0, 128, octets, nil}}
	mpaKinds   = []field{{name: "iwarp_mpa"}, {name: "iwarp_mpa.req"}, {name: "iwarp_mpa.rep"}, {name: "iwarp_mpa.fpdu"}, {name: "iwarp_mpa.privatedata"}, {name: "iwarp_mpa.pad"}}
	mpaLength  = field{"iwarp_mpa.ulpdulength", "ULPDU length", 0, 16, dec, nil}
	mpaCRC     = field{"iwarp_mpa.crc", "CRC", 0, 32, hexa, nil}
	mpaChecked = field{"iwarp_mpa.crc_check", "CRC", 0, 32, hexa, nil}
)

func enhancedWords(v uint64) string {
	if v&iwarp.MPAFlagS != 0 {
		return "enhanced, RFC 6581"
	}
	return ""
}

// mpaDepthFields are what private data begin with in enhanced frames (RFC 6581
// §9.1). Wireshark 4.0 shows them as private data.
var mpaDepthFields = []field{
	{"", "Peer to peer", 0, 1, flag, nil},
	{"", "Ready by zero-length Send", 1, 1, flag, nil},
	{"", "IRD", 2, 14, dec, depthWords},
	{"", "Ready by zero-length Write", 16, 1, flag, nil},
	{"", "Ready by zero-length Read", 17, 1, flag, nil},
	{"", "ORD", 18, 14, dec, depthWords},
}

func depthWords(v uint64) string {
	if v == iwarp.IRDORDNone {
		return "not negotiated"
	}
	return ""
}

// lone is what a packet shows of iWARP by itself.
func lone(p *Packet) (frame int, list []iwarp.LoneFPDU) {
	if p.Kind != KindTCP || p.TransOff == 0 || p.TransLen == 0 || p.Flags&FlagFragment != 0 {
		return 0, nil
	}
	return iwarp.Alone(p.TCPPayload(), int(p.TransLen))
}

// ShowsIWARP tells whether a TCP segment by itself, without the stream before
// it, is seen to carry MPA: a start-up frame, or FPDUs whose CRCs or lengths
// agree. False says nothing: most of a stream's middle can't be told alone.
func ShowsIWARP(p *Packet) bool {
	frame, list := lone(p)
	return frame > 0 || len(list) > 0
}

// iwarp adds start-up frame and FPDUs behind the TCP payload that holds them.
func (t *treeBuilder) iwarp() {
	frame, list := lone(t.p)
	off := int(t.p.TransOff)
	if frame > 0 {
		t.mpaFrame(off, frame)
	}
	for i := range list {
		t.fpdu(off+list[i].At, &list[i])
	}
}

func (t *treeBuilder) mpaFrame(off, length int) {
	var m iwarp.MPAFrame
	err := m.DecodeFromBytes(t.p.TCPPayload(), noFeedback{})
	name, key := "iwarp_mpa.req", &mpaKeys[0]
	if m.Reply {
		name, key = "iwarp_mpa.rep", &mpaKeys[1]
	}
	n := t.header(name, m.Name(), off, length, mpaFrameFields)
	if k, ok := t.field(off, key); ok {
		n.Children = append([]Node{k}, n.Children...)
	}
	if private, ok := t.raw("iwarp_mpa.privatedata", "Private data", off+iwarp.MPAHeaderLen, int(m.PrivateLength)); ok {
		if m.Enhanced {
			private.Children = t.fields(off+iwarp.MPAHeaderLen, mpaDepthFields)
		}
		n.Children = append(n.Children, private)
	}
	if err != nil && err != iwarp.ErrTruncated {
		n.Value = err.Error()
	}
	t.add(Node{Name: "iwarp_mpa", Label: "MPA", Value: m.Name(), Off: off, Len: n.Len, Children: []Node{n}})
}

// fpdu adds an FPDU: its frame, and the DDP segment in it.
func (t *treeBuilder) fpdu(off int, f *iwarp.LoneFPDU) {
	total := iwarp.FPDULen(f.ULPDULength)
	if !f.Ends {
		// Wireshark shows it where it ends; so do filters.
		if n, ok := t.raw("", "Begin of an FPDU", off, int(t.p.TransOff+t.p.TransLen)-off); ok {
			n.Value = f.DDP.Opcode.String() + ", goes on in a later segment"
			t.add(n)
		}
		return
	}
	n := t.header("iwarp_mpa.fpdu", "FPDU", off, total, []field{mpaLength})
	ulpdu := off + iwarp.LengthLen
	crc := off + total - iwarp.CRCLen
	if pad, ok := t.raw("iwarp_mpa.pad", "Pad", ulpdu+int(f.ULPDULength), crc-ulpdu-int(f.ULPDULength)); ok {
		n.Children = append(n.Children, pad)
	}
	if f.CRCSeen {
		n.Children = append(n.Children, t.fpduCRC(crc, f))
	}
	t.add(Node{Name: "iwarp_mpa", Label: "MPA", Value: "FPDU", Off: off, Len: n.Len, Children: []Node{n}})
	t.ddp(ulpdu, f)
}

func (t *treeBuilder) fpduCRC(off int, f *iwarp.LoneFPDU) Node {
	shown, words := &mpaCRC, "does not verify: wrong, or CRCs are not used"
	switch {
	case f.Verified:
		shown, words = &mpaChecked, "good"
	case f.CRCField == 0:
		words = "not used"
	}
	n, _ := t.field(off, shown)
	n.Value += " (" + words + ")"
	return n
}

// noFeedback drops what layers say to gopacket.
type noFeedback struct{}

func (noFeedback) SetTruncated() {}

// iwarpSummary says what a TCP segment shows of iWARP; "" for nothing certain.
func iwarpSummary(p *Packet) string {
	const shown = 4
	frame, list := lone(p)
	s := line{}
	if frame > 0 {
		var m iwarp.MPAFrame
		_ = m.DecodeFromBytes(p.TCPPayload(), noFeedback{}) // what was cut is left out
		s.text(m.Name()).text(" rev ").dec(uint64(m.Revision))
		if m.Enhanced {
			s.text(" IRD ").dec(uint64(m.IRD)).text(" ORD ").dec(uint64(m.ORD))
		}
	}
	for i := range list {
		if len(s.b) > 0 {
			s.text("; ")
		}
		if i == shown {
			s.text(strconv.Itoa(len(list) - shown)).text(" more FPDUs")
			break
		}
		s.fpdu(p, &list[i])
	}
	return string(s.b)
}

// fpdu says what an FPDU is.
func (l *line) fpdu(p *Packet, f *iwarp.LoneFPDU) {
	d := &f.DDP
	l.text(d.Opcode.String())
	body := d.LayerPayload() // as captured, pad and CRC behind it
	switch d.Opcode {
	case iwarp.RDMAReadReq:
		var r iwarp.ReadRequest
		if r.DecodeFromBytes(body, noFeedback{}) == nil {
			l.text(" ").dec(uint64(r.Size)).text(" bytes of STag ").hex(uint64(r.SrcSTag), 8).text(" to STag ").hex(uint64(r.SinkSTag), 8)
		}
	case iwarp.Terminated:
		var t iwarp.Terminate
		if err := t.DecodeFromBytes(body, noFeedback{}); err == nil || err == iwarp.ErrTruncated {
			l.text(" ").text(t.String())
		}
	default:
		if d.Tagged {
			l.text(" STag ").hex(uint64(d.STag), 8).text(" offset ").hex(d.TO, 0)
		} else {
			l.text(" MSN ").dec(uint64(d.MSN))
			if d.MO != 0 {
				l.text(" offset ").dec(uint64(d.MO))
			}
		}
		if d.Opcode.Invalidates() {
			l.text(" invalidates ").hex(uint64(d.STag), 8)
		}
		if n := int(f.ULPDULength) - d.Len(); n > 0 && d.Opcode.CarriesPayload() {
			l.text(" payload ").dec(uint64(n))
		}
	}
	if !d.Last {
		l.text(" …")
	}
	switch {
	case !f.Ends:
		l.text(" [goes on]")
	case f.CRCSeen && !f.Verified && f.CRCField != 0:
		l.text(" [CRC does not verify]")
	}
}
