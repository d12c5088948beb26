package iwarp

import "rdmascope/decode/iwarp"

// Lost tells what a hole was.
type Lost uint8

const (
	LostUpstream   Lost = iota // before the tap, and sent again
	LostDownstream             // after the tap, and sent again
	LostReorder                // came late
	LostCorrupt                // came before the tap with a wrong checksum
	LostUnseen                 // delivered, but not captured
	LostOpen                   // neither filled nor acknowledged until the end
)

func (l Lost) String() string {
	return [...]string{"upstream", "downstream", "reorder", "corrupt", "unseen", "undetermined"}[l]
}

// Hole is a gap of the octet stream and what waited behind it.
type Hole struct {
	FirstTime   int64
	FirstPacket int64 // that showed it; after the tap the first duplicate ACK, else the resent segment
	FillPacket  int64 // that filled it
	Octets      int64
	Lost        Lost
	Blocked     Count // ns; after the tap a lower bound
	Delayed     int64 // messages wholly behind it
	HasOpcode   bool
	Opcode      iwarp.Opcode // of the message it stood in
	STag        uint32

	offset, end uint64
}

// holeList keeps the holes that blocked longest.
type holeList struct {
	list    []Hole
	count   int64
	dropped int64
	filled  [maxFilled]filledHole
	n       int
}

// filledHole is a hole that is filled, while what stood behind it then is not
// yet read: another hole may lie before it.
type filledHole struct {
	Hole
	limit uint64 // what had been seen when it was filled
}

const maxFilled = 4

// fill takes a hole that a segment has filled; what waited behind it is read
// next.
func (l *holeList) fill(d *direction, h Hole) {
	if l.n == maxFilled {
		l.finish(d, 0)
	}
	l.filled[l.n] = filledHole{h, d.max}
	l.n++
}

// countDelayed counts a message that has ended for every filled hole that it
// waited behind.
func (l *holeList) countDelayed(m *message) {
	for i := range l.n {
		if f := &l.filled[i]; m.start >= f.end && m.end <= f.limit {
			f.Delayed++
		}
	}
}

// listFilled lists filled holes once all that waited behind them was read.
func (d *direction) listFilled() {
	for i := 0; i < d.holes.n; {
		if len(d.waiting.segs) > 0 && d.stream.Next() < d.holes.filled[i].limit {
			i++
			continue
		}
		d.holes.finish(d, i)
	}
}

// finish lists one filled hole.
func (l *holeList) finish(d *direction, i int) {
	d.tellMessage(&l.filled[i].Hole)
	l.add(d.c.t, l.filled[i].Hole)
	copy(l.filled[i:l.n], l.filled[i+1:l.n])
	l.n--
}

func (l *holeList) add(t *Tracker, h Hole) {
	l.count++
	if len(l.list) < t.opt.Holes {
		l.list = append(l.list, h)
		return
	}
	l.dropped++
	shortest := 0
	for i := range l.list {
		if l.list[i].Blocked.N < l.list[shortest].Blocked.N {
			shortest = i
		}
	}
	if h.Blocked.N > l.list[shortest].Blocked.N {
		l.list[shortest] = h
	}
}

// remove takes back a hole that proved to be none.
func (l *holeList) remove(offset uint64, where Lost) {
	for i := range l.list {
		if h := &l.list[i]; h.offset == offset && h.Lost == where {
			l.list = append(l.list[:i], l.list[i+1:]...)
			l.count--
			return
		}
	}
}
