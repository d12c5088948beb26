package rc

import "rdmascope/decode/roce"

// copyTable remembers the last sighting at each PSN of a flow (requests and
// responses apart), so that a copy of a packet is known as one: the same
// packet captured twice, or doubled by the network. The table is indexed by
// PSN and holds the newest sightings only; a copy follows within few packets.
type copyTable struct {
	first [copySlots]sighting
	slots []sighting // once first is too small; nil: first is in use
}

type sighting struct {
	time  int64
	print uint32
	key   uint32 // PSN, bit 24: response, bit 25: in use; from bit 26 what hops rewrite
}

const (
	copySlots        = 16
	copySlotsClean   = 128  // limit for a connection that never was in trouble
	copySlotsTrouble = 1024 // … and for one that was
)

const keyBits = 26

func copyKey(psn roce.PSN, response bool) uint32 {
	if response {
		return uint32(psn) | 3<<24
	}
	return uint32(psn) | 2<<24
}

// hopBits are as many bits of the hop's fingerprint as there is room for.
func (e *event) hopBits() uint32 { return uint32(e.hop >> (16 - (32 - keyBits))) }

func (s *sighting) of(key uint32) bool { return (s.key^key)<<(32-keyBits) == 0 }

func (t *copyTable) slot(key uint32) *sighting {
	i := key<<1 | key>>24&1 // requests and responses side by side
	if t.slots == nil {
		return &t.first[i%copySlots]
	}
	return &t.slots[int(i)&(len(t.slots)-1)]
}

// repeat tells whether e shows the bytes of an earlier sighting within window,
// when that was and whether a hop has rewritten something since; else it notes e.
func (t *copyTable) repeat(e *event, window int64) (first int64, hop, yes bool) {
	key := copyKey(e.psn, e.has(evResponse))
	s := t.slot(key)
	if s.of(key) && s.print == e.print && e.time-s.time <= window && e.time >= s.time {
		return s.time, s.key>>keyBits != e.hopBits(), true
	}
	*s = sighting{e.time, e.print, key | e.hopBits()<<keyBits}
	return 0, false, false
}

// lookup returns the time of the newest sighting of a request.
func (t *copyTable) lookup(psn roce.PSN) (int64, bool) {
	key := copyKey(psn, false)
	s := t.slot(key)
	return s.time, s.of(key)
}

// grow makes room for a window of n packets: when a NAK comes, the sightings
// of the packets in flight are asked for.
func (t *copyTable) grow(n uint32, limit int) {
	size := copySlots
	for uint32(size) < 4*n && size < limit {
		size *= 2
	}
	old := t.slots
	if old == nil {
		old = t.first[:]
	}
	if size <= len(old) {
		return
	}
	t.slots = make([]sighting, size)
	for _, s := range old {
		if s.key != 0 {
			*t.slot(s.key) = s
		}
	}
}
