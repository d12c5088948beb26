package iwarp

import (
	"math"
	"math/bits"

	"rdmascope/decode/wire"
)

// Key names one TCP connection on one interface; A is the lower of its ends.
type Key struct {
	A, B         wire.Addr
	APort, BPort uint16
	Iface        uint16
}

// keyOf returns the connection of a packet and the side that sent it.
func keyOf(p *wire.Packet) (k Key, from uint8) {
	k = Key{p.Src, p.Dst, p.SrcPort, p.DstPort, p.Iface}
	if above(p.Src, p.SrcPort, p.Dst, p.DstPort) {
		k.A, k.B, k.APort, k.BPort = k.B, k.A, k.BPort, k.APort
		from = 1
	}
	return k, from
}

func above(a wire.Addr, ap uint16, b wire.Addr, bp uint16) bool {
	if a.Hi != b.Hi {
		return a.Hi > b.Hi
	}
	if a.Lo != b.Lo {
		return a.Lo > b.Lo
	}
	return ap > bp
}

func (k *Key) hash() uint32 {
	h := mix(k.A.Lo^k.A.Hi, k.B.Lo+k.B.Hi)
	h = mix(h, uint64(k.APort)<<32|uint64(k.BPort)<<16|uint64(k.Iface))
	return uint32(h >> 32)
}

// mix is one multiply-and-fold step.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// stage is where a connection stands (see the package's doc).
type stage uint8

const (
	unused stage = iota
	pending
	candidate
	plain
	proved
)

// coarse is a time in units of 2^30 ns, about a second, that fits in an entry
// until 2043; what a capture claims to be later is at the end of it.
type coarse int32

func coarsely(t int64) coarse { return coarse(min(max(t>>30, math.MinInt32), math.MaxInt32)) }

// entry is one connection of the table. It holds no pointer: at is the place of
// its state, by stage.
type entry struct {
	key         Key
	hash        uint32
	at          int32
	incarnation uint32
	seen        coarse
	stage       stage
	recent      bool // used since the hand passed
	closed      bool // its RST or FIN was seen: the first to go
}

// table finds entries by key: open addressing, linear probing, deletion by
// shifting back. Entries stay where they are; slots hold their numbers + 1.
type table struct {
	slots   []uint32
	entries []entry
	free    []uint32
	hand    uint32
	limit   int
}

const tableMinimum = 64

// find returns the entry of k, or nil.
func (t *table) find(k *Key, hash uint32) *entry {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if e := &t.entries[t.slots[i]-1]; e.hash == hash && e.key == *k {
			return e
		}
	}
	return nil
}

// full tells that an entry has to go before one is added.
func (t *table) full() bool { return len(t.entries)-len(t.free) >= t.limit }

// add returns a new entry for k, which find did not find.
func (t *table) add(k *Key, hash uint32) *entry {
	used := len(t.entries) - len(t.free)
	if 2*(used+1) > len(t.slots) {
		t.grow()
	}
	var n uint32
	if last := len(t.free) - 1; last >= 0 {
		n, t.free = t.free[last], t.free[:last]
	} else {
		n = uint32(len(t.entries))
		t.entries = append(t.entries, entry{})
	}
	t.entries[n] = entry{key: *k, hash: hash, stage: plain, recent: true}
	t.place(n)
	return &t.entries[n]
}

func (t *table) place(n uint32) {
	mask := uint32(len(t.slots) - 1)
	i := t.entries[n].hash & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = n + 1
}

func (t *table) grow() {
	t.slots = make([]uint32, max(tableMinimum, 2*len(t.slots)))
	for n := range t.entries {
		if t.entries[n].stage != unused {
			t.place(uint32(n))
		}
	}
}

// remove takes an entry out.
func (t *table) remove(e *entry) {
	mask := uint32(len(t.slots) - 1)
	i := e.hash & mask
	for &t.entries[t.slots[i]-1] != e {
		i = (i + 1) & mask
	}
	t.free = append(t.free, t.slots[i]-1)
	e.stage = unused
	// Close the gap: whatever may move towards its own place does.
	for j := (i + 1) & mask; t.slots[j] != 0; j = (j + 1) & mask {
		home := t.entries[t.slots[j]-1].hash & mask
		if (j-home)&mask >= (j-i)&mask {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = 0
}

// victim is the entry to evict: the next one that is neither proved nor a
// candidate (these have caps of their own), nor used since the hand passed.
func (t *table) victim() *entry {
	for range 2*len(t.entries) + 1 {
		e := &t.entries[t.hand]
		if t.hand++; int(t.hand) == len(t.entries) {
			t.hand = 0
		}
		if e.stage != pending && e.stage != plain {
			continue
		}
		if e.recent && !e.closed {
			e.recent = false
			continue
		}
		return e
	}
	return nil
}
