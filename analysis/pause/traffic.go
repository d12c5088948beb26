package pause

import (
	"math/bits"
	"unsafe"

	"rdmascope/analysis/prefetch"
	"rdmascope/analysis/slab"
	"rdmascope/decode/wire"
)

// Direction of a data frame against a row: a pause stops what travels towards
// the one who pauses.
type direction uint8

const (
	dirUnknown direction = iota // neither MACs nor the file tell
	dirTowards
	dirAway
)

// directionOf tells which way a frame goes. The file's own direction is the
// best witness; else the MACs, which name the pauser only where it is a host or
// router, not a bridge that passes frames on.
func directionOf(k *Key, dir wire.Dir, src, dst wire.MAC) direction {
	switch {
	case k.Dir != wire.DirUnknown && dir != wire.DirUnknown:
		if k.Dir != dir {
			return dirTowards
		}
		return dirAway
	case k.MAC == wire.MAC{}:
		return dirUnknown
	case dst == k.MAC:
		return dirTowards
	case src == k.MAC:
		return dirAway
	}
	return dirUnknown
}

// Marks of an interval: data frames of its priority that came since it began
// and before the next one did. The upper three are for frames whose direction
// is unknown.
const (
	markEarly   uint8 = 1 << iota // within the response allowance
	markLate                      // after it, while still paused
	markGap                       // after the pause
	markUnknown = 3               // shift of those of unknown direction
)

// Violator is a flow that sent into a pause.
type Violator struct {
	Flow                   int32 // -1: not a flow that the engine knows, or beyond the list's bound
	Packets, Bytes         int64
	FirstTime, FirstPacket int64
}

// maxViolators bounds the list of one row in one Traffic.
const maxViolators = 64

type trafficRow struct {
	gen       uint32  // of the time line's row: another one took its place since
	marks     []uint8 // of interval n at n & (len−1)
	next      int64   // intervals below it have a mark in the ring
	violators []Violator
}

// pace is how a flow sends: its last packet, and the gaps before it by powers
// of two. It is one cache line, without pointers (see package slab).
type pace struct {
	last     int64
	gaps     [32]uint8 // gap of 2^(n+minGapBits)…
	src, dst wire.MAC
	iface    uint16
	dir      wire.Dir
	priority uint8
	active   bool
}

const minGapBits = 8 // below 256 ns all gaps are alike

// Quiet is a silence of a flow during a pause.
type Quiet struct {
	Flow        int32
	Iface       uint16
	Dir         wire.Dir
	Priority    uint8
	Src, Dst    wire.MAC
	Last, First int64 // packet before, packet after
	Open        bool  // no packet after: First is the capture's end
	MedianNS    int64 // median gap before it, to a factor of two
}

// Traffic is one shard's view of the data that pauses concern.
type Traffic struct {
	tl     *Timeline
	least  int64          // shortest silence worth a look
	rows   []trafficRow   // in step with the time line's
	noted  [][dirs]uint64 // by row and by a packet's direction: the version since when nothing is left to mark
	flows  slab.Slab[pace]
	quiet  []Quiet // the newest, a ring from oldest on
	oldest int
	now    int64 // newest packet

	untracked, droppedQuiet int64
}

// NewTraffic returns an empty Traffic which asks tl for the state of pauses. tl
// must have been fed everything before a packet when Data takes it.
func NewTraffic(tl *Timeline) *Traffic {
	return &Traffic{tl: tl, least: tl.opt.DetectNS * tl.opt.VictimPercent / 100}
}

// Data takes a frame that isn't a pause frame. flow is the engine's number of
// its flow, -1 for none.
func (t *Traffic) Data(p *wire.Packet, flow int32) {
	priority := t.tl.opt.Priority(p)
	t.now = max(t.now, p.Time)
	if flow >= 0 {
		t.keepPace(p, flow, priority)
	}
	if int(p.Iface) >= len(t.tl.ports) {
		return
	}
	pt := &t.tl.ports[p.Iface]
	t.markAll(p, pt.rows[priority], flow)
	t.markAll(p, pt.rows[All], flow)
}

// dirs is room for every direction that a file may tell: two bits in pcapng.
const dirs = 4

// markAll notes the frame against rows, but for those whose pause is over and
// has its mark: of a switch's many ports few are paused at a time.
func (t *Traffic) markAll(p *wire.Packet, rows []int32, flow int32) {
	for len(t.noted) < len(t.tl.lately) {
		t.noted = append(t.noted, [dirs]uint64{})
	}
	for _, i := range rows {
		l := &t.tl.lately[i]
		if t.noted[i][p.Dir%dirs] == l.version && p.Time >= l.over && p.EthDst != l.mac {
			continue
		}
		if t.mark(p, i, flow) && p.Time >= l.over && p.EthDst != l.mac {
			t.noted[i][p.Dir%dirs] = l.version
		}
	}
}

// mark notes the frame against the newest interval of a row. It tells whether
// any frame of the same direction, at such a time and not addressed to the
// pauser, would be noted in the same way or not at all.
func (t *Traffic) mark(p *wire.Packet, i int32, flow int32) bool {
	r := &t.tl.rows[i]
	n := r.ring.next - 1
	if n < 0 {
		return true
	}
	d := directionOf(&r.key, p.Dir, p.EthSrc, p.EthDst)
	if d == dirAway {
		return r.key.Dir != wire.DirUnknown && p.Dir != wire.DirUnknown // else it is its source that told
	}
	m := markGap
	if r.current(p.Time) != nil {
		m = markEarly
		if p.Time-r.ring.last().start > r.allowance {
			m = markLate
		}
	}
	tr := t.row(i)
	if m == markLate && d == dirTowards {
		tr.violate(p, flow)
	}
	if d == dirUnknown {
		m <<= markUnknown
	}
	*tr.slot(n, len(r.ring.slots)) |= m
	return true
}

