package marking

import (
	"math"
	"sort"

	"rdmascope/decode"
	"rdmascope/decode/roce"
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
func kindOf(p *decode.Packet) Kind {
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

func markOf(p *decode.Packet, k Kind) mark {
	m := mark(k)<<24 | mark(p.TOS)<<16
	if p.Has(decode.FlagVLAN) {
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

// tally counts packets by mark. Nearly all flows have one to four of them, the
// first ones lie inline.
type tally struct {
	n, recent uint8
	marks     [inline]mark
	counts    [inline]uint32
	more      *moreMarks
	firsts    [inline]int64 // only a new mark touches them
}

const (
	inline  = 4
	maxMore = 60 // further combinations; beyond, packets are counted as other
)

type moreMarks struct {
	list  []moreMark
	other int64
}

type moreMark struct {
	mark         mark
	count, first int64
}

func (c *tally) add(m mark, number int64) {
	if c.n > 0 && c.marks[c.recent] == m && c.counts[c.recent] != math.MaxUint32 {
		c.counts[c.recent]++
		return
	}
	for i := range c.n {
		if c.marks[i] == m && c.counts[i] != math.MaxUint32 {
			c.recent = i
			c.counts[i]++
			return
		}
	}
	if c.n < inline {
		c.marks[c.n], c.counts[c.n], c.firsts[c.n] = m, 1, number
		c.recent = c.n
		c.n++
		return
	}
	if c.more == nil {
		c.more = &moreMarks{}
	}
	for i := range c.more.list {
		if c.more.list[i].mark == m {
			c.more.list[i].count++
			return
		}
	}
	if len(c.more.list) >= maxMore {
		c.more.other++
		return
	}
	c.more.list = append(c.more.list, moreMark{m, 1, number})
}

// list returns the combinations, most packets first, and how many packets had
// others.
func (c *tally) list() (l []Marking, other int64) {
	add := func(m mark, count, first int64) {
		for i := range l {
			if l[i].mark() == m {
				l[i].Packets += count
				l[i].FirstPacket = min(l[i].FirstPacket, first)
				return
			}
		}
		l = append(l, Marking{Kind: Kind(m >> 24), DSCP: uint8(m>>18) & 63, ECN: uint8(m>>16) & 3, Tagged: m>>15&1 != 0,
			PCP: uint8(m>>12) & 7, VID: uint16(m) & 0xfff, Packets: count, FirstPacket: first})
	}
	for i := range c.n {
		add(c.marks[i], int64(c.counts[i]), c.firsts[i])
	}
	if c.more != nil {
		for _, m := range c.more.list {
			add(m.mark, m.count, m.first)
		}
		other = c.more.other
	}
	sort.SliceStable(l, func(i, j int) bool {
		if l[i].Packets != l[j].Packets {
			return l[i].Packets > l[j].Packets
		}
		return l[i].mark() < l[j].mark()
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
