package pcaps

import (
	"fmt"
	"math"
)

// Options of the Interface Description Block (§4.2) and of the Interface
// Statistics Block (§4.6).
const (
	optIfName        = 2
	optIfDescription = 3
	optIfSpeed       = 8
	optIfTSResol     = 9
	optIfFCSLen      = 13
	optIfTSOffset    = 14

	optIsbIfRecv = 4
	optIsbIfDrop = 5
	optIsbOSDrop = 7

	defaultTSResol = 6 // microseconds
)

func (g *pcapngFile) addInterface(blk []byte) error {
	if len(blk) < interfaceMinLen || g.sec == nil {
		return g.broken(fmt.Errorf("interface description of %d bytes", len(blk)))
	}
	if len(g.ifaces) == maxInterfaces {
		return g.broken(fmt.Errorf("more than %s interfaces", comma(maxInterfaces)))
	}
	f := ngInterface{desc: Interface{
		ID: len(g.ifaces), Link: g.u16(blk[8:]), SnapLen: g.u32(blk[12:]),
		Received: -1, Dropped: -1, FCSBytes: -1,
	}}
	resol, offset := byte(defaultTSResol), int64(0)
	for o := blk[16 : len(blk)-4]; ; {
		code, val, rest, ok := g.option(o)
		if !ok {
			break
		}
		switch {
		case code == optIfName:
			f.desc.Name = text(val)
		case code == optIfDescription:
			f.desc.Description = text(val)
		case code == optIfSpeed && len(val) == 8:
			f.desc.SpeedBps = g.u64(val)
		case code == optIfTSResol && len(val) == 1:
			resol = val[0]
		case code == optIfTSOffset && len(val) == 8:
			offset = int64(g.u64(val))
		case code == optIfFCSLen && len(val) == 1:
			f.desc.FCSBytes = fcsBytes(val[0])
		}
		o = rest
	}
	f.unit = newTSUnit(resol, offset)
	f.desc.Nanos = f.unit.finer()
	f.fcs = uint32(max(f.desc.FCSBytes, 0))
	f.wrap = unwrapperOf(f.desc.Link)
	g.ifaces = append(g.ifaces, f)
	return nil
}

// fcsBytes reads if_fcslen: bytes in the present draft, bits in the drafts
// before 2021. No FCS has 16 bytes, or fewer than 8 bits.
func fcsBytes(v byte) int {
	switch {
	case v <= 8:
		return int(v)
	case v%8 == 0 && v <= 64:
		return int(v) / 8
	}
	return -1
}

// text is an option's string: UTF-8, maybe zero-terminated by older writers.
func text(val []byte) string {
	for i, c := range val {
		if c == 0 {
			val = val[:i]
			break
		}
	}
	return string(val[:min(len(val), maxName)])
}

func (g *pcapngFile) statistics(blk []byte) error {
	if len(blk) < statisticsMinLen {
		return g.broken(fmt.Errorf("interface statistics of %d bytes", len(blk)))
	}
	id := g.u32(blk[8:])
	if uint64(id) >= uint64(len(g.ifaces)) {
		return g.broken(fmt.Errorf("statistics of interface %d of %d", id, len(g.ifaces)))
	}
	received, ifDrop, osDrop := int64(-1), int64(-1), int64(-1)
	for o := blk[20 : len(blk)-4]; ; {
		code, val, rest, ok := g.option(o)
		if !ok {
			break
		}
		if len(val) == 8 {
			v := int64(min(g.u64(val), math.MaxInt64))
			switch code {
			case optIsbIfRecv:
				received = v
			case optIsbIfDrop:
				ifDrop = v
			case optIsbOSDrop:
				osDrop = v
			}
		}
		o = rest
	}
	dropped := ifDrop
	if osDrop >= 0 {
		dropped = int64(min(uint64(max(ifDrop, 0))+uint64(osDrop), math.MaxInt64))
	}
	f := &g.ifaces[id]
	if !f.known { // entered with the numbers when its first packet comes
		if received >= 0 {
			f.desc.Received = received
		}
		if dropped >= 0 {
			f.desc.Dropped = dropped
		}
		return nil
	}
	g.tab.stats(f.global, received, dropped)
	return nil
}
