package synth

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// NGInterface is what an interface description block says
// (draft-ietf-opsawg-pcapng 4.2), and at the end its statistics.
type NGInterface struct {
	Link        *uint32 // nil: the scenario's
	SnapLen     uint32  // 0: no limit
	Name        string
	Description string
	SpeedBps    uint64 // 0: not told
	// TSResol is the option's octet: n for 10⁻ⁿ s, 0x80|n for 2⁻ⁿ s; 0 leaves
	// the option out, which means microseconds. (Whole seconds, octet 0, are
	// told by Seconds.)
	TSResol  uint8
	Seconds  bool
	TSOffset int64 // seconds that a reader must add
	FCS      int   // if_fcslen; 0: not told
	// Statistics writes an interface statistics block with these counts.
	Statistics        bool
	Received, Dropped uint64
}

// Kinds of packet blocks.
const (
	NGEnhanced = iota
	NGSimple   // no time, interface 0 only
	NGObsolete // block type 2
)

// PcapngOptions are the variants of pcapng.
type PcapngOptions struct {
	Order      ByteOrder // nil: least significant octet first
	Interfaces []NGInterface
	Block      int // NGEnhanced, NGSimple, NGObsolete
	// Section > 0 begins a new section, with its own interface blocks, every
	// so many frames; Alternate turns the byte order around each time.
	Section   int
	Alternate bool
	// Length tells each section's length in its header instead of -1.
	Length bool
	// Custom adds a custom block and a name resolution block before the
	// packets, which readers must skip.
	Custom bool
}

type ngWriter struct {
	o    *PcapngOptions
	e    ByteOrder
	link uint32
}

// block frames a body, which it pads to 32 bits, with type and lengths.
func (n *ngWriter) block(dst []byte, kind uint32, body func(dst []byte) []byte) []byte {
	at := len(dst)
	dst = n.e.AppendUint32(n.e.AppendUint32(dst, kind), 0)
	dst = pad4(body(dst), at)
	total := uint32(len(dst) - at + 4)
	n.e.PutUint32(dst[at+4:], total)
	return n.e.AppendUint32(dst, total)
}

