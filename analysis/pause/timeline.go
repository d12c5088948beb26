package pause

import (
	"errors"
	"math/bits"

	"rdmascope/decode/pfc"
	"rdmascope/decode/wire"
)

// Key names a row.
type Key struct {
	Iface    uint16
	Dir      wire.Dir
	MAC      wire.MAC
	Priority uint8 // 0…7, or All
}

// less orders rows for reports.
func (k Key) less(l Key) bool {
	switch {
	case k.Iface != l.Iface:
		return k.Iface < l.Iface
	case k.Dir != l.Dir:
		return k.Dir < l.Dir
	case k.MAC != l.MAC:
		return string(k.MAC[:]) < string(l.MAC[:])
	}
	return k.Priority < l.Priority
}

// port is an interface.
type port struct {
	rows       [All + 1][]int32
	searchFrom [All + 1]int64 // no row is idle before this time
	speed      uint64         // as the file tells, 0: it doesn't
}

// rowsPerPriority bounds the rows of one interface and priority: every data
// packet there asks each of them whether it concerns it. A link has two ends,
// but behind the mirror of a whole switch are all its hosts.
const rowsPerPriority = 256

// Timeline is the state of all pauses. Feed it every pause frame of the
// capture, in capture order.
type Timeline struct {
	opt    Options
	rows   []row
	lately []lately // in step with rows
	index  map[Key]int32
	ports  []port
	budget int
	frame  pfc.Frame

	searchFrom int64 // no row is idle before this time

	version uint64 // the newest of any row; 0 is none

	frames, cut, empty, refused, evicted, dropped int64
}

// NewTimeline returns an empty Timeline.
func NewTimeline(o Options) *Timeline {
	return &Timeline{opt: o.withDefaults(), index: make(map[Key]int32), budget: slotBudget}
}

// Interface tells the speed of an interface, 0 for unknown. It must come before
// the interface's first pause frame, in all shards alike: a later one counts for
// new rows only.
func (t *Timeline) Interface(iface uint16, speedBps uint64) { t.port(iface).speed = speedBps }

func (t *Timeline) port(iface uint16) *port {
	for len(t.ports) <= int(iface) {
		t.ports = append(t.ports, port{})
	}
	return &t.ports[iface]
}

// Visible tells whether any pause frame was seen, malformed ones included.
// Without one nothing is known about pauses: NICs consume MAC control frames and
// mirrors rarely copy them.
func (t *Timeline) Visible() bool { return t.frames > 0 }

// Frame takes a pause frame; others are passed over.
func (t *Timeline) Frame(p *wire.Packet) {
	if p.Kind != wire.KindPFC && p.Kind != wire.KindPause {
		return
	}
	t.frames++
	f := &t.frame
	off := min(int(p.TransOff), len(p.Data))
	err := f.Decode(p.EthDst, p.Data[off:], int(p.TransLen))
	switch {
	case err == nil:
	case f.Reason != pfc.ReasonNone:
		pr, ok := f.LowestEnabled()
		if !ok {
			pr = All
		}
		if r := t.row(p, uint8(pr)); r != nil {
			r.seen(p)
			r.malformed[f.Reason]++
		}
		return
	case errors.Is(err, pfc.ErrTruncated):
		t.cut++
		return
	default:
		return
	}
	if f.Opcode == pfc.OpcodePAUSE {
		t.set(p, All, f.Pause)
		return
	}
	if f.Vector == 0 {
		t.empty++
	}
	for v := uint8(f.Vector); v != 0; v &= v - 1 {
		pr := bits.TrailingZeros8(v)
		t.set(p, uint8(pr), f.Time[pr])
	}
}

func (t *Timeline) set(p *wire.Packet, priority uint8, q pfc.Quanta) {
	r := t.row(p, priority)
	if r == nil {
		return
	}
	r.seen(p)
	var dropped bool
	if q > 0 {
		dropped = r.xoff(p, q, &t.budget)
	} else {
		r.xon(p)
	}
	t.changed(r)
	if dropped {
		t.dropped++
	}
}

// row returns the row of a frame, nil when there is no room for a new one.
func (t *Timeline) row(p *wire.Packet, priority uint8) *row {
	k := Key{p.Iface, p.Dir, p.EthSrc, priority}
	if i, ok := t.index[k]; ok {
		return &t.rows[i]
	}
	pt := t.port(p.Iface)
	i, gen := int32(len(t.rows)), uint32(0)
	if len(t.rows) >= t.opt.MaxRows || len(pt.rows[priority]) >= rowsPerPriority {
		if i, gen = t.evict(pt, priority, p.Time); i < 0 {
			t.refused++
			return nil
		}
	} else {
		t.rows, t.lately = append(t.rows, row{}), append(t.lately, lately{})
	}
	t.index[k] = i
	pt.rows[priority] = append(pt.rows[priority], i)
	speed, from := t.opt.LinkSpeedBps, SpeedFlag
	if speed == 0 {
		speed, from = pt.speed, SpeedPcapng
	}
	if speed == 0 {
		speed, from = t.opt.AssumedSpeedBps, SpeedAssumed
	}
	t.rows[i] = row{
		key: k, place: i, gen: gen, speed: speed, from: from, allowance: AllowanceNS(speed), opt: &t.opt,
		windows: Windows{WidthNS: t.opt.WindowNS},
	}
	t.changed(&t.rows[i])
	return &t.rows[i]
}

// Paused tells whether frames of a priority towards mac are stopped on an
// interface at time now, and since when. now must not lie before the last frame
// that was fed.
func (t *Timeline) Paused(iface uint16, mac wire.MAC, priority uint8, now int64) (since int64, ok bool) {
	if int(iface) >= len(t.ports) {
		return 0, false
	}
	for _, pr := range [...]uint8{priority & 7, All} {
		for _, i := range t.ports[iface].rows[pr] {
			r := &t.rows[i]
			if v := r.current(now); v != nil && r.key.MAC == mac && (!ok || v.start < since) {
				since, ok = v.start, true
			}
		}
	}
	return since, ok
}

// Overlap is for how much of [from, to) frames of a priority were stopped on an
// interface, in either direction: the largest share of any single row, so that
// simultaneous pauses aren't counted twice. to must not lie after the last
// frame or packet that was fed. It looks no further back than the intervals
// that are kept.
func (t *Timeline) Overlap(iface uint16, priority uint8, from, to int64) int64 {
	if int(iface) >= len(t.ports) {
		return 0
	}
	var most int64
	for _, pr := range [...]uint8{priority & 7, All} {
		for _, i := range t.ports[iface].rows[pr] {
			if t.lately[i].over > from {
				most = max(most, t.rows[i].overlap(from, to))
			}
		}
	}
	return most
}
