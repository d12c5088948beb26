package pcaps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

/*
pcapng, draft-ietf-opsawg-pcapng. Everything is a block:

	0  type   4  total length (this header and trailer included, multiple of 4)
	8  body … options …   total-4  total length again

A section header sets the byte order for what follows and starts the numbering
of interfaces anew.
*/
const (
	blockSection     = 0x0a0d0d0a
	blockInterface   = 1
	blockPacketOld   = 2 // obsolete Packet Block
	blockSimple      = 3
	blockStatistics  = 5
	blockEnhanced    = 6
	blockMinLen      = 12
	byteOrderMagic   = 0x1a2b3c4d
	sectionMinLen    = 28
	interfaceMinLen  = 20
	statisticsMinLen = 24
	packetMinLen     = 32 // Enhanced and the obsolete Packet Block
	packetDataOff    = 28
	simpleMinLen     = 16
	simpleDataOff    = 12
)

// ngInterface is an interface of the section being read.
type ngInterface struct {
	desc   Interface
	unit   tsUnit
	wrap   unwrapper
	global uint16
	known  bool // global is claimed
	fcs    uint32

	plainUnit uint64 // ns in a unit of time where scan may read its packets, else 0
}

// pcapngFile walks the blocks of a pcapng.
type pcapngFile struct {
	tab    *ifaceTable
	input  int
	sec    *section
	ifaces []ngInterface
	big    bool
	skip   skipping
	n      int64 // records delivered
}

// skipping is the rest of a block that is passed over as it arrives.
type skipping struct {
	left  uint32 // bytes before the trailer
	total uint32 // the length that the trailer must repeat; 0: not skipping
}

func newPcapng(input int, tab *ifaceTable) *pcapngFile {
	return &pcapngFile{tab: tab, input: input}
}

func (g *pcapngFile) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if g.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (g *pcapngFile) u32(b []byte) uint32 { return ngWord(b, g.big) }

func (g *pcapngFile) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if g.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

func (g *pcapngFile) walk(b []byte, at int, recs []Record) (int, []Record, error) {
	if g.skip.total != 0 {
		var err error
		if at, err = g.pass(b, at); err != nil || g.skip.total != 0 {
			return at, recs, err
		}
	}
	for {
		at, recs = g.scan(b, at, recs)
		if len(b)-at < blockMinLen {
			break
		}
		if binary.LittleEndian.Uint32(b[at:]) == blockSection {
			if err := g.order(b[at+8:]); err != nil {
				return at, recs, g.broken(err)
			}
		}
		typ, total := g.u32(b[at:]), g.u32(b[at+4:])
		if total < blockMinLen || total%4 != 0 {
			return at, recs, g.broken(fmt.Errorf("block says %s bytes: not believable", comma(int64(total))))
		}
		if !wanted(typ) {
			g.skip = skipping{left: total - 4, total: total}
			var err error
			if at, err = g.pass(b, at); err != nil || g.skip.total != 0 {
				return at, recs, err
			}
			continue
		}
		if total > maxBlock {
			return at, recs, g.broken(fmt.Errorf("block says %s bytes: not believable", comma(int64(total))))
		}
		if int(total) > len(b)-at {
			break
		}
		blk := b[at : at+int(total)]
		if again := g.u32(blk[total-4:]); again != total {
			return at, recs, g.broken(fmt.Errorf("block says %s bytes at its start, %s at its end", comma(int64(total)), comma(int64(again))))
		}
		var err error
		if typ == blockEnhanced {
			recs, err = g.enhanced(b, at, blk, recs)
		} else {
			recs, err = g.block(typ, b, at, blk, recs)
		}
		if err != nil {
			return at, recs, err
		}
		at += int(total)
	}
	return at, recs, nil
}

// wanted tells the blocks that are looked into from those passed over.
func wanted(typ uint32) bool {
	switch typ {
	case blockSection, blockInterface, blockPacketOld, blockSimple, blockStatistics, blockEnhanced:
		return true
	}
	return false
}

func isPacket(typ uint32) bool {
	return typ == blockEnhanced || typ == blockSimple || typ == blockPacketOld
}

// pass passes over as much of an unwanted block as is here. The trailer is
// compared, since a wrong length would make everything after it wrong.
func (g *pcapngFile) pass(b []byte, at int) (int, error) {
	n := min(uint64(g.skip.left), uint64(len(b)-at))
	g.skip.left -= uint32(n)
	at += int(n)
	if g.skip.left > 0 || len(b)-at < 4 {
		return at, nil
	}
	total := g.skip.total
	g.skip = skipping{}
	if again := g.u32(b[at:]); again != total {
		return at, g.broken(fmt.Errorf("block says %s bytes at its start, %s at its end", comma(int64(total)), comma(int64(again))))
	}
	return at + 4, nil
}

func (g *pcapngFile) block(typ uint32, b []byte, at int, blk []byte, recs []Record) ([]Record, error) {
	switch typ {
	case blockSection:
		return recs, g.section(blk)
	case blockInterface:
		return recs, g.addInterface(blk)
	case blockStatistics:
		return recs, g.statistics(blk)
	case blockSimple:
		return g.simple(b, at, blk, recs)
	default:
		return g.packetOld(b, at, blk, recs)
	}
}

var errNoByteOrder = errors.New("section header without a byte-order magic")

func (g *pcapngFile) order(magic []byte) error {
	switch binary.LittleEndian.Uint32(magic) {
	case byteOrderMagic:
		g.big = false
	case bits.ReverseBytes32(byteOrderMagic):
		g.big = true
	default:
		return errNoByteOrder
	}
	return nil
}

// broken says between which packets an error lies.
func (g *pcapngFile) broken(err error) error {
	return fmt.Errorf("%s: %w", cutAfterPacket(g.n), err)
}

func (g *pcapngFile) brokenPacket(format string, args ...any) error {
	return fmt.Errorf("packet %s: "+format, append([]any{comma(g.n + 1)}, args...)...)
}

func (g *pcapngFile) section(blk []byte) error {
	if len(blk) < sectionMinLen {
		return g.broken(fmt.Errorf("section header of %d bytes", len(blk)))
	}
	if major := g.u16(blk[12:]); major != 1 {
		return g.broken(fmt.Errorf("pcapng of version %d.%d, not read (1.x is)", major, g.u16(blk[14:])))
	}
	if err := g.finish(); err != nil {
		return err
	}
	g.ifaces = g.ifaces[:0]
	g.sec = &section{input: g.input}
	return nil
}

// claim numbers all interfaces seen so far in this section, in their order.
func (g *pcapngFile) claim(first int64) error {
	for i := range g.ifaces {
		f := &g.ifaces[i]
		if f.known {
			continue
		}
		var err error
		if f.global, err = g.tab.claim(g.sec, f.desc, first); err != nil {
			return g.broken(err)
		}
		f.known = true
		if f.fcs == 0 && f.wrap == nil && f.unit.offset == 0 {
			f.plainUnit = f.unit.mul
		}
		g.tab.stats(f.global, f.desc.Received, f.desc.Dropped)
	}
	return nil
}

func (g *pcapngFile) finish() error {
	if g.sec == nil {
		return nil
	}
	err := g.claim(g.sec.last)
	g.sec.ended = true
	return err
}

func (g *pcapngFile) partial(rest []byte) bool { return len(rest) > 0 || g.skip.total != 0 }

func (g *pcapngFile) cut(rest []byte) string {
	if len(rest) >= 4 && g.skip.total == 0 && isPacket(g.u32(rest)) {
		return cutInPacket(g.n)
	}
	return cutAfterPacket(g.n)
}
