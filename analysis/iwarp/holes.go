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
