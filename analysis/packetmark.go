package analysis

import (
	"sync"

	"rdmascope/analysis/rc"
)

// PacketMark is what an analysis finds out about one packet, and no octet of it
// tells; Options.Mark is told it.
type PacketMark = rc.Mark

// Marks of packets, bit by bit.
const (
	MarkRetransmission   = rc.MarkRetransmission
	MarkOutOfOrder       = rc.MarkOutOfOrder
	MarkDuplicateAck     = rc.MarkDuplicateAck
	MarkDuplicate        = rc.MarkDuplicate
	MarkRepeatedResponse = rc.MarkRepeatedResponse
	MarkEpisode          = rc.MarkEpisode
	PacketMarks          = rc.Marks // how many there are
)

// oneAtATime makes a Mark that may be called by several goroutines, which is
// how packets are tracked.
func oneAtATime(mark func(int64, PacketMark)) func(int64, PacketMark) {
	if mark == nil {
		return nil
	}
	var mu sync.Mutex
	return func(number int64, m PacketMark) {
		mu.Lock()
		defer mu.Unlock()
		mark(number, m)
	}
}
