package analysis

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rdmascope/analysis/pause"
	"rdmascope/decode/wire"
)

// Options of an analysis. The zero value is what `analyze` uses by default.
type Options struct {
	Workers   int           // goroutines; 0 means one a processor
	Decode    wire.Config   // ports and checks
	LinkSpeed int64         // bit/s of every link, for pause times; 0 means as the file tells
	Version   string        // goes into the report
	MaxFlows  int           // one-way flows kept; 0 means the default; the longest idle ones make room for new ones
	Idle      time.Duration // connections idle for longer are let go, their totals kept; 0: never
	Settings  Settings      // thresholds of rules that differ from their defaults
	PortMap   PortMap       // which device sends the pauses that are seen where; may be empty
	// Priorities is the priority of untagged packets by DSCP, nil the usual one.
	Priorities *Priorities
	Filter     string // what the source left out is told in the report; "" for nothing
	// Mark is told which packets, by number, were sent again, came late and the
	// like; nil: nobody asks. It is never called twice at a time.
	Mark func(number int64, m PacketMark)
}

// PriorityOf is the priority class of a packet: what a pause of that priority
// stops.
func (o *Options) PriorityOf(p *wire.Packet) uint8 {
	c := pause.Options{PriorityOfDSCP: (*[64]uint8)(o.Priorities)}
	return c.Priority(p)
}

// priorities are those that hold.
func (o *Options) priorities() *Priorities {
	if o.Priorities != nil {
		return o.Priorities
	}
	p := UsualPriorities()
	return &p
}

// defaultMaxFlows bounds the flow table (all partitions together).
const defaultMaxFlows = 4 << 20

// Engine reads a Source to its end and analyses it.
//
// Work is cut into blocks of records. A worker takes the next one from the
// source, sorts its records by host pair, decoding those that need it for that,
// and hands it to the lanes; a lane is a fixed group of partitions (host pairs)
// that decodes what is its own and consumes the blocks strictly in order, run by
// whichever worker is free. So both the reading and the tracking go on in
// capture order, and the result is the same whatever the number of workers.
// A packet points into its block, which lives until the last lane is done.
type Engine struct {
	src  Source
	opt  Options
	snap atomic.Pointer[Snapshot]
	want atomic.Bool // a snapshot was asked for

	// builds are the snapshots in the making, at most one at a time: they are
	// built beside the workers, which go on meanwhile.
	building atomic.Bool
	builds   sync.WaitGroup
	rest     atomic.Int64 // Unix ns before which no other one is begun

	// told is what the source told of itself when its newest block was read: it
	// can't be asked while somebody waits in it for the next one.
	told  told
	since time.Time // the block that is being read is waited for since then
	slow  bool      // the source let the newest block be waited for
	shown int64     // packets when the newest snapshot was begun
	start int64     // time of the first packet that has one
	begun bool      // there was one

	mu       sync.Mutex
	changed  sync.Cond
	lanes    []*lane
	ring     []*block // decoded or in work, by seq modulo its length
	free     []*block
	nextSeq  int64
	packets  int64
	reading  bool
	eof      bool
	inFlight int
	err      error
}

// marker asks every lane for its part of a snapshot after the same block.
type marker struct {
	told
	left  atomic.Int32
	begun time.Time
	parts []laneResult
}

// told is what a source tells of itself after a block.
type told struct {
	inputs []InputInfo
	ifaces []Interface
	clocks []ClockUse // by interface
}

func (e *Engine) ask() told {
	t := told{e.src.Inputs(), e.told.ifaces, ClocksOf(e.src)}
	if now := e.src.Interfaces(); !slices.Equal(now, t.ifaces) {
		t.ifaces = slices.Clone(now)
	}
	return t
}

// lull is for how long the source must have kept silent until a snapshot that
// somebody wants doesn't wait for its next block: a pipe may stay silent for
// hours, and what it brought last is what was asked for.
const lull = 200 * time.Millisecond

// restFactor is for how many times as long as a snapshot took none is begun:
// with many connections it takes long, and the packets come first.
const restFactor = 3

func (e *Engine) newMarker(t told) *marker {
	m := &marker{told: t, begun: time.Now(), parts: make([]laneResult, len(e.lanes))}
	m.left.Store(int32(len(e.lanes)))
	return m
}

