package marking

import (
	"slices"

	"rdmascope/decode/wire"
)

// recovery watches how a sender's rate comes back after a CNP (F9): window by
// window, each as long as the rate window, from the time on that it has to
// react. It ends with the next CNP, when the rate is back, or after
// recoveryWindows.
//
// A sample is the slope from the slowest window to the last one. There is none
// where the rate wasn't cut (by DeafCutPermille at least), where no two windows
// follow the slowest one, and where packets are too few for a window to tell a
// rate: DCQCN raises the rate each 55 µs at most, so with CNPs nearer than some
// hundred microseconds nothing can be seen of it.
type recovery struct {
	live   bool
	coarse bool  // too few packets in a window
	at     int64 // time of the CNP
	before int64 // rate, octets a second
	window int64 // number of the one that is being filled
	filled int64 // octets in it

	least, last     int64 // rates of windows
	leastAt, lastAt int64

	slopes medians // bit/s per ms
	times  medians // ns from the CNP until the rate was back
	// Why CNPs gave no sample.
	uncut, short, tooCoarse int64
}

const (
	recoveryWindows = 64 // 3.2 ms
	// leastInWindow is how many packets the rate before must fill a window with.
	leastInWindow = 8
)

// begin ends what was watched before, since another CNP came, and watches this
// one.
func (r *recovery) begin(now, rate int64, o *Options) {
	r.end(o)
	slopes, times, uncut, short, coarse := r.slopes, r.times, r.uncut, r.short, r.tooCoarse
	*r = recovery{live: true, at: now, before: rate, slopes: slopes, times: times, uncut: uncut, short: short, tooCoarse: coarse}
	r.least, r.leastAt, r.lastAt = -1, -1, -1
}

// sent books a packet of the throttled flow.
func (r *recovery) sent(p *wire.Packet, o *Options) {
	if !r.live {
		return
	}
	if r.before < leastInWindow*perSecond(int64(p.Wire), o.RateNS) {
		r.coarse = true
		r.end(o)
		return
	}
	since := p.Time - r.at - o.DelayNS
	if since < 0 {
		return // it may not have reacted yet
	}
	for n := since / o.RateNS; r.window < n; {
		r.close(o)
		if !r.live {
			return
		}
		if r.window >= recoveryWindows {
			r.end(o)
			return
		}
	}
	r.filled += int64(p.Wire)
}

// close ends a window.
func (r *recovery) close(o *Options) {
	rate := perSecond(r.filled, o.RateNS)
	if r.least < 0 || rate < r.least {
		r.least, r.leastAt = rate, r.window
	}
	r.last, r.lastAt = rate, r.window
	r.window++
	r.filled = 0
	if r.cut(o) && r.leastAt < r.lastAt && rate >= r.back(o) {
		r.times.add(r.window*o.RateNS + o.DelayNS)
		r.sample(o)
		r.live = false
	}
}

// cut tells whether the sender slowed down.
func (r *recovery) cut(o *Options) bool { return r.least >= 0 && r.least < r.back(o) }

// back is the rate that is as good as the one before.
func (r *recovery) back(o *Options) int64 { return r.before / 1000 * (1000 - o.DeafCutPermille) }

// sample takes the slope.
func (r *recovery) sample(o *Options) {
	// In bit/s per ms; both factors are well below 2^31.
	r.slopes.add((r.last - r.least) * 8 / (r.lastAt - r.leastAt) * 1_000_000 / o.RateNS)
}

// end ends what is watched though the rate isn't back.
func (r *recovery) end(o *Options) {
	if !r.live {
		return
	}
	r.live = false
	switch {
	case r.coarse:
		r.tooCoarse++
	case !r.cut(o):
		if r.least >= 0 {
			r.uncut++
		} else {
			r.short++
		}
	case r.lastAt-r.leastAt < 2:
		r.short++
	default:
		r.sample(o)
	}
}

// medians keeps the newest values for a median.
type medians struct {
	n    int64
	next int
	list []int64
}

func (m *medians) add(v int64) {
	m.n++
	if len(m.list) < maxCuts {
		m.list = append(m.list, v)
		return
	}
	m.list[m.next] = v
	m.next = (m.next + 1) % maxCuts
}

// median is the nearest rank, 0 without values.
func (m *medians) median() int64 {
	if len(m.list) == 0 {
		return 0
	}
	var sorted [maxCuts]int64
	s := sorted[:copy(sorted[:], m.list)]
	slices.Sort(s)
	return s[(len(s)-1)/2]
}
