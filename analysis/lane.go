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
	faces int   // interfaces known so far
	warm  int64 // keeps the reads of ahead alive
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
	if n := len(b.speeds); n != g.faces {
		g.faces = n
		for _, p := range g.parts {
			p.taps.Expect(n)
		}
	}
	control := b.control
	for list := b.lanes[g.index]; len(list) > 0; {
		batch := list[:min(len(list), warmBatch)]
		list = list[len(batch):]
		g.ahead(b, batch)
		for _, i := range batch {
			for len(control) > 0 && control[0] < i {
				g.pause.Frame(&b.pkts[control[0]])
				control = control[1:]
			}
			g.parts[int(b.part[i])-g.first].packet(&b.pkts[i], b.hash[i])
		}
	}
	for _, i := range control {
		g.pause.Frame(&b.pkts[i])
	}
}

// warmBatch is how many packets are looked ahead: their lines fit the first
// cache.
const warmBatch = 16

// ahead reads what the packets of a batch are going to touch, stage by stage:
// within a stage no read waits for another one, so the misses overlap, which in
// tracking packet by packet they don't. It changes nothing.
func (g *partitionGroup) ahead(b *block, batch []uint32) {
	var ids [warmBatch]int32
	x := g.warm
	for k, i := range batch {
		ids[k] = g.parts[int(b.part[i])-g.first].candidate(&b.pkts[i], b.hash[i])
	}
	for k, i := range batch {
		if ids[k] >= 0 {
			x += g.parts[int(b.part[i])-g.first].warm(&b.pkts[i], ids[k])
		}
	}
	for k, i := range batch {
		if ids[k] >= 0 {
			x += g.parts[int(b.part[i])-g.first].warmMore(&b.pkts[i], ids[k])
		}
	}
	g.warm = x
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
