package pcaps

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

/*
Classic pcap, draft-ietf-opsawg-pcap. File header:

	 0  magic          byte order, unit of the time, variant
	 4  major, minor   2.4; older ones below
	 8  reserved (thiszone), 12 reserved (sigfigs)
	16  snaplen
	20  link type:  FCS length 31:28 (16-bit words), f 26, reserved, LinkType 15:0

Record header: seconds, µs or ns, captured length, original length, 4 bytes
each; the modified variant adds interface index (4), protocol (2), packet type
(1) and a pad byte.
*/

const (
	pcapHeaderLen         = 24
	pcapRecordLen         = 16
	pcapModifiedRecordLen = 24

	magicMicros   = 0xa1b2c3d4
	magicNanos    = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // Alexey Kuznetzov's patched libpcap

	pcapFCSPresent = 0x04000000 // f bit: the FCS length is told
)

// lengthOrder is how a record header orders its two lengths. libpcap wrote
// the original length first before version 2.3, and both ways in 2.3.
type lengthOrder uint8

const (
	capturedFirst lengthOrder = iota
	originalFirst
	smallerIsCaptured
)

// pcapFile walks the records of a classic pcap.
type pcapFile struct {
	tab   *ifaceTable
	sec   section
	desc  Interface
	iface uint16
	known bool // iface is claimed

	big    bool
	header int   // bytes of a record header
	unit   int64 // ns per sub-second unit
	order  lengthOrder
	fcs    uint32
	wrap   unwrapper
	n      int64 // records found
}

// newPcap reads the file header in head, at least pcapHeaderLen bytes.
func newPcap(head []byte, input int, tab *ifaceTable) (*pcapFile, error) {
	p := &pcapFile{tab: tab, sec: section{input: input}, header: pcapRecordLen, unit: 1000}
	var order binary.ByteOrder = binary.LittleEndian
	magic := order.Uint32(head)
	if magic&0xff == 0xa1 { // the magic's first byte, read the wrong way round
		p.big, order = true, binary.BigEndian
		magic = order.Uint32(head)
	}
	switch magic {
	case magicNanos:
		p.unit = 1
	case magicModified:
		p.header = pcapModifiedRecordLen
	}
	field := order.Uint32(head[20:])
	link := uint16(field)
	major, minor := order.Uint16(head[4:]), order.Uint16(head[6:])
	switch {
	case major == 2 && minor < 3, major == 543 && minor == 0:
		p.order = originalFirst
	case major == 2 && minor == 3:
		p.order = smallerIsCaptured
	case major != 2:
		return nil, fmt.Errorf("pcap of version %d.%d, not read (2.x and 543.0 are)", major, minor)
	}
	if major == 2 && minor == 2 && link == 6 {
		// AIX numbers links by ifType (6: Ethernet) and writes nanoseconds;
		// nobody else wrote 2.2 with LINKTYPE 6 (IEEE 802.5).
		link, p.unit = LinkEthernet, 1
	}
	fcs := -1
	if field&pcapFCSPresent != 0 {
		fcs = int(field>>28) * 2
		p.fcs = uint32(fcs)
	}
	p.wrap = unwrapperOf(link)
	p.desc = Interface{
		Link: link, SnapLen: order.Uint32(head[16:]),
		Received: -1, Dropped: -1, FCSBytes: fcs, Nanos: p.unit == 1,
	}
	return p, nil
}

func (p *pcapFile) walk(b []byte, at int, recs []Record) (int, []Record, error) {
	if len(b)-at < p.header {
		return at, recs, nil
	}
	if !p.known {
		sec, sub, _, _ := recordFields(b[at:], p.big, p.order)
		if err := p.claim(int64(sec)*1e9 + int64(sub)*p.unit); err != nil {
			return at, recs, err
		}
	}
	had := len(recs)
	at, recs, err := p.scan(b, at, recs)
	if len(recs) > had {
		p.n += int64(len(recs) - had)
		p.sec.last = recs[len(recs)-1].Time
	}
	if p.fcs != 0 {
		for i := had; i < len(recs); i++ {
			cutFCS(&recs[i], p.fcs)
		}
	}
	if p.wrap != nil {
		for i := had; i < len(recs); i++ {
			p.wrap(b, &recs[i])
		}
	}
	return at, recs, err
}

// recordFields reads a record header in the order that the standard has it.
func recordFields(h []byte, big bool, order lengthOrder) (sec, sub, captured, wire uint32) {
	h = h[:pcapRecordLen]
	sec, sub = binary.LittleEndian.Uint32(h), binary.LittleEndian.Uint32(h[4:])
	captured, wire = binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])
	if big {
		sec, sub = bits.ReverseBytes32(sec), bits.ReverseBytes32(sub)
		captured, wire = bits.ReverseBytes32(captured), bits.ReverseBytes32(wire)
	}
	if order != capturedFirst && (order == originalFirst || captured > wire) {
		captured, wire = wire, captured
	}
	return sec, sub, captured, wire
}

// scan is the loop over every packet of every classic pcap.
func (p *pcapFile) scan(b []byte, at int, recs []Record) (int, []Record, error) {
	header, unit, iface, link := p.header, p.unit, p.iface, p.desc.Link // the compiler keeps no field in a register
	big, order := p.big, p.order
	had := len(recs)
	for len(b)-at >= header {
		sec, sub, captured, wire := recordFields(b[at:], big, order)
		if captured > maxFrame {
			return at, recs, errNotBelievable(p.n+int64(len(recs)-had)+1, int64(captured))
		}
		end := at + header + int(captured)
		if end > len(b) {
			break
		}
		recs = oneMore(recs)
		r := &recs[len(recs)-1]
		r.Time = int64(sec)*1e9 + int64(sub)*unit
		r.Off, r.Cap, r.Wire = uint32(at+header), captured, max(wire, captured)
		r.Iface, r.Link, r.Flags, r.Lost, r.Dir = iface, link, 0, 0, 0
		at = end
	}
	return at, recs, nil
}

func (p *pcapFile) claim(first int64) (err error) {
	p.iface, err = p.tab.claim(&p.sec, p.desc, first)
	p.known = err == nil
	return err
}

func (p *pcapFile) partial(rest []byte) bool { return len(rest) > 0 }

func (p *pcapFile) cut(rest []byte) string {
	if len(rest) == 0 {
		return cutAfterPacket(p.n)
	}
	return cutInPacket(p.n)
}

func (p *pcapFile) finish() error {
	p.sec.ended = true
	if p.known {
		return nil
	}
	return p.claim(0)
}
