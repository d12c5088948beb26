package analysis

import (
	"unsafe"

	"rdmascope/analysis/pause"
	"rdmascope/analysis/prefetch"
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
	near    [lookahead]batch
	totals  totals
	rates   rateCounter
	lines   prefetch.List
}

// batch are packets whose turn is near, and where those are decoded that weren't
// yet.
type batch struct {
	arrivals []arrival
	pkts     []wire.Packet
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
	g := &partitionGroup{index: index, first: -1, pause: pause.NewTimeline(opt.pause()), decoder: wire.NewDecoder(opt.Decode)}
	for i := range g.near {
		g.near[i] = batch{make([]arrival, 0, batchSize), make([]wire.Packet, 0, batchSize)}
	}
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
	// Hardly anything that a packet touches is near, so each batch is prepared in
	// steps, and each step asks for the cache lines of the next: its records, its
	// frames and places in the tables, the flows, what flows lead to. In between
	// other batches are tracked, which gives the lines time to arrive. None of it
	// changes anything.
	control := b.control
	list := b.lanes[g.index]
	steps := (len(list) + batchSize - 1) / batchSize
	part := func(k int) []sorted { return list[k*batchSize : min(len(list), (k+1)*batchSize)] }
	for k := range steps + lookahead {
		if k < steps {
			g.frames(b, part(k))
		}
		if k+1 < steps {
			g.records(b, part(k+1))
		}
		if k := k - 1; k >= 0 && k < steps {
			g.fetch(b, part(k), &g.near[k%lookahead])
		}
		if k := k - 2; k >= 0 && k < steps {
			g.far(&g.near[k%lookahead])
		}
		g.lines.Fetch()
		if k := k - lookahead; k >= 0 {
			control = g.track(b, &g.near[k%lookahead], control)
		}
	}
	for _, i := range control {
		g.pause.Frame(&b.pkts[i])
	}
}

// track takes a batch, and the pause frames before each of its packets. It
// returns those that are left.
func (g *partitionGroup) track(b *block, near *batch, control []uint32) []uint32 {
	for i := range near.arrivals {
		a := &near.arrivals[i]
		for len(control) > 0 && b.at[control[0]] < a.at {
			g.pause.Frame(&b.pkts[control[0]])
			control = control[1:]
		}
		a.partition.packet(a.Packet, a.hash)
	}
	return control
}

// A batch is small enough for its packets and the lines that they touch to stay
// in the first cache, with the lookahead.
const (
	batchSize = 8
	lookahead = 3
)

// fetch makes the packets of a part of the list a batch, decoding those that
// aren't yet.
func (g *partitionGroup) fetch(b *block, list []sorted, near *batch) {
	near.arrivals, near.pkts = near.arrivals[:0], near.pkts[:0]
	for i := range list {
		e := &list[i]
		part := g.parts[int(e.part)-g.first]
		if e.whole {
			near.add(&b.pkts[e.at], part, e.hash, b.at[e.at])
			continue
		}
		first := len(near.pkts)
		near.pkts = b.decodeTo(near.pkts, g.decoder, int(e.at), &g.totals)
		for k := first; k < len(near.pkts); k++ {
			p, hash := &near.pkts[k], e.hash
			g.rates.add(p, b.start)
			if !tracked(p) {
				continue
			}
			if k > first { // to another queue pair, maybe
				hash = flowHashOf(pairHash(p.Src, p.Dst), p)
			}
			near.add(p, part, hash, e.at)
		}
	}
	for i := range near.arrivals {
		a := &near.arrivals[i]
		if a.flow = a.candidate(a.Packet, a.hash); a.flow >= 0 {
			a.partition.ahead(&g.lines, a.flow)
		}
	}
}

func (n *batch) add(p *wire.Packet, part *partition, hash uint64, at uint32) {
	n.arrivals = append(n.arrivals, arrival{p, part, hash, at, -1})
}

// records asks for the records of a part of the list, and the list itself for
// what comes after that: another core may have written them.
func (g *partitionGroup) records(b *block, list []sorted) {
	for i := range list {
		if e := &list[i]; !e.whole {
			g.lines.Add(unsafe.Pointer(&b.recs[e.at]))
		}
	}
	for i := 0; i < batchSize && i < cap(list); i += cacheLine / int(unsafe.Sizeof(sorted{})) {
		g.lines.Add(unsafe.Pointer(&list[:cap(list)][min(cap(list)-1, i+4*batchSize)]))
	}
}

// frames asks for what decoding is going to read of frames that another core
// may have taken from the file, and for where their flows are looked up.
func (g *partitionGroup) frames(b *block, list []sorted) {
	for i := range list {
		e := &list[i]
		g.parts[int(e.part)-g.first].table.ahead(&g.lines, e.hash)
		if e.whole {
			continue
		}
		frame := b.frame(int(e.at))
		g.lines.Add(unsafe.Pointer(&frame[0]))
		g.lines.Add(unsafe.Pointer(&frame[len(frame)-1]))
		if len(frame) > cacheLine {
			g.lines.Add(unsafe.Pointer(&frame[cacheLine]))
		}
	}
}

// far asks for what can only be found when what ahead asked for is there.
func (g *partitionGroup) far(near *batch) {
	for i := range near.arrivals {
		if a := &near.arrivals[i]; a.flow >= 0 {
			a.partition.aheadMore(&g.lines, a.Packet, a.flow)
		}
	}
}

const cacheLine = 64

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