// row is what is known of row i of the time line.
func (t *Traffic) row(i int32) *trafficRow {
	for len(t.rows) <= int(i) {
		t.rows = append(t.rows, trafficRow{})
	}
	tr := &t.rows[i]
	if gen := t.tl.rows[i].gen; tr.gen != gen {
		*tr = trafficRow{gen: gen}
	}
	return tr
}

// slot returns the mark of interval n in a ring as long as the row's own.
func (tr *trafficRow) slot(n int64, length int) *uint8 {
	if len(tr.marks) != length {
		marks := make([]uint8, length)
		for k := max(0, tr.next-int64(len(tr.marks))); k < tr.next; k++ {
			marks[int(k)&(length-1)] = tr.marks[int(k)&(len(tr.marks)-1)]
		}
		tr.marks = marks
	}
	for k := max(tr.next, n+1-int64(length)); k <= n; k++ {
		tr.marks[int(k)&(length-1)] = 0
	}
	tr.next = max(tr.next, n+1)
	return &tr.marks[int(n)&(length-1)]
}

func (tr *trafficRow) violate(p *wire.Packet, flow int32) {
	v := tr.violator(flow)
	if v == nil {
		if len(tr.violators) >= maxViolators {
			flow = -1
		}
		if v = tr.violator(flow); v == nil {
			tr.violators = append(tr.violators, Violator{Flow: flow, FirstTime: p.Time, FirstPacket: p.Number})
			v = &tr.violators[len(tr.violators)-1]
		}
	}
	v.Packets++
	v.Bytes += int64(p.Wire)
}

// violator is the entry of a flow, nil when there is none.
func (tr *trafficRow) violator(flow int32) *Violator {
	for i := range tr.violators {
		if v := &tr.violators[i]; v.Flow == flow {
			return v
		}
	}
	return nil
}

// keepPace notes the gap before a packet of a flow, and remembers it when the
// flow was silent for long while its priority was paused.
func (t *Traffic) keepPace(p *wire.Packet, flow int32, priority uint8) {
	if int(flow) >= t.tl.opt.MaxFlows {
		t.untracked++
		return
	}
	if int(flow) >= t.flows.Len() {
		t.flows.Grow(flow)
	}
	f := t.flows.At(flow)
	if f.active {
		if gap := p.Time - f.last; gap >= 0 {
			if gap >= t.least {
				if q, ok := t.silence(f, flow, p.Time); ok {
					t.remember(q)
				}
			}
			f.book(gap)
		}
	}
	f.active, f.last, f.iface, f.dir, f.priority = true, max(f.last, p.Time), p.Iface, p.Dir, priority
	f.src, f.dst = p.EthSrc, p.EthDst
}

// Ahead asks for what Data will read of a flow.
func (t *Traffic) Ahead(l *prefetch.List, flow int32) {
	if int(flow) < t.flows.Len() {
		l.Add(unsafe.Pointer(t.flows.At(flow)))
	}
}

// Stopped is for how much of [from, to) the priority of a flow's newest packet
// was paused at its interface. It asks the time line, so its answer for times
// that have passed doesn't change.
func (t *Traffic) Stopped(flow int32, from, to int64) int64 {
	if !t.tl.Visible() || flow < 0 || int(flow) >= t.flows.Len() {
		return 0
	}
	f := t.flows.At(flow)
	return t.tl.Overlap(f.iface, f.priority, from, to)
}

// silence tells whether a flow that sends next at now was silent for half a
// storm's least length, mostly under a pause, and out of its rhythm.
func (t *Traffic) silence(f *pace, flow int32, now int64) (Quiet, bool) {
	gap := now - f.last
	if gap < t.least || int(f.iface) >= len(t.tl.ports) {
		return Quiet{}, false
	}
	median := f.median()
	if gap <= 2*median || t.tl.Overlap(f.iface, f.priority, f.last, now) < t.least {
		return Quiet{}, false
	}
	return Quiet{Flow: flow, Iface: f.iface, Dir: f.dir, Priority: f.priority, Src: f.src, Dst: f.dst,
		Last: f.last, First: now, MedianNS: median}, true
}

// remember keeps a silence; the oldest goes when there is no room, as the oldest
// pauses do.
func (t *Traffic) remember(q Quiet) {
	if len(t.quiet) < t.tl.opt.MaxQuiet {
		t.quiet = append(t.quiet, q)
		return
	}
	t.droppedQuiet++
	t.quiet[t.oldest] = q
	t.oldest = (t.oldest + 1) % len(t.quiet)
}

// book counts a gap; all counts are halved before one overflows, so that the
// newest weigh most.
func (f *pace) book(gap int64) {
	n := min(max(bits.Len64(uint64(gap))-1-minGapBits, 0), len(f.gaps)-1)
	if f.gaps[n] == 255 {
		for i := range f.gaps {
			f.gaps[i] /= 2
		}
	}
	f.gaps[n]++
}

// median is the upper end of the power of two in which the median gap lies; 0
// when there was none.
func (f *pace) median() int64 {
	sum := 0
	for _, n := range f.gaps {
		sum += int(n)
	}
	if sum == 0 {
		return 0
	}
	seen := 0
	for i, n := range f.gaps {
		if seen += int(n); 2*seen >= sum {
			return 1 << (i + 1 + minGapBits)
		}
	}
	return 0
}
