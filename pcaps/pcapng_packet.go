package pcaps

import (
	"encoding/binary"
	"math"
	"math/bits"
)

/*
Enhanced Packet Block (§4.3), and the obsolete Packet Block (appendix A), which
has a 16-bit interface id and a 16-bit drop count in the place of the id:

	8  interface id   12  time, high word   16  low word
	20 captured length   24  original length   28  data, padded to 4   options
*/

const (
	optEnd       = 0
	optFlags     = 2 // epb_flags, pack_flags
	optDropCount = 4 // epb_dropcount

	noDropCount = 0xffff // of the obsolete block: not known

	flagsDirection  = 0x3
	flagsFCS        = 0x1e0 // bits 5–8: FCS length in bytes, 0 not told
	flagsLinkErrors = 0xffff0000
)

// scan is the loop over the blocks that nearly every file is made of:
// Enhanced Packet Blocks without options, of an interface already numbered.
// At anything else, and at anything wrong, it stops; walk then looks closer.
func (g *pcapngFile) scan(b []byte, at int, recs []Record) (int, []Record) {
	big, had := g.big, len(recs)
	for len(b)-at >= packetMinLen {
		h := b[at : at+packetMinLen]
		typ, total, id := ngWord(h, big), ngWord(h[4:], big), ngWord(h[8:], big)
		captured, wire := ngWord(h[20:], big), ngWord(h[24:], big)
		if typ != blockEnhanced || captured > maxFrame || total != (packetMinLen+captured+3)&^3 ||
			int(total) > len(b)-at || ngWord(b[at+int(total)-4:], big) != total || uint64(id) >= uint64(len(g.ifaces)) {
			break
		}
		f := &g.ifaces[id]
		hi, lo := bits.Mul64(uint64(ngWord(h[12:], big))<<32|uint64(ngWord(h[16:], big)), f.plainUnit)
		if f.plainUnit == 0 || hi != 0 || lo > math.MaxInt64 {
			break
		}
		recs = oneMore(recs)
		r := &recs[len(recs)-1]
		r.Time = int64(lo)
		r.Off, r.Cap, r.Wire = uint32(at)+packetDataOff, captured, max(wire, captured)
		r.Iface, r.Link, r.Flags, r.Lost, r.Dir = f.global, f.desc.Link, 0, 0, 0
		at += int(total)
	}
	if len(recs) > had {
		g.n += int64(len(recs) - had)
		g.sec.last = recs[len(recs)-1].Time
	}
	return at, recs
}

func ngWord(b []byte, big bool) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (g *pcapngFile) enhanced(b []byte, at int, blk []byte, recs []Record) ([]Record, error) {
	if len(blk) < packetMinLen {
		return recs, g.brokenPacket("block of %d bytes", len(blk))
	}
	return g.packet(b, at, blk, g.u32(blk[8:]), 0, recs)
}

func (g *pcapngFile) packetOld(b []byte, at int, blk []byte, recs []Record) ([]Record, error) {
	if len(blk) < packetMinLen {
		return recs, g.brokenPacket("block of %d bytes", len(blk))
	}
	lost := g.u16(blk[10:])
	if lost == noDropCount {
		lost = 0
	}
	return g.packet(b, at, blk, uint32(g.u16(blk[8:])), lost, recs)
}

func (g *pcapngFile) packet(b []byte, at int, blk []byte, id uint32, lost uint16, recs []Record) ([]Record, error) {
	captured, wire := g.u32(blk[20:]), g.u32(blk[24:])
	if captured > maxFrame || int(captured) > len(blk)-packetMinLen {
		return recs, errNotBelievable(g.n+1, int64(captured))
	}
	if uint64(id) >= uint64(len(g.ifaces)) {
		return recs, g.brokenPacket("names interface %d of %d", id, len(g.ifaces))
	}
	f := &g.ifaces[id]
	t := f.unit.ns(uint64(g.u32(blk[12:]))<<32 | uint64(g.u32(blk[16:])))
	if !f.known {
		if err := g.claim(t); err != nil {
			return recs, err
		}
	}
	recs = append(recs, Record{
		Time: t, Off: uint32(at) + packetDataOff, Cap: captured, Wire: max(wire, captured),
		Iface: f.global, Link: f.desc.Link, Lost: lost,
	})
	rec := &recs[len(recs)-1]
	fcs := f.fcs
	if opts := packetDataOff + pad4(int(captured)); opts < len(blk)-4 {
		fcs = g.packetOptions(blk[opts:len(blk)-4], rec, fcs)
	}
	if fcs != 0 {
		cutFCS(rec, fcs)
	}
	if f.wrap != nil {
		f.wrap(b, rec)
	}
	g.n++
	g.sec.last = t
	return recs, nil
}

func pad4(n int) int { return (n + 3) &^ 3 }

// packetOptions takes from a packet's options what a Record holds, and
// returns the FCS length, which overrides the interface's.
func (g *pcapngFile) packetOptions(o []byte, rec *Record, fcs uint32) uint32 {
	for {
		code, val, rest, ok := g.option(o)
		if !ok {
			return fcs
		}
		switch {
		case code == optFlags && len(val) == 4:
			flags := g.u32(val)
			if d := flags & flagsDirection; d <= DirOutbound {
				rec.Dir = uint8(d)
			}
			if n := flags & flagsFCS >> 5; n != 0 {
				fcs = n
			}
			if flags&flagsLinkErrors != 0 {
				rec.Flags |= FlagRxError
			}
		case code == optDropCount && len(val) == 8:
			rec.Lost = uint16(min(g.u64(val), math.MaxUint16))
		}
		o = rest
	}
}

// option takes one option off o. ok is false at the end, be it the end
// option, the end of the block, or one that says more than the block holds.
func (g *pcapngFile) option(o []byte) (code uint16, val, rest []byte, ok bool) {
	if len(o) < 4 {
		return 0, nil, nil, false
	}
	code, n := g.u16(o), int(g.u16(o[2:]))
	if code == optEnd || n > len(o)-4 {
		return 0, nil, nil, false
	}
	return code, o[4 : 4+n], o[min(4+pad4(n), len(o)):], true
}

// simple reads a Simple Packet Block (§4.4): original length and data only.
// It belongs to interface 0 and has no time; how much was captured follows
// from the snapshot length.
func (g *pcapngFile) simple(b []byte, at int, blk []byte, recs []Record) ([]Record, error) {
	if len(blk) < simpleMinLen {
		return recs, g.brokenPacket("block of %d bytes", len(blk))
	}
	if len(g.ifaces) == 0 {
		return recs, g.brokenPacket("no interface described before it")
	}
	f := &g.ifaces[0]
	wire := g.u32(blk[8:])
	captured := min(wire, uint32(len(blk)-simpleMinLen))
	if f.desc.SnapLen != 0 {
		captured = min(captured, f.desc.SnapLen)
	}
	if captured > maxFrame {
		return recs, errNotBelievable(g.n+1, int64(captured))
	}
	if !f.known {
		if err := g.claim(g.sec.last); err != nil {
			return recs, err
		}
	}
	recs = append(recs, Record{
		Off: uint32(at) + simpleDataOff, Cap: captured, Wire: wire,
		Iface: f.global, Link: f.desc.Link, Flags: FlagNoTime,
	})
	rec := &recs[len(recs)-1]
	if f.fcs != 0 {
		cutFCS(rec, f.fcs)
	}
	if f.wrap != nil {
		f.wrap(b, rec)
	}
	g.n++
	return recs, nil
}
