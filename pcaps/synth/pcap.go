package synth

import (
	"bufio"
	"encoding/binary"
	"io"
)

// ByteOrder is what both LittleEndian and BigEndian are.
type ByteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// PcapOptions are the variants of the classic format
// (draft-ietf-opsawg-pcap).
type PcapOptions struct {
	Order   ByteOrder // nil: least significant octet first
	Nanos   bool
	SnapLen uint32 // 0: 262144, nothing is cut
	Link    *uint32
	// FCS, if > 0, is told in the upper bits of the link-type field; the frames
	// must have it.
	FCS int
	// Magic overrides the magic number: 0xa1b2cd34 is Kuznetzov's modified
	// format, whose record headers have 8 more octets.
	Magic        uint32
	Major, Minor uint16 // 0.0 means 2.4
	// SwapLengths writes captured and original length in each other's place,
	// as versions before 2.3 did.
	SwapLengths bool
}

const (
	magicMicros   = 0xa1b2c3d4
	magicNanos    = 0xa1b23c4d
	magicModified = 0xa1b2cd34
)

func (o *PcapOptions) defaults(s *Scenario) (link uint32) {
	if o.Order == nil {
		o.Order = binary.LittleEndian
	}
	if o.SnapLen == 0 {
		o.SnapLen = 262144
	}
	if o.Magic == 0 {
		o.Magic = magicMicros
		if o.Nanos {
			o.Magic = magicNanos
		}
	}
	if o.Major == 0 && o.Minor == 0 {
		o.Major, o.Minor = 2, 4
	}
	return linkOf(s, o.Link)
}

func linkOf(s *Scenario, link *uint32) uint32 {
	switch {
	case link != nil:
		return *link
	case s.Link == 0:
		return LinkEthernet
	case s.Link == LinkNull:
		return 0
	}
	return s.Link
}

// appendPcapHeader writes the 24 octets of the file header.
func (o *PcapOptions) appendHeader(dst []byte, link uint32) []byte {
	e := o.Order
	dst = e.AppendUint32(dst, o.Magic)
	dst = e.AppendUint16(e.AppendUint16(dst, o.Major), o.Minor)
	dst = e.AppendUint32(e.AppendUint32(dst, 0), 0)
	dst = e.AppendUint32(dst, o.SnapLen)
	if o.FCS > 0 { // length in units of 16 bits, and the bit that says so
		link |= uint32(o.FCS/2)<<28 | 1<<26
	}
	return e.AppendUint32(dst, link)
}

// appendRecord writes a record's header.
func (o *PcapOptions) appendRecord(dst []byte, f *Frame, captured int) []byte {
	e := o.Order
	sub := f.Time % 1e9
	if !o.Nanos {
		sub /= 1000
	}
	dst = e.AppendUint32(e.AppendUint32(dst, uint32(f.Time/1e9)), uint32(sub))
	first, second := uint32(captured), uint32(f.WireLen())
	if o.SwapLengths {
		first, second = second, first
	}
	dst = e.AppendUint32(e.AppendUint32(dst, first), second)
	if o.Magic == magicModified { // interface 32, protocol 16, packet type 8, pad 8
		dst = e.AppendUint32(dst, uint32(f.Iface))
		dst = append(e.AppendUint16(dst, EtherIPv4), 0, 0)
	}
	return dst
}

// WritePcap writes the scenario as a classic capture file.
func (s *Scenario) WritePcap(w io.Writer, o PcapOptions) error {
	link := o.defaults(s)
	out := bufio.NewWriter(w)
	out.Write(o.appendHeader(nil, link)) // errors stick and show in Flush
	var head []byte
	for i := range s.Frames {
		f := &s.Frames[i]
		data := f.Data[:min(len(f.Data), int(o.SnapLen))]
		head = o.appendRecord(head[:0], f, len(data))
		out.Write(head)
		out.Write(data)
	}
	return out.Flush()
}

// WriteERF writes the scenario as a bare file of ERF records of one type
// (ERFEthernet or ERFInfiniBand).
func (s *Scenario) WriteERF(w io.Writer, recordType uint8) error {
	out := bufio.NewWriter(w)
	var record []byte
	for i := range s.Frames {
		f := &s.Frames[i]
		e := ERF{Time: f.Time, Type: recordType, Flags: 0x04 | uint8(f.Iface&3), Wire: f.WireLen()}
		record = e.Append(record[:0], f.Data)
		out.Write(record)
	}
	return out.Flush()
}