// mayBegin takes the turn to build a snapshot, if one is wanted and may be built.
func (e *Engine) mayBegin() bool {
	if !e.want.Load() || time.Now().UnixNano() < e.rest.Load() || !e.building.CompareAndSwap(false, true) {
		return false
	}
	e.want.Store(false)
	return true
}

// Blocks is how many blocks of its source an analysis holds at most: some more
// than workers, so that a slow lane doesn't stop the reader at once; few, so
// that they stay in the cache.
func (o *Options) Blocks() int { return 2*o.workers() + 2 }

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// New prepares an analysis of src.
func New(src Source, opt Options) *Engine {
	opt.Workers = opt.workers()
	if opt.MaxFlows <= 0 {
		opt.MaxFlows = defaultMaxFlows
	}
	opt.Mark = oneAtATime(opt.Mark)
	e := &Engine{src: src, opt: opt, slow: true}
	e.changed.L = &e.mu
	n := opt.Blocks()
	e.ring = make([]*block, n)
	e.free = make([]*block, n)
	lanes := min(opt.Workers, partitions)
	for i := range e.free {
		e.free[i] = newBlock(lanes)
	}
	e.lanes = newLanes(lanes, opt)
	return e
}

// Snapshot returns the newest published result, nil before the first.
func (e *Engine) Snapshot() *Snapshot { return e.snap.Load() }

// RequestSnapshot asks for a snapshot at the next block, or at the first one
// after the snapshot that is being built and a rest that is in proportion to
// the time that it took. Of a source that has fallen silent it asks at once for
// all that came, unless that is shown already. It never waits; who wants to be
// shown the last packets before a silence asks again.
func (e *Engine) RequestSnapshot() {
	e.want.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	silent := e.reading && !e.eof && time.Since(e.since) > lull
	if !silent || len(e.free) == 0 || e.packets == e.shown || !e.mayBegin() {
		return
	}
	b := e.take()
	b.buf, b.recs, b.numbers, b.first = b.buf[:0], b.recs[:0], b.numbers[:0], e.packets+1
	b.sort(nil) // nothing
	b.marker = e.newMarker(e.told)
	e.number(b)
	e.hand(b)
	go e.relieve()
}

// relieve does the workers' part for those that wait for the source.
func (e *Engine) relieve() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		l, b := e.readyLane(-1, false) // at home with nobody: any lane
		if l == nil {
			return
		}
		e.consume(l, b)
	}
}

