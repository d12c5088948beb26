package analysis

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// flow holds the plain counts of one flow: what needs no memory of earlier
// packets. What every packet touches fills the first two cache lines, with many
// connections a packet costs what its cache lines cost; the size is a multiple
// of a line for the same reason.
type flow struct {
	last                 int64 // time, ns
	packets, wire        int64
	payload              int64
	icrcChecked          int64
	firstRequest         int64  // number of the first request on it, 0 for none
	mark                 int32  // number of the flow and incarnation in the tracker of marks
	id, incarnation      int32  // id is -1 in a free place
	srcPort              uint16 // the newest one
	_                    uint16
	opcodes              opcodeCounts
	cut                  int64
	more                 *[256]int64 // opcodes that found no room in opcodes
	ports                smallSet
	vlans                smallSet
	first                int64 // time, ns
	firstNumber          int64
	icrcBad, checksumBad int64
	ethSrc               wire.MAC
	hasEth               bool
	generation           int32    // how often it was let go and came back, as far as a row in aged remembers
	_                    [2]int64 // to whole lines
}

func (f *flow) packet(p *wire.Packet) {
	if f.packets == 0 {
		f.first, f.firstNumber = p.Time, p.Number
		if p.Has(wire.FlagEth) {
			f.ethSrc, f.hasEth = p.EthSrc, true
		}
	}
	f.last = max(f.last, p.Time)
	f.packets++
	f.wire += int64(p.Wire)
	f.payload += int64(p.RoCE.PayloadLen)
	// Short packets are whole and long ones cut, in any order: no branch guesses
	// that right, so there is none.
	f.icrcChecked += one(p.ICRC != roce.ICRCUncheckable)
	f.cut += one(p.Flags&(wire.FlagCut|wire.FlagHiddenCut) != 0)
	if p.ICRC == roce.ICRCBad {
		f.icrcBad++
	}
	if p.Has(wire.FlagIPChecksumBad) {
		f.checksumBad++
	}
	if (p.SrcPort != f.srcPort || f.packets == 1) && p.Has(wire.FlagPorts) {
		f.srcPort = p.SrcPort
		f.ports.add(uint32(p.SrcPort))
	}
	if p.Has(wire.FlagVLAN) {
		f.vlans.add(uint32(p.VID))
	}
	op := p.RoCE.BTH.Opcode
	if !f.opcodes.add(uint8(op)) {
		if f.more == nil {
			f.more = new([256]int64)
		}
		f.more[op]++
	}
	if f.firstRequest == 0 && op.Flags().Has(roce.FlagRequest) {
		f.firstRequest = p.Number
	}
}

// one is 1 for true, without a branch.
func one(yes bool) (n int64) {
	if yes {
		n = 1
	}
	return n
}

// smallSet keeps the first few distinct values of something that nearly
// always has one, and whether there were more.
type smallSet struct {
	n      uint8
	more   bool
	values [6]uint32
}

func (s *smallSet) add(v uint32) {
	if s.n == 0 || s.values[0] != v {
		s.other(v)
	}
}

// other adds a value that isn't the first one.
func (s *smallSet) other(v uint32) {
	for i := range s.n {
		if s.values[i] == v {
			return
		}
	}
	if int(s.n) == len(s.values) {
		s.more = true
		return
	}
	s.values[s.n] = v
	s.n++
}

func (s *smallSet) list() []uint32 { return s.values[:s.n] }

// opcodeCounts counts packets by opcode: a flow uses a handful of them, so
// there is room for the first ten, searched from the most recent.
type opcodeCounts struct {
	n      uint8
	recent uint8
	ops    [10]uint8
	counts [10]uint32
}

// add counts a packet; false when there is no room for its opcode, or its count
// is full.
func (c *opcodeCounts) add(op uint8) bool {
	if c.n > 0 && c.ops[c.recent] == op && c.counts[c.recent] != 1<<32-1 {
		c.counts[c.recent]++
		return true
	}
	for i := range c.n {
		if c.ops[i] == op && c.counts[i] != 1<<32-1 {
			c.recent = i
			c.counts[i]++
			return true
		}
	}
	if int(c.n) < len(c.ops) {
		c.ops[c.n], c.counts[c.n], c.recent = op, 1, c.n
		c.n++
		return true
	}
	return false
}

// detach makes a copied flow independent of what it was copied from.
func (f *flow) detach() {
	if f.more != nil {
		more := *f.more
		f.more = &more
	}
}

// eachOpcode calls do for every opcode seen, once.
func (f *flow) eachOpcode(do func(op uint8, packets int64)) {
	c := &f.opcodes
	var all [256]int64
	for i := range c.n {
		all[c.ops[i]] += int64(c.counts[i])
	}
	if f.more != nil {
		addAll(all[:], f.more[:])
	}
	for op, n := range all {
		if n > 0 {
			do(uint8(op), n)
		}
	}
}
