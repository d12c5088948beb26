package analysis

import (
	"rdmascope/analysis/pause"
)

// consumer takes the blocks of a capture one by one, in order.
type consumer interface {
	consume(b *block)
	// result returns figures that stay as they are while consuming goes on.
	result(final bool) laneResult
}

// lane is a consumer's place in the schedule. Its fields are the engine's.
type lane struct {
	consumer
	index int
	next  int64 // seq of the block that it consumes next
	busy  bool
}

// laneResult is one lane's part of a snapshot: that of the front, or those of
// some partitions.
type laneResult struct {
	front      *frontResult
	partitions []partitionResult
}

// newLanes makes the front lane and n lanes of partitions.
func newLanes(n int, opt Options) []*lane {
	lanes := []*lane{{consumer: newFront(opt)}}
	for i := range n {
		lanes = append(lanes, &lane{consumer: newPartitions(i, n, opt), index: i + 1})
	}
	return lanes
}

// partitionGroup consumes the packets of its partitions, and every pause
// frame at its place among them.
type partitionGroup struct {
	index int
	first int // number of its first partition
	parts []*partition
	pause *pause.Timeline
	clock span
}

func newPartitions(index, lanes int, opt Options) *partitionGroup {
	g := &partitionGroup{index: index, first: -1, pause: pause.NewTimeline(opt.pause())}
	for i := range partitions {
		if laneOf(uint8(i), lanes) == index {
			if g.first < 0 {
				g.first = i
			}
			g.parts = append(g.parts, newPartition(opt, g.pause))
		}
	}
	return g
}

func (g *partitionGroup) consume(b *block) {
	g.clock.join(b.clock)
	b.tellSpeeds(g.pause)
	control := b.control
	for _, i := range b.lanes[g.index] {
		for len(control) > 0 && control[0] < i {
			g.pause.Frame(&b.pkts[control[0]])
			control = control[1:]
		}
		g.parts[int(b.part[i])-g.first].packet(&b.pkts[i], b.hash[i])
	}
	for _, i := range control {
		g.pause.Frame(&b.pkts[i])
	}
}

func (g *partitionGroup) result(final bool) laneResult {
	var r laneResult
	for _, p := range g.parts {
		r.partitions = append(r.partitions, p.result(final, g.clock.last))
	}
	return r
}

// span is a stretch of the capture's time.
type span struct {
	first, last int64
	any         bool
}

func (s *span) add(t int64) {
	if !s.any {
		*s = span{t, t, true}
		return
	}
	s.first, s.last = min(s.first, t), max(s.last, t)
}

func (s *span) join(o span) {
	if o.any {
		s.add(o.first)
		s.add(o.last)
	}
}