// Run analyses until the source ends or ctx is done; a stopped analysis
// still gives the result of what was read. The returned snapshot is final.
func (e *Engine) Run(ctx context.Context) (*Snapshot, error) {
	stop := context.AfterFunc(ctx, func() {
		e.mu.Lock()
		e.eof = true
		e.mu.Unlock()
		e.changed.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for w := range e.opt.Workers {
		wg.Go(func() { e.work(w) })
	}
	wg.Wait()
	e.builds.Wait() // an older snapshot never replaces the final one
	if e.err != nil {
		return nil, e.err
	}
	m := e.newMarker(e.ask())
	if ctx.Err() != nil {
		for i := range m.inputs {
			if in := &m.inputs[i]; !in.Complete && in.Error == "" {
				in.Error = "interrupted"
			}
		}
	}
	for i, l := range e.lanes {
		wg.Go(func() { m.parts[i] = l.result(true) })
	}
	wg.Wait()
	s := build(e, m)
	e.snap.Store(s)
	return s, nil
}

// Analyze is New and Run.
func Analyze(ctx context.Context, src Source, opt Options) (*Snapshot, error) {
	return New(src, opt).Run(ctx)
}

// work is one worker: it prefers consuming to reading, so that few blocks are
// under way, and parks when there is nothing to do.
func (e *Engine) work(worker int) {
	d := wire.NewDecoder(e.opt.Decode)
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if l, b := e.readyLane(worker, true); l != nil {
			e.consume(l, b)
			continue
		}
		if !e.reading && !e.eof && len(e.free) > 0 {
			e.read(d)
			continue
		}
		if l, b := e.readyLane(worker, false); l != nil && e.helps() {
			e.consume(l, b)
			continue
		}
		if e.eof && e.inFlight == 0 && !e.reading {
			e.changed.Broadcast()
			return
		}
		e.changed.Wait()
	}
}

// helps tells whether who has nothing to do runs a lane that is at home with
// another worker: it takes the lane's connections into another processor's
// cache, from where they must come back. So only if nothing can be read before
// the lane catches up, or nothing is left to read, or its worker may wait in the
// source for long.
func (e *Engine) helps() bool { return len(e.free) == 0 || e.eof || e.slow }

// prompt is how soon a source that is no bottleneck delivers.
const prompt = time.Millisecond

// readyLane finds a lane that nobody runs and whose next block is decoded,
// the one furthest behind. Each lane is at home with one worker, in whose
// processor's cache its connections are.
func (e *Engine) readyLane(worker int, home bool) (*lane, *block) {
	var best *lane
	for _, l := range e.lanes {
		if l.busy || home != (l.index%e.opt.Workers == worker) || best != nil && best.next <= l.next {
			continue
		}
		if b := e.ring[l.next%int64(len(e.ring))]; b != nil && b.seq == l.next {
			best = l
		}
	}
	if best == nil {
		return nil, nil
	}
	return best, e.ring[best.next%int64(len(e.ring))]
}

// consume runs lane l over b. Called and returning with the lock held.
func (e *Engine) consume(l *lane, b *block) {
	l.busy = true
	e.mu.Unlock()
	l.consume(b)
	if m := b.marker; m != nil {
		m.parts[l.index] = l.result(false)
		if m.left.Add(-1) == 0 {
			e.builds.Go(func() {
				e.snap.Store(build(e, m))
				now := time.Now()
				e.rest.Store(now.Add(restFactor * now.Sub(m.begun)).UnixNano())
				e.building.Store(false)
			})
		}
	}
	done := b.waiting.Add(-1) == 0
	if done {
		b.buf = Release(e.src, b.buf)
	}
	e.mu.Lock()
	l.busy = false
	l.next++
	if done {
		e.ring[b.seq%int64(len(e.ring))] = nil
		b.marker = nil
		e.free = append(e.free, b)
		e.inFlight--
	}
	e.changed.Broadcast()
}

// read takes the next block from the source and sorts it. Only the reading is
// serial. Called and returning with the lock held.
func (e *Engine) read(d *wire.Decoder) {
	b := e.take()
	e.reading, e.since = true, time.Now()
	first := e.packets + 1
	e.mu.Unlock()

	buf, recs, err := e.src.ReadBlock(b.buf[:0], b.recs[:0])
	took := time.Since(e.since)
	if err == nil {
		err = checkRecords(buf, recs)
	}
	b.buf, b.recs, b.first = buf, recs, first
	b.start = e.begin(recs)
	b.numbers = b.numbers[:0]
	if part, ok := e.src.(partSource); ok && err == nil {
		b.numbers = append(b.numbers, part.Numbers()...)
	}
	b.speeds = b.speeds[:0]
	for _, face := range e.src.Interfaces() {
		b.speeds = append(b.speeds, face.SpeedBps)
	}
	told := e.ask()
	if err == nil && e.mayBegin() {
		b.marker = e.newMarker(told)
	}

	e.mu.Lock()
	e.reading, e.told, e.slow = false, told, took > prompt
	if err != nil {
		e.eof = true
		if !errors.Is(err, io.EOF) {
			e.err = err
		}
		b.buf = Release(e.src, b.buf)
		e.free = append(e.free, b)
		e.changed.Broadcast()
		return
	}
	e.number(b)
	e.mu.Unlock()

	b.sort(d)

	e.mu.Lock()
	e.hand(b)
}

// begin returns the time of the first packet that has one, of those read so far.
func (e *Engine) begin(recs []Record) int64 {
	for i := 0; i < len(recs) && !e.begun; i++ {
		if recs[i].Flags&RecordNoTime == 0 {
			e.start, e.begun = recs[i].Time, true
		}
	}
	return e.start
}

// take takes a free block. The lock is held.
func (e *Engine) take() *block {
	b := e.free[len(e.free)-1]
	e.free = e.free[:len(e.free)-1]
	return b
}

// number gives a block that was read its place. The lock is held.
func (e *Engine) number(b *block) {
	b.seq = e.nextSeq
	e.nextSeq++
	e.packets += int64(len(b.recs))
	e.inFlight++
	if b.marker != nil {
		e.shown = e.packets
	}
	e.changed.Broadcast() // the next worker may read
}

// hand gives a decoded block to the lanes. The lock is held.
func (e *Engine) hand(b *block) {
	b.waiting.Store(int32(len(e.lanes)))
	e.ring[b.seq%int64(len(e.ring))] = b
	e.changed.Broadcast()
}

// PacketsRead is how many packets were taken from the source so far.
func (e *Engine) PacketsRead() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.packets
}
