package pcaps

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Writer writes packets to a pcap or pcapng in nanoseconds, little-endian.
// Nothing is complete before Flush.
type Writer struct {
	out    *bufio.Writer
	ifaces []Interface // of pcapng; nil: pcap
	link   uint16      // of pcap
	blk    []byte      // the header or block being built
}

const (
	optComment = 1
	writeBytes = 64 << 10
)

// NewPcapWriter begins a classic pcap with nanosecond times.
func NewPcapWriter(w io.Writer, link uint16, snapLen uint32) (*Writer, error) {
	p := &Writer{out: bufio.NewWriterSize(w, writeBytes), link: link}
	le := binary.LittleEndian
	h := le.AppendUint32(nil, magicNanos)
	h = le.AppendUint16(h, 2)
	h = le.AppendUint16(h, 4)
	h = append(h, make([]byte, 8)...) // reserved
	h = le.AppendUint32(h, snapLen)
	h = le.AppendUint32(h, uint32(link))
	_, err := p.out.Write(h)
	return p, err
}

// NewPcapngWriter begins a pcapng with one section of these interfaces, which
// Record.Iface numbers.
func NewPcapngWriter(w io.Writer, ifaces []Interface) (*Writer, error) {
	if len(ifaces) == 0 {
		return nil, errors.New("a pcapng needs an interface")
	}
	p := &Writer{out: bufio.NewWriterSize(w, writeBytes), ifaces: ifaces}
	le := binary.LittleEndian
	p.begin(blockSection)
	p.blk = le.AppendUint32(p.blk, byteOrderMagic)
	p.blk = le.AppendUint16(p.blk, 1) // version 1.0
	p.blk = le.AppendUint16(p.blk, 0)
	p.blk = le.AppendUint64(p.blk, math.MaxUint64) // section length not told
	if err := p.endBlock(); err != nil {
		return nil, err
	}
	for i := range ifaces {
		if err := p.describe(&ifaces[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Writer) describe(d *Interface) error {
	le := binary.LittleEndian
	p.begin(blockInterface)
	p.blk = le.AppendUint16(p.blk, d.Link)
	p.blk = le.AppendUint16(p.blk, 0)
	p.blk = le.AppendUint32(p.blk, d.SnapLen)
	p.text(optIfName, d.Name)
	p.text(optIfDescription, d.Description)
	if d.SpeedBps != 0 {
		p.option(optIfSpeed, le.AppendUint64(nil, d.SpeedBps))
	}
	p.option(optIfTSResol, []byte{9})
	p.endOptions()
	return p.endBlock()
}

// Write writes one packet: of rec, its time, its length on the wire and, in a
// pcapng, its interface, direction, loss and the comment. A record without a
// time gets time 0: neither format can leave it out beside others that have
// one.
func (p *Writer) Write(rec Record, frame []byte, comment string) error {
	if rec.Time < 0 {
		return fmt.Errorf("time %d ns lies before 1970, which a capture file cannot hold", rec.Time)
	}
	if len(frame) > maxFrame {
		return fmt.Errorf("frame of %d bytes: longer than a reader believes", len(frame))
	}
	rec.Wire = max(rec.Wire, uint32(len(frame)))
	if p.ifaces == nil {
		return p.writePcap(rec, frame)
	}
	return p.writePcapng(rec, frame, comment)
}

func (p *Writer) writePcap(rec Record, frame []byte) error {
	if rec.Link != p.link {
		return fmt.Errorf("record of link type %d in a pcap of link type %d", rec.Link, p.link)
	}
	if rec.Time/1e9 > math.MaxUint32 {
		return fmt.Errorf("time %d ns lies after 2106, which a pcap cannot hold", rec.Time)
	}
	le := binary.LittleEndian
	h := le.AppendUint32(p.blk[:0], uint32(rec.Time/1e9))
	h = le.AppendUint32(h, uint32(rec.Time%1e9))
	h = le.AppendUint32(h, uint32(len(frame)))
	p.blk = le.AppendUint32(h, rec.Wire)
	if _, err := p.out.Write(p.blk); err != nil {
		return err
	}
	_, err := p.out.Write(frame)
	return err
}

func (p *Writer) writePcapng(rec Record, frame []byte, comment string) error {
	if int(rec.Iface) >= len(p.ifaces) {
		return fmt.Errorf("record of interface %d of %d", rec.Iface, len(p.ifaces))
	}
	if link := p.ifaces[rec.Iface].Link; rec.Link != link {
		return fmt.Errorf("record of link type %d on an interface of link type %d", rec.Link, link)
	}
	le := binary.LittleEndian
	p.begin(blockEnhanced)
	p.blk = le.AppendUint32(p.blk, uint32(rec.Iface))
	p.blk = le.AppendUint32(p.blk, uint32(rec.Time>>32))
	p.blk = le.AppendUint32(p.blk, uint32(rec.Time))
	p.blk = le.AppendUint32(p.blk, uint32(len(frame)))
	p.blk = le.AppendUint32(p.blk, rec.Wire)
	p.padded(frame)
	options := len(p.blk)
	p.text(optComment, comment)
	flags := uint32(rec.Dir & flagsDirection)
	if rec.Flags&FlagRxError != 0 {
		flags |= flagsUnspecified
	}
	if flags != 0 {
		p.option(optFlags, le.AppendUint32(nil, flags))
	}
	if rec.Lost != 0 {
		p.option(optDropCount, le.AppendUint64(nil, uint64(rec.Lost)))
	}
	if len(p.blk) > options {
		p.endOptions()
	}
	return p.endBlock()
}

// flagsUnspecified is epb_flags bit 31, a symbol error: the least specific of
// the link errors that the flags can name.
const flagsUnspecified = 1 << 31

// Flush writes out what is buffered.
func (p *Writer) Flush() error { return p.out.Flush() }

func (p *Writer) begin(typ uint32) {
	p.blk = binary.LittleEndian.AppendUint32(p.blk[:0], typ)
	p.blk = append(p.blk, 0, 0, 0, 0) // the length, when it is known
}

func (p *Writer) endBlock() error {
	total := uint32(len(p.blk) + 4)
	binary.LittleEndian.PutUint32(p.blk[4:], total)
	p.blk = binary.LittleEndian.AppendUint32(p.blk, total)
	_, err := p.out.Write(p.blk)
	return err
}

func (p *Writer) padded(b []byte) {
	p.blk = append(p.blk, b...)
	p.blk = append(p.blk, make([]byte, pad4(len(b))-len(b))...)
}

func (p *Writer) text(code uint16, s string) {
	if s != "" {
		p.option(code, []byte(s[:min(len(s), math.MaxUint16)]))
	}
}

func (p *Writer) option(code uint16, val []byte) {
	p.blk = binary.LittleEndian.AppendUint16(p.blk, code)
	p.blk = binary.LittleEndian.AppendUint16(p.blk, uint16(len(val)))
	p.padded(val)
}

func (p *Writer) endOptions() { p.blk = append(p.blk, 0, 0, 0, 0) }