func pad4(dst []byte, from int) []byte {
	for (len(dst)-from)%4 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// option writes code, length, value and padding.
func (n *ngWriter) option(dst []byte, code uint16, value []byte) []byte {
	dst = n.e.AppendUint16(n.e.AppendUint16(dst, code), uint16(len(value)))
	at := len(dst)
	return pad4(append(dst, value...), at)
}

func (n *ngWriter) section(dst []byte, length uint64) []byte {
	return n.block(dst, 0x0a0d0d0a, func(d []byte) []byte {
		d = n.e.AppendUint32(d, 0x1a2b3c4d)
		d = n.e.AppendUint16(n.e.AppendUint16(d, 1), 0)
		d = n.e.AppendUint64(d, length)
		d = n.option(d, 4, []byte("synth")) // shb_userappl
		return n.option(d, 0, nil)
	})
}

func (n *ngWriter) iface(dst []byte, i *NGInterface) []byte {
	return n.block(dst, 1, func(d []byte) []byte {
		link := n.link
		if i.Link != nil {
			link = *i.Link
		}
		d = n.e.AppendUint16(n.e.AppendUint16(d, uint16(link)), 0)
		d = n.e.AppendUint32(d, i.SnapLen)
		if i.Name != "" {
			d = n.option(d, 2, []byte(i.Name))
		}
		if i.Description != "" {
			d = n.option(d, 3, []byte(i.Description))
		}
		if i.SpeedBps != 0 {
			d = n.option(d, 8, n.e.AppendUint64(nil, i.SpeedBps))
		}
		if i.TSResol != 0 || i.Seconds {
			d = n.option(d, 9, []byte{i.TSResol})
		}
		if i.FCS != 0 {
			d = n.option(d, 13, []byte{byte(i.FCS)})
		}
		if i.TSOffset != 0 {
			d = n.option(d, 14, n.e.AppendUint64(nil, uint64(i.TSOffset)))
		}
		return n.option(d, 0, nil)
	})
}

// ticks turns a time into the interface's units.
func (i *NGInterface) ticks(t int64) uint64 {
	ns := uint64(t - i.TSOffset*1e9)
	resol := i.TSResol
	switch {
	case i.Seconds:
		return ns / 1e9
	case resol == 0:
		resol = 6
	case resol&0x80 != 0:
		hi, lo := bits.Mul64(ns, 1<<(resol&0x7f))
		// Rounded up, so that the nanosecond comes back whole.
		lo, carry := bits.Add64(lo, 1e9-1, 0)
		q, _ := bits.Div64(hi+carry, lo, 1e9)
		return q
	}
	if resol <= 9 {
		return ns / uint64(math.Pow10(9-int(resol)))
	}
	return ns * uint64(math.Pow10(int(resol)-9))
}

func (n *ngWriter) packet(dst []byte, f *Frame, i *NGInterface) []byte {
	data := f.Data
	if i.SnapLen != 0 {
		data = data[:min(len(data), int(i.SnapLen))]
	}
	if n.o.Block == NGSimple {
		return n.block(dst, 3, func(d []byte) []byte {
			return append(n.e.AppendUint32(d, uint32(f.WireLen())), data...)
		})
	}
	kind := uint32(6)
	if n.o.Block == NGObsolete {
		kind = 2
	}
	return n.block(dst, kind, func(d []byte) []byte {
		if kind == 2 { // interface 16, drops 16
			d = n.e.AppendUint16(n.e.AppendUint16(d, uint16(f.Iface)), 0)
		} else {
			d = n.e.AppendUint32(d, uint32(f.Iface))
		}
		t := i.ticks(f.Time)
		d = n.e.AppendUint32(n.e.AppendUint32(d, uint32(t>>32)), uint32(t))
		d = n.e.AppendUint32(n.e.AppendUint32(d, uint32(len(data))), uint32(f.WireLen()))
		at := len(d)
		d = pad4(append(d, data...), at)
		if f.Dir != 0 {
			d = n.option(d, 2, n.e.AppendUint32(nil, uint32(f.Dir)))
			d = n.option(d, 0, nil)
		}
		return d
	})
}

func (n *ngWriter) statistics(dst []byte, id int, i *NGInterface, at int64) []byte {
	return n.block(dst, 5, func(d []byte) []byte {
		t := i.ticks(at)
		d = n.e.AppendUint32(d, uint32(id))
		d = n.e.AppendUint32(n.e.AppendUint32(d, uint32(t>>32)), uint32(t))
		d = n.option(d, 4, n.e.AppendUint64(nil, i.Received))
		d = n.option(d, 5, n.e.AppendUint64(nil, i.Dropped))
		return n.option(d, 0, nil)
	})
}

// body is one section without its header.
func (n *ngWriter) body(frames []Frame) []byte {
	var d []byte
	for i := range n.o.Interfaces {
		d = n.iface(d, &n.o.Interfaces[i])
	}
	if n.o.Custom {
		d = n.block(d, 0x00000bad, func(d []byte) []byte { return n.e.AppendUint32(d, 32473) })
		d = n.block(d, 4, func(d []byte) []byte { return n.e.AppendUint32(d, 0) })
	}
	var last int64
	for i := range frames {
		last = frames[i].Time
		d = n.packet(d, &frames[i], &n.o.Interfaces[frames[i].Iface])
	}
	for i := range n.o.Interfaces {
		if n.o.Interfaces[i].Statistics {
			d = n.statistics(d, i, &n.o.Interfaces[i], last)
		}
	}
	return d
}

// WritePcapng writes the scenario as pcapng. Without interfaces in o there's
// one of nanosecond resolution for each that the frames name.
func (s *Scenario) WritePcapng(w io.Writer, o PcapngOptions) error {
	if o.Order == nil {
		o.Order = binary.LittleEndian
	}
	if len(o.Interfaces) == 0 {
		o.Interfaces = []NGInterface{{TSResol: 9}}
	}
	for i := range s.Frames {
		for s.Frames[i].Iface >= len(o.Interfaces) {
			o.Interfaces = append(o.Interfaces, NGInterface{TSResol: 9})
		}
	}
	n := ngWriter{o: &o, e: o.Order, link: linkOf(s, nil)}
	out := bufio.NewWriter(w)
	rest := s.Frames
	for first := true; first || len(rest) > 0; first = false {
		part := rest
		if o.Section > 0 && len(part) > o.Section {
			part = part[:o.Section]
		}
		rest = rest[len(part):]
		body := n.body(part)
		length := uint64(math.MaxUint64) // -1: not told
		if o.Length {
			length = uint64(len(body))
		}
		out.Write(n.section(nil, length))
		out.Write(body) // errors stick and show in Flush
		if o.Alternate {
			if n.e == ByteOrder(binary.LittleEndian) {
				n.e = binary.BigEndian
			} else {
				n.e = binary.LittleEndian
			}
		}
	}
	return out.Flush()
}
