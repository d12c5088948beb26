package pcaps

import (
	"encoding/binary"
	"time"
)

/*
ERF (Endace Extensible Record Format) record header, 16 bytes:

	 0  timestamp  little-endian 32.32 fixed point, high word Unix seconds
	 8  type       bit 7: extension headers follow
	 9  flags      1:0 interface, 0x04 varying length, 0x08 truncated, 0x10 rx error
	10  rlen       whole record, this header included
	12  lctr       packets lost before this one, in the types that have it; else colour
	14  wlen       length on the wire

then extension headers of 8 bytes, each saying in bit 7 of its first byte
whether another follows, then 2 pad bytes for Ethernet, then the frame.
*/
const (
	erfHeaderLen = 16
	erfExtLen    = 8

	erfMore       = 0x80 // of the type byte: an extension header follows
	erfVarying    = 0x04
	erfTruncated  = 0x08
	erfRxError    = 0x10
	erfInterfaces = 4 // flags 1:0

	erfTypeEthernet   = 2
	erfTypeColorEth   = 11
	erfTypeDSMColor   = 16
	erfTypeHashEth    = 20
	erfTypeInfiniBand = 21
	erfTypeIPv4       = 22
	erfTypeIPv6       = 23
	erfTypeMax        = 29
	erfTypePad        = 48
)

// erfInside is what an ERF type holds; ok is false for types that stay ERF.
func erfInside(typ byte) (link uint16, pad uint32, loss, ok bool) {
	switch typ {
	case erfTypeEthernet:
		return LinkEthernet, 2, true, true
	case erfTypeColorEth, erfTypeDSMColor, erfTypeHashEth:
		return LinkEthernet, 2, false, true
	case erfTypeInfiniBand:
		return LinkInfiniBand, 0, true, true
	case erfTypeIPv4:
		return LinkIPv4, 0, false, true
	case erfTypeIPv6:
		return LinkIPv6, 0, false, true
	}
	return LinkERF, 0, false, false
}

// unwrapERF takes the ERF headers off. wlen tells the frame's own length; the
// record may be longer, being padded to 8 bytes.
func unwrapERF(b []byte, rec *Record) {
	f := b[rec.Off : rec.Off+rec.Cap]
	if len(f) < erfHeaderLen {
		return
	}
	link, pad, loss, ok := erfInside(f[8] &^ erfMore)
	if !ok {
		return
	}
	skip := uint32(erfHeaderLen)
	for more := f[8]; more&erfMore != 0; skip += erfExtLen {
		if skip+erfExtLen > rec.Cap {
			return
		}
		more = f[skip]
	}
	skip += pad
	rlen, wlen := uint32(binary.BigEndian.Uint16(f[10:])), uint32(binary.BigEndian.Uint16(f[14:]))
	if rlen < skip || rec.Cap < skip {
		return
	}
	rec.Off += skip
	rec.Cap = min(rec.Cap, rlen) - skip
	rec.Cap = min(rec.Cap, wlen)
	rec.Wire = wlen
	rec.Link = link
	if f[9]&erfTruncated != 0 {
		rec.Flags |= FlagTruncated
	}
	if f[9]&erfRxError != 0 {
		rec.Flags |= FlagRxError
	}
	if loss {
		rec.Lost = binary.BigEndian.Uint16(f[12:])
	}
}

func erfTime(h []byte) int64 {
	frac := uint64(binary.LittleEndian.Uint32(h))
	return int64(binary.LittleEndian.Uint32(h[4:]))*1e9 + int64(frac*1e9>>32)
}

// erfFile walks a bare ERF file: records, with no file header.
type erfFile struct {
	tab   *ifaceTable
	sec   section
	iface [erfInterfaces]uint16
	known [erfInterfaces]bool
	n     int64
}

func newERF(input int, tab *ifaceTable) *erfFile {
	return &erfFile{tab: tab, sec: section{input: input}}
}

func (e *erfFile) walk(b []byte, at int, recs []Record) (int, []Record, error) {
	for len(b)-at >= erfHeaderLen {
		h := b[at : at+erfHeaderLen]
		rlen := int(binary.BigEndian.Uint16(h[10:]))
		if rlen < erfHeaderLen {
			return at, recs, errNotBelievable(e.n+1, int64(rlen))
		}
		if rlen > len(b)-at {
			break
		}
		if h[8]&^erfMore == erfTypePad {
			at += rlen
			continue
		}
		t, port := erfTime(h), h[9]&(erfInterfaces-1)
		if !e.known[port] {
			if err := e.claim(port, t); err != nil {
				return at, recs, err
			}
		}
		recs = append(recs, Record{
			Time: t, Off: uint32(at), Cap: uint32(rlen), Wire: uint32(rlen),
			Iface: e.iface[port], Link: LinkERF,
		})
		unwrapERF(b, &recs[len(recs)-1])
		e.n++
		e.sec.last = t
		at += rlen
	}
	return at, recs, nil
}

func (e *erfFile) claim(port byte, first int64) (err error) {
	d := Interface{ID: int(port), Link: LinkERF, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true}
	e.iface[port], err = e.tab.claim(&e.sec, d, first)
	e.known[port] = err == nil
	return err
}

func (e *erfFile) partial(rest []byte) bool { return len(rest) > 0 }

func (e *erfFile) cut(rest []byte) string {
	if len(rest) == 0 {
		return cutAfterPacket(e.n)
	}
	return cutInPacket(e.n)
}

func (e *erfFile) finish() error {
	e.sec.ended = true
	return nil
}

// looksERF judges by plausibility whether b, the start of a file (all of it
// if whole), is a chain of ERF records, since the format has no magic number.
func looksERF(b []byte, whole bool) bool {
	const enough = 8 // records in a row that chance does not make
	last := int64(0)
	for n := 0; n < enough; n++ {
		if len(b) < erfHeaderLen {
			return n > 0
		}
		typ, rlen, wlen := b[8]&^erfMore, int(binary.BigEndian.Uint16(b[10:])), int(binary.BigEndian.Uint16(b[14:]))
		if typ == 0 || typ > erfTypeMax && (typ != erfTypePad || n == 0) || rlen < erfHeaderLen {
			return false
		}
		if typ == erfTypeEthernet && b[9]&erfVarying != 0 && b[8]&erfMore == 0 && rlen > erfHeaderLen+2+wlen+7 {
			return false // more than the frame and its padding
		}
		if t := erfTime(b); typ != erfTypePad {
			if t < 0 || n > 0 && (t-last > int64(366*24*time.Hour) || last-t > int64(24*time.Hour)) {
				return false
			}
			last = t
		}
		if rlen > len(b) {
			return n > 0 && (n > 1 || whole)
		}
		b = b[rlen:]
	}
	return true
}
