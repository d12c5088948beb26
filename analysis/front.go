package analysis

import "rdmascope/analysis/pause"

// front is the lane that sees the capture as a whole: its totals, its clocks,
// and its MAC control frames.
type front struct {
	totals totals
	clocks []clock // by interface
	clock  span
	pause  *pause.Timeline
	dcbx   dcbxTable
	rates  rateCounter
	others otherTraffic
}

// clock follows the timestamps of one interface.
type clock struct {
	packets         int64
	first, last     int64 // earliest and latest
	previous        int64
	backward, equal int64
	timeless        int64 // packets without a time
}

// frontResult is the front's part of a snapshot.
type frontResult struct {
	totals totals
	clocks []clock
	pause  pause.TimelineResult
	dcbx   dcbxTable
	rates  rateCounter
	others []otherCounts // by interface
}

func newFront(opt Options) *front {
	return &front{pause: pause.NewTimeline(opt.pause()), others: newOtherTraffic(opt.priorities())}
}

func (f *front) consume(b *block) {
	f.totals.add(&b.totals)
	f.clock.join(b.clock)
	b.tellSpeeds(f.pause)
	for i := range b.recs {
		r := &b.recs[i]
		for int(r.Iface) >= len(f.clocks) {
			f.clocks = append(f.clocks, clock{})
		}
		f.clocks[r.Iface].tick(r)
	}
	for i := range b.pkts {
		f.rates.add(&b.pkts[i], b.start)
		f.others.packet(&b.pkts[i])
	}
	for _, i := range b.control {
		f.pause.Frame(&b.pkts[i])
	}
	for _, i := range b.lldp {
		f.dcbx.frame(&b.pkts[i])
	}
}

func (c *clock) tick(r *Record) {
	if r.Flags&RecordNoTime != 0 {
		c.timeless++
		return
	}
	if c.packets == 0 {
		c.first, c.last = r.Time, r.Time
	} else {
		switch {
		case r.Time < c.previous:
			c.backward++
		case r.Time == c.previous:
			c.equal++
		}
		c.first, c.last = min(c.first, r.Time), max(c.last, r.Time)
	}
	c.previous = r.Time
	c.packets++
}

func (f *front) result(bool) laneResult {
	return laneResult{front: &frontResult{totals: f.totals, clocks: append([]clock(nil), f.clocks...),
		pause: f.pause.Result(f.clock.first, f.clock.last), dcbx: f.dcbx.clone(), rates: f.rates,
		others: f.others.result()}}
}
