package marking

import (
	"cmp"
	"math"
	"slices"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Kind is a kind of packet, as far as marking goes.
type Kind uint8

// Kinds. Requests without payload (READ, atomics) stand apart from data: they
// are small, and some senders mark them as they mark ACKs.
const (
	KindData Kind = iota
	KindRequest
	KindAck // ACK, NAK, RNR NAK, atomic ACK
	KindReadResponse
	KindCNP
	kindCount
)

var kindNames = [...]string{"data", "request", "ack", "read_response", "cnp"}

// String returns the word used in reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// kindOf sorts a packet.
func kindOf(p *wire.Packet) Kind {
	switch p.RoCE.BTH.Opcode.Operation() {
	case roce.OperationCNP:
		return KindCNP
	case roce.OperationAcknowledge, roce.OperationAtomicAcknowledge:
		return KindAck
	case roce.OperationReadResponse:
		return KindReadResponse
	case roce.OperationReadRequest, roce.OperationCompareSwap, roce.OperationFetchAdd, roce.OperationFlush:
		return KindRequest
	}
	return KindData
}

// mark is what a packet is marked with, in one word: kind, traffic class, VLAN
// presence, PCP, VID.
type mark uint32

func markOf(p *wire.Packet, k Kind) mark {
	m := mark(k)<<24 | mark(p.TOS)<<16
	if p.Has(wire.FlagVLAN) {
		m |= 1<<15 | mark(p.PCP&7)<<12 | mark(p.VID&0xfff)
	}
	return m
}

// Marking is one combination of marks in a flow, and how often it came.
type Marking struct {
	Kind        Kind
	DSCP, ECN   uint8
	Tagged      bool
	PCP         uint8
	VID         uint16
	Packets     int64
	FirstPacket int64
}

// tally counts packets by mark. Nearly all flows have one to four of them; what
// only a new mark touches lies elsewhere, in oddMarks.
type tally struct {
	n, recent uint8
	marks     [inline]mark
	counts    [inline]uint32
}

const (
	inline  = 4
	maxMore = 60 // further combinations; beyond, packets are counted as other
)

// oddMarks is the part of a flow's tally that packets seldom touch.
type oddMarks struct {
	firsts [inline]int64 // packet that showed the mark first
	more   *moreMarks
}

type moreMarks struct {
	list  []moreMark
	other int64
}

type moreMark struct {
	mark         mark
	count, first int64
}

// clone shares nothing.
func (m *moreMarks) clone() *moreMarks {
	return &moreMarks{append([]moreMark(nil), m.list...), m.other}
}

// add counts a packet, unless its mark isn't among the first ones.
func (c *tally) add(m mark) bool {
	if c.n > 0 && c.marks[c.recent] == m && c.counts[c.recent] != math.MaxUint32 {
		c.counts[c.recent]++
		return true
	}
	for i := range c.n {
		if c.marks[i] == m && c.counts[i] != math.MaxUint32 {
			c.recent = i
			c.counts[i]++
			return true
		}
	}
	return false
}

// addNew counts a packet for which add found no place.
func (c *tally) addNew(m mark, number int64, odd *oddMarks) {
	if c.n < inline {
		c.marks[c.n], c.counts[c.n], odd.firsts[c.n] = m, 1, number
		c.recent = c.n
		c.n++
		return
	}
	if odd.more == nil {
		odd.more = &moreMarks{}
	}
	for i := range odd.more.list {
		if odd.more.list[i].mark == m {
			odd.more.list[i].count++
			return
		}
	}
	if len(odd.more.list) >= maxMore {
		odd.more.other++
		return
	}
	odd.more.list = append(odd.more.list, moreMark{m, 1, number})
}

// marking is what a mark says.
func (m mark) marking(count, first int64) Marking {
	return Marking{Kind: Kind(m >> 24), DSCP: uint8(m>>18) & 63, ECN: uint8(m>>16) & 3, Tagged: m>>15&1 != 0,
		PCP: uint8(m>>12) & 7, VID: uint16(m) & 0xfff, Packets: count, FirstPacket: first}
}

// each calls f for every combination. One may come again: where a count ran
// over, the rest is on its own.
func (c *tally) each(odd *oddMarks, f func(m mark, count, first int64)) {
	for i := range c.n {
		f(c.marks[i], int64(c.counts[i]), odd.firsts[i])
	}
	if odd.more != nil {
		for i := range odd.more.list {
			m := &odd.more.list[i]
			f(m.mark, m.count, m.first)
		}
	}
}

// list returns the combinations, most packets first, and how many packets had
// others.
func (c *tally) list(odd *oddMarks) (l []Marking, other int64) {
	if c.n > 0 {
		l = make([]Marking, 0, c.n)
	}
	c.each(odd, func(m mark, count, first int64) {
		for i := range l {
			if l[i].mark() == m {
				l[i].Packets += count
				l[i].FirstPacket = min(l[i].FirstPacket, first)
				return
			}
		}
		l = append(l, m.marking(count, first))
	})
	if odd.more != nil {
		other = odd.more.other
	}
	slices.SortFunc(l, func(a, b Marking) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.mark(), b.mark()))
	})
	return l, other
}

func (m *Marking) mark() mark {
	v := mark(m.Kind)<<24 | mark(m.DSCP)<<18 | mark(m.ECN)<<16
	if m.Tagged {
		v |= 1<<15 | mark(m.PCP)<<12 | mark(m.VID)
	}
	return v
}
