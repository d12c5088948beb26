package iwarp

// ChunksUsed tells how much of the memory for waiting payload is taken, Chunks
// how much was ever allocated.
func (t *Tracker) ChunksUsed() int { return t.pool.used }
func (t *Tracker) Chunks() int     { return len(t.pool.chunks) }

// Bounded tells whether every list of every connection is within its cap.
func (t *Tracker) Bounded() bool {
	ok := len(t.table.entries) <= t.opt.Entries+1 && len(t.candidates) <= t.opt.Candidates && t.logs.used() <= t.opt.Pending
	for _, c := range t.conns {
		if c == nil {
			continue
		}
		for i := range c.dir {
			d := &c.dir[i]
			ok = ok && len(d.cover.holes) <= 2*maxHoles && len(d.after.list) <= maxAfterTap && d.sent.len() <= maxSent &&
				len(d.messages.at)-d.messages.head <= maxMessages && len(d.reads.at)-d.reads.head <= maxReads &&
				len(d.waiting.segs) <= maxWaiting+len(d.bad.at) && len(d.holes.list) <= t.opt.Holes &&
				d.waiting.octets <= t.opt.StreamBuffer+len(d.bad.at)*longestKept
		}
	}
	return ok
}

// Known is how many connections the table has, in whatever stage.
func (t *Tracker) Known() int { return len(t.table.entries) - len(t.table.free) }
