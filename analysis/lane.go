package analysis

import (
	"rdmascope/analysis/pause"
	"rdmascope/decode/wire"
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
	totals     *totals // of the packets that the lane decoded itself
	rates      *rateCounter
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
	faces int // interfaces known so far

	// What the group decodes itself.
	decoder *wire.Decoder
	pkts    []wire.Packet
	batch   []arrival
	totals  totals
	rates   rateCounter
	warm    int64 // keeps the reads of ahead alive
}

// arrival is a packet whose turn is near.
type arrival struct {
	*wire.Packet
	*partition
	hash uint64
	at   uint32 // of its record in the block
	flow int32  // probably its flow, -1 for none
}

func newPartitions(index, lanes int, opt Options) *partitionGroup {
	g := &partitionGroup{index: index, first: -1, pause: pause.NewTimeline(opt.pause()), decoder: wire.NewDecoder(opt.Decode),
		pkts: make([]wire.Packet, 0, warmBatch), batch: make([]arrival, 0, warmBatch)}
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
		n := min(len(list), warmBatch)
		g.fetch(b, list[:n])
		list = list[n:]
		g.ahead()
		for i := range g.batch {
			a := &g.batch[i]
			for len(control) > 0 && b.at[control[0]] < a.at {
				g.pause.Frame(&b.pkts[control[0]])
				control = control[1:]
			}
			a.partition.packet(a.Packet, a.hash)
		}
	}
	for _, i := range control {
		g.pause.Frame(&b.pkts[i])
	}
}

// warmBatch is how many packets are looked ahead: their lines fit the first
// cache.
const warmBatch = 16

// fetch makes the packets of a part of the list the batch, decoding those that
// aren't yet.
func (g *partitionGroup) fetch(b *block, list []sorted) {
	g.batch, g.pkts = g.batch[:0], g.pkts[:0]
	g.touch(b, list)
	for i := range list {
		e := &list[i]
		part := g.parts[int(e.part)-g.first]
		if e.whole {
			g.batch = append(g.batch, arrival{&b.pkts[e.at], part, e.hash, b.at[e.at], -1})
			continue
		}
		first := len(g.pkts)
		g.pkts = b.decodeTo(g.pkts, g.decoder, int(e.at), &g.totals)
		for k := first; k < len(g.pkts); k++ {
			p, hash := &g.pkts[k], e.hash
			g.rates.add(p, b.start)
			if !tracked(p) {
				continue
			}
			if k > first { // to another queue pair, maybe
				hash = flowHashOf(pairHash(p.Src, p.Dst), p)
			}
			g.batch = append(g.batch, arrival{p, part, hash, e.at, -1})
		}
	}
}

// touch reads what decoding is going to read of frames that another core may
// have taken from the file: here no read waits for another one.
func (g *partitionGroup) touch(b *block, list []sorted) {
	x := g.warm
	for i := range list {
		if list[i].whole {
			continue
		}
		frame := b.frame(int(list[i].at))
		x += int64(frame[0]) + int64(frame[len(frame)-1])
		if len(frame) > cacheLine {
			x += int64(frame[cacheLine])
		}
	}
	g.warm = x
}

const cacheLine = 64

// ahead reads what the packets of the batch are going to touch, stage by stage:
// within a stage no read waits for another one, so the misses overlap, which in
// tracking packet by packet they don't. It changes nothing.
func (g *partitionGroup) ahead() {
	x := g.warm
	for i := range g.batch {
		a := &g.batch[i]
		a.flow = a.candidate(a.Packet, a.hash)
	}
	for i := range g.batch {
		if a := &g.batch[i]; a.flow >= 0 {
			x += a.partition.warm(a.Packet, a.flow)
		}
	}
	for i := range g.batch {
		if a := &g.batch[i]; a.flow >= 0 {
			x += a.warmMore(a.Packet, a.flow)
		}
	}
	g.warm = x
}

func (g *partitionGroup) result(final bool) laneResult {
	sum, rates := g.totals, g.rates
	r := laneResult{totals: &sum, rates: &rates}
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
