package marking

import "rdmascope/decode/wire"

// rate keeps a data flow's bytes in slots of a quarter of the rate window, so
// that "how much was sent in the window before now" is always at hand.
type rate struct {
	bytes  int64 // all so far
	slots  [rateSlots]int64
	newest int64 // number of the newest slot since the epoch
	width  int64
	live   bool
}

// A window of four whole slots and the one that is being filled.
const rateSlots = 5

// advance moves to the slot in which now lies.
func (r *rate) advance(now int64, o *Options) {
	if !r.live {
		r.live, r.width = true, max(o.RateNS/(rateSlots-1), 1)
		r.newest = now / r.width
		return
	}
	n := now / r.width
	if n-r.newest >= rateSlots {
		r.slots = [rateSlots]int64{}
		r.newest = n
	}
	for r.newest < n {
		r.newest++
		r.slots[r.newest%rateSlots] = 0
	}
}

// recent is the rate over the window up to now, in bytes a second.
func (r *rate) recent(now int64) int64 {
	var sum int64
	for _, v := range r.slots {
		sum += v
	}
	span := (rateSlots-1)*r.width + now%r.width + 1
	return perSecond(sum, span)
}

func perSecond(bytes, ns int64) int64 {
	if ns <= 0 || bytes > 1<<33 {
		return 0
	}
	return bytes * 1_000_000_000 / ns
}

// Stages of a probe.
const (
	probeIdle  uint8 = iota
	probeWait        // the sender may not have reacted yet
	probeCount       // what it sends now counts
)

// probe measures one CNP's effect: the rate before it, and after the sender
// had time to react. CNPs that come while one is under way aren't measured.
type probe struct {
	stage  uint8
	at     int64 // time of the CNP
	before int64 // rate
	cum    int64 // bytes when the second window began
	slots  [profileSlots]int64
}

// profileSlots is how many slots after a CNP, each a quarter of the rate
// window, are summed over all measured CNPs of a link.
const profileSlots = 5

// profile is what a sender did after CNPs, on average. Congestion control may
// cut the rate for less than the window that the median looks at, so a sender
// counts as deaf only when no slot shows a dip either.
type profile struct {
	before int64 // sum of rates
	n      int64
	slots  [profileSlots]int64 // bytes
}

func (f *profile) add(p *probe) {
	f.before += p.before
	f.n++
	for i, v := range p.slots {
		f.slots[i] += v
	}
}

// dip is by how much the slowest slot fell below the rate before, in per mille.
func (f *profile) dip(width int64) int64 {
	if f.n == 0 || f.before == 0 {
		return 0
	}
	least := f.slots[0]
	for _, v := range f.slots {
		least = min(least, v)
	}
	before := f.before / f.n
	if before == 0 {
		return 0
	}
	return (before - perSecond(least/f.n, width)) * 1000 / before
}

// sent books a packet of a data flow, and moves probes on.
func (c *congestion) sent(p *wire.Packet, o *Options) {
	c.rate.advance(p.Time, o)
	for i := range c.links {
		l := &c.links[i]
		if l.probe.stage != probeIdle {
			l.step(c, p, o)
		}
		l.recovery.sent(p, o)
	}
	c.rate.bytes += int64(p.Wire)
	c.rate.slots[c.rate.newest%rateSlots] += int64(p.Wire)
}

// step moves the probe on to the time of packet p, which isn't in c.rate yet.
func (l *link) step(c *congestion, p *wire.Packet, o *Options) {
	pr := &l.probe
	since := p.Time - pr.at
	if pr.stage == probeWait && since >= o.DelayNS {
		pr.stage, pr.cum = probeCount, c.rate.bytes
	}
	if pr.stage == probeCount && since >= o.DelayNS+o.RateNS {
		if pr.before > 0 {
			after := perSecond(c.rate.bytes-pr.cum, o.RateNS)
			l.cut(int16(max(-1000, (pr.before-after)*1000/pr.before)))
			l.profile.add(pr)
		}
		pr.stage = probeIdle
		return
	}
	if k := since / c.rate.width; since >= 0 && k < profileSlots {
		pr.slots[k] += int64(p.Wire)
	}
}
