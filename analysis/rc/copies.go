package rc

import "rdmascope/decode/roce"

// The newest sightings of a flow, requests and responses apart, tell a copy of
// a packet: the same packet captured twice, or doubled by the network. They are
// found by PSN and only the newest is kept at each place; a copy follows within
// few packets.
type sighting struct {
	timeData uint64 // time, and 8 bits of the payload's fingerprint
	print    uint32
	key      uint32 // PSN, bit 24: response, bit 25: in use; from bit 26 what hops rewrite
}

// time returns when it was: the one that ends in the 56 bits at hand and is the
// nearest to now.
func (s *sighting) time(now int64) int64 {
	return now - int64((uint64(now)<<8-s.timeData&^0xff))>>8
}

const (
	nearSightings           = 4    // of them every flow keeps
	sightingsClean          = 128  // limit for a connection that never was in trouble
	sightingsTrouble        = 1024 // … and for one that was
	keyBits                 = 26
	keyInUse                = 1 << 25
	keyResponse             = 1 << 24
	responseMix      uint32 = 0x9e3779b1
)

func copyKey(psn roce.PSN, response bool) uint32 {
	if response {
		return uint32(psn) | keyInUse | keyResponse
	}
	return uint32(psn) | keyInUse
}

// hopMask are as many bits of the hop's fingerprint as there is room for.
const hopMask = 1<<(32-keyBits) - 1

func (s *sighting) of(key uint32) bool { return (s.key^key)<<(32-keyBits) == 0 }

// slot returns the place of key. Requests of a window lie side by side. Of
// responses only every third or tenth PSN may be used, one for each message:
// those are scattered, so that they don't all fall on one place. In a flow that
// carries both each has its half.
func (f *flow) slot(key uint32) *sighting {
	at := key
	if key&keyResponse != 0 {
		at = key * responseMix >> 12
	}
	if !f.is(flowGrown) {
		return &f.near[at%nearSightings]
	}
	mask := uint32(len(f.table) - 1)
	if f.is(flowBoth) {
		mask >>= 1
		if key&keyResponse != 0 {
			return &f.table[mask+1+at&mask]
		}
	}
	return &f.table[at&mask]
}

// repeat tells whether e shows the bytes of an earlier sighting within window,
// when that was and whether a hop has rewritten something since; else it notes e,
// and in e what was sighted before.
func (f *flow) repeat(e *event, window int64) (first int64, hop, yes bool) {
	key := copyKey(e.psn, e.has(evResponse))
	s := f.slot(key)
	e.was = 0
	if s.of(key) {
		at := s.time(e.time)
		if s.print == e.print && e.time-at <= window && e.time >= at {
			return at, s.key>>keyBits != uint32(e.hop), true
		}
		e.was, e.wasAt = uint8(s.timeData), at
	}
	*s = sighting{uint64(e.time)<<8 | uint64(e.data>>8), e.print, key | uint32(e.hop)<<keyBits}
	return 0, false, false
}

// sighted returns the time of the newest sighting of a request.
func (f *flow) sighted(psn roce.PSN, now int64) (int64, bool) {
	key := copyKey(psn, false)
	s := f.slot(key)
	return s.time(now), s.of(key)
}

// remember makes room for the sightings of a window of n packets: when a NAK
// comes, those of the packets in flight are asked for.
func (f *flow) remember(n uint32, limit int) {
	size := 2 * nearSightings
	for uint32(size) < 2*n && size < limit/2 {
		size *= 2
	}
	if f.is(flowBoth) {
		size *= 2
	}
	if f.is(flowGrown) && size <= len(f.table) || !f.is(flowGrown|flowBoth) && n <= nearSightings {
		return
	}
	old := f.table
	if !f.is(flowGrown) {
		old = f.near[:]
	}
	f.table = make([]sighting, size)
	f.flags |= flowGrown
	for _, s := range old {
		if s.key != 0 {
			*f.slot(s.key & (1<<keyBits - 1)) = s
		}
	}
}

// both makes room once a flow carries requests and responses.
func (f *flow) both() {
	n := max(len(f.table)/2, nearSightings)
	f.flags |= flowBoth
	f.remember(uint32(n), sightingsTrouble)
}
