package pause

import (
	"rdmascope/decode/pfc"
	"rdmascope/decode/wire"
)

// row is the time line of one source and priority.
type row struct {
	key       Key
	place     int32  // among the time line's rows
	gen       uint32 // of its place: how many rows were in it before
	speed     uint64
	from      SpeedFrom
	allowance int64
	opt       *Options

	ring    ring
	windows Windows

	frames, xoffs, xons, refreshes int64
	transitions, expiries          int64
	overNIC, overMLX5, overStall   int64 // intervals at least as long as the watchdogs' times
	paused                         total
	longest                        int64 // ps
	malformed                      [reasonCount]int64
	firstTime, lastTime            int64
	firstPacket                    int64
}

// reasonCount is the number of reasons of package pfc.
const reasonCount = int(pfc.ReasonVector) + 1

// seen books a frame, whatever it holds.
func (r *row) seen(p *wire.Packet) {
	if r.frames == 0 {
		r.firstTime, r.lastTime, r.firstPacket = p.Time, p.Time, p.Number
	}
	r.frames++
	r.firstTime = min(r.firstTime, p.Time)
	r.lastTime = max(r.lastTime, p.Time)
	r.windows.slot(p.Time).Frames++
}

// running returns the interval that is open as far as is known, nil when there
// is none. Its time may have run out.
func (r *row) running() *interval {
	if v := r.ring.last(); v != nil && v.ending == endOpen {
		return v
	}
	return nil
}

// xoff begins a pause, or refreshes the one that runs: the new time replaces
// what was left, be it longer or shorter. A refresh at the very instant of the
// expiry leaves no gap, so it continues the interval.
func (r *row) xoff(p *wire.Packet, q pfc.Quanta, budget *int) (dropped bool) {
	r.xoffs++
	if v := r.running(); v != nil {
		now := at(max(p.Time, v.start)) // a clock that steps back makes no negative pause
		if !v.end.before(now) {
			v.end = now.add(q.Picoseconds(r.speed))
			v.frames++
			r.refreshes++
			return false
		}
		v.ending = endExpiry
		r.finish(v)
	}
	start := p.Time
	if v := r.ring.last(); v != nil && at(start).before(v.end) {
		start = v.end.ns // again a backward clock: intervals never overlap
	}
	return r.ring.push(interval{start: start, end: at(start).add(q.Picoseconds(r.speed)), packet: p.Number, frames: 1}, budget)
}

// xon ends the pause that runs. One that finds none is counted and no more:
// many senders repeat it.
func (r *row) xon(p *wire.Packet) {
	r.xons++
	v := r.running()
	if v == nil {
		return
	}
	now := at(max(p.Time, v.start))
	if v.end.before(now) {
		v.ending = endExpiry
	} else {
		v.end, v.ending = now, endXON
		v.frames++
	}
	r.finish(v)
}

// finish books an interval that has ended.
func (r *row) finish(v *interval) {
	r.book(v)
	r.transitions++
	if v.ending == endExpiry {
		r.expiries++
	}
}

// book adds an interval's length to the sums.
func (r *row) book(v *interval) {
	n := max(v.length(), 0)
	r.paused.add(n)
	r.longest = max(r.longest, n)
	if n/1000 >= r.opt.NICNS {
		r.overNIC++
	}
	if n/1000 >= r.opt.MLX5NS {
		r.overMLX5++
	}
	if n/1000 >= r.opt.MLX5NS*100/85 { // MLX5NS is 85 % of the stall time
		r.overStall++
	}
	r.windows.pause(v.start, v.start+roundNS(n))
}

// current returns the interval in which now lies.
func (r *row) current(now int64) *interval {
	if v := r.running(); v != nil && now >= v.start && at(now).before(v.end) {
		return v
	}
	return nil
}

// overlap is the paused time within [from, to).
func (r *row) overlap(from, to int64) int64 {
	var ps int64
	n := r.ring.next - 1
	if n >= 0 && r.ring.get(n).start >= to { // seldom: mostly the newest is asked for
		n = r.ring.from(to) - 1
	}
	for ; n >= r.ring.first(); n-- {
		v := r.ring.get(n)
		if v.end.before(at(from)) {
			break
		}
		ps += max(0, minInstant(v.end, at(to)).sub(at(max(v.start, from))))
	}
	return roundNS(ps)
}

// settle returns the row as it stands at the capture's end: a pause that is
// still on is cut there, one whose time is over has expired.
func (r *row) settle(end int64) row {
	s := *r
	s.windows.Window = append([]Window(nil), r.windows.Window...)
	s.ring.slots = append([]interval(nil), r.ring.slots...)
	v := s.running()
	switch {
	case v == nil:
	case v.end.before(at(end)) || v.end == at(end):
		v.ending = endExpiry
		s.finish(v)
	default:
		v.end = at(max(end, v.start))
		s.book(v)
	}
	return s
}
