package iwarp

// Age closes the connections that have been silent since before a time and lets
// their state go; those that proved to be iWARP are returned, by first packet,
// and are in no later result. Should one speak again it begins anew, as one
// caught in mid-stream. Connections that are no iWARP are dated to about a
// second.
//
// In a capture without end somebody has to call it now and then: only the caps
// bound what a tracker remembers.
func (t *Tracker) Age(before int64) []*Connection {
	var gone []*Connection
	kept := t.closed[:0]
	for _, c := range t.closed {
		if c.lastTime >= before {
			kept = append(kept, c)
			continue
		}
		gone = append(gone, c.figures(t.now))
		t.proved--
		t.recycle(c)
	}
	clear(t.closed[len(kept):])
	t.closed = kept
	limit := coarsely(before)
	for i := range t.table.entries {
		e := &t.table.entries[i]
		switch e.stage {
		case pending, plain:
			if e.seen < limit {
				t.forget(e)
			}
		case candidate, proved:
			if c := t.conns[e.at]; c.lastTime < before {
				if r := t.close(e, c); r != nil {
					gone = append(gone, r)
				}
			}
		}
	}
	sortConnections(gone)
	return gone
}

// close ends a candidate or an iWARP connection, and returns the figures of the
// latter. What waits behind holes is read as far as it goes, which may prove a
// candidate.
func (t *Tracker) close(e *entry, c *conn) *Connection {
	c.finish()
	t.judge(e, c)
	switch e.stage {
	case candidate:
		t.forget(e)
	case proved:
		r := c.figures(t.now)
		t.proved--
		t.release(e.at)
		e.stage = plain
		t.table.remove(e)
		t.recycle(c)
		return r
	case plain: // judged to be no iWARP
		t.forget(e)
	}
	return nil
}
