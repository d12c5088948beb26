package iwarp

import (
	"slices"

	"rdmascope/decode/iwarp"
)

// chunkLen is the piece in which payload is kept: a segment of an Ethernet MTU
// takes one.
const chunkLen = 2048

// longestKept is the most of one segment that is kept; merged ones (BIG TCP)
// may be longer, and what is beyond counts as a hole.
const longestKept = 128 << 10

// chunkPool is the shard's memory for payload that waits.
type chunkPool struct {
	chunks []*[chunkLen]byte
	next   []int32
	free   int32 // first free + 1
	used   int
	limit  int
}

// take returns a chunk, or -1 at the cap.
func (p *chunkPool) take() int32 {
	if p.free != 0 {
		i := p.free - 1
		p.free = p.next[i]
		p.used++
		return i
	}
	if len(p.chunks) >= p.limit {
		return -1
	}
	p.chunks = append(p.chunks, new([chunkLen]byte))
	p.next = append(p.next, 0)
	p.used++
	return int32(len(p.chunks) - 1)
}

// give frees a chain.
func (p *chunkPool) give(first int32) {
	for i := first; i >= 0; {
		next := p.next[i] - 1
		p.next[i] = p.free
		p.free = i + 1
		p.used--
		i = next
	}
}

// store keeps b in a chain. ok is false at the cap.
func (p *chunkPool) store(b []byte) (first int32, ok bool) {
	first = -1
	prev := int32(-1)
	for len(b) > 0 {
		i := p.take()
		if i < 0 {
			p.give(first)
			return -1, false
		}
		b = b[copy(p.chunks[i][:], b):]
		p.next[i] = 0
		if prev < 0 {
			first = i
		} else {
			p.next[prev] = i + 1
		}
		prev = i
	}
	return first, true
}

// load appends n octets of a chain to b.
func (p *chunkPool) load(b []byte, first int32, n int) []byte {
	for i := first; i >= 0 && n > 0; i = p.next[i] - 1 {
		k := min(n, chunkLen)
		b = append(b, p.chunks[i][:k]...)
		n -= k
	}
	return b
}

// waiting holds the segments of one direction that wait behind a hole, by
// offset.
type waiting struct {
	segs   []waitingSegment
	octets int
}

type waitingSegment struct {
	offset     uint64
	at, number int64
	wire, kept uint32
	first      int32 // chunk
}

// maxWaiting segments wait at most; where nothing of the other direction is
// seen, so that no acknowledgement will ever pass a hole, only a few.
const (
	maxWaiting    = 4096
	oneWayWaiting = 128
)

// most is a cap, by whether the other direction was seen.
func (d *direction) most(twoWay, oneWay int) int {
	if d.peer().volume.packets == 0 {
		return oneWay
	}
	return twoWay
}

func (w *waiting) clear(p *chunkPool) {
	for i := range w.segs {
		p.give(w.segs[i].first)
	}
	w.segs, w.octets = w.segs[:0], 0
}

// deliver hands a segment to the framing, or keeps it until the hole before it
// is filled.
func (d *direction) deliver(s *segment, b []byte, from uint64) {
	if from > d.stream.Next() && d.haveAck && d.una >= from {
		d.giveUp(from, s)
	}
	if from > d.stream.Next() {
		d.wait(s, b, from)
		return
	}
	d.feed(from, b, s.length, s.time, s.number)
	d.drain()
}

// wait keeps a segment. At a cap the holes before what waits are given up.
func (d *direction) wait(s *segment, b []byte, from uint64) {
	w, t := &d.waiting, d.c.t
	b = b[:min(len(b), longestKept)]
	for len(w.segs) >= d.most(maxWaiting, oneWayWaiting) || w.octets+len(b) > t.opt.StreamBuffer {
		if d.peer().volume.packets > 0 {
			t.ev.Buffers++
		}
		if len(w.segs) == 0 { // longer than all that may wait
			d.feed(from, b, s.length, s.time, s.number)
			return
		}
		d.skipHole(s.time)
		if from <= d.stream.Next() {
			d.feed(from, b, s.length, s.time, s.number)
			d.drain()
			return
		}
	}
	first, ok := t.pool.store(b)
	if !ok {
		t.ev.Buffers++
		d.flush()
		d.feed(from, b, s.length, s.time, s.number)
		return
	}
	w.insert(waitingSegment{from, s.time, s.number, s.length, uint32(len(b)), first})
}

// insert adds a segment in its place.
func (w *waiting) insert(x waitingSegment) {
	i := len(w.segs)
	for i > 0 && w.segs[i-1].offset > x.offset {
		i--
	}
	w.segs = slices.Insert(w.segs, i, x)
	w.octets += int(x.kept)
}

// drain feeds what no longer waits for anything.
func (d *direction) drain() {
	w := &d.waiting
	n := 0
	for n < len(w.segs) && w.segs[n].offset <= d.stream.Next() {
		d.feedKept(&w.segs[n])
		n++
	}
	if n > 0 {
		w.segs = slices.Delete(w.segs, 0, n)
	}
}

func (d *direction) feedKept(x *waitingSegment) {
	t := d.c.t
	t.scratch = t.pool.load(t.scratch[:0], x.first, int(x.kept))
	t.pool.give(x.first)
	d.waiting.octets -= int(x.kept)
	d.feed(x.offset, t.scratch, x.wire, x.at, x.number)
}

// skipHole gives up the hole before the first segment that waits.
func (d *direction) skipHole(at int64) {
	if len(d.waiting.segs) == 0 {
		return
	}
	d.stream.Skip(d.waiting.segs[0].offset, at, d)
	d.drain()
}

// flush gives up all holes.
func (d *direction) flush() {
	for len(d.waiting.segs) > 0 {
		d.skipHole(d.waiting.segs[0].at)
	}
	d.listFilled()
}

// giveUp passes over octets that the receiver has and the tap will not see. What
// only an acknowledgement told of is left until a segment comes from behind it:
// at a mirror an ACK may overtake the segment that it acknowledges.
func (d *direction) giveUp(to uint64, s *segment) {
	// What waits before the end of the last hole goes first.
	for len(d.waiting.segs) > 0 && d.waiting.segs[0].offset < to {
		d.skipHole(s.time)
	}
	if to > d.stream.Next() {
		d.stream.Skip(to, s.time, d)
		d.drain()
	}
}

// feed hands octets to the framing.
func (d *direction) feed(from uint64, b []byte, wire uint32, at, number int64) {
	fresh := from >= d.stream.Next()
	if from+uint64(wire) <= d.stream.Next() {
		return
	}
	if fresh {
		d.framing.segments++
	}
	d.feedingAt, d.feedingNumber = at, number
	d.framing.newest = max(d.framing.newest, at)
	d.stream.Feed(iwarp.Segment{Offset: from, Payload: b, Wire: int(wire), At: at}, d)
}
