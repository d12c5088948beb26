package live

import "math"

// collect takes frames into buf and recs until the block is full or nothing
// more may be taken now; or it lends what is left of one ring's block, whose
// bytes then stand in the place of buf. waiting tells that frames are there, but
// have to wait for other rings.
//
// Frames of several rings can't be lent together, so where rings take turns
// within a block of theirs it is copied.
func (s *Source) collect(now int64, buf []byte, recs []Record) (_ []byte, _ []Record, waiting bool) {
	if len(s.rings) == 1 {
		for r := s.rings[0]; !full(buf, recs) && r.ready(now); {
			var done bool
			if buf, recs, done = s.run(r, math.MaxInt64, buf, recs); done {
				break
			}
		}
		return buf, recs, false
	}
	for !full(buf, recs) {
		r, until, open := s.oldest(now)
		if r == nil {
			return buf, recs, false
		}
		if !open {
			return buf, recs, true
		}
		var done bool
		if buf, recs, done = s.run(r, until, buf, recs); done {
			break
		}
	}
	return buf, recs, false
}

func full(buf []byte, recs []Record) bool { return len(recs) >= maxRecords || len(buf) >= blockBytes }

// run takes frames of a ring's block that are no younger than until. It is done
// when no others can be put behind them.
func (s *Source) run(r *ring, until int64, buf []byte, recs []Record) (_ []byte, _ []Record, done bool) {
	if r.lendable(until) {
		if len(recs) > 0 {
			return buf, recs, true // it is the next block's turn
		}
		lent, list := r.lend(recs, until)
		if len(list) == 0 {
			return buf, recs, false
		}
		s.keep(buf)
		return lent, list, true
	}
	buf = s.room(buf)
	for !full(buf, recs) && r.left > 0 && r.time <= until {
		buf, recs = r.take(buf, recs)
	}
	return buf, recs, false
}

// oldest finds the ring whose next frame is the oldest, and up to which time
// it may go on before another's turn. It is open when the frame needs to wait
// no longer: every other ring shows its own next frame, or has had the time
// to show what is older; or when some ring fills up.
//
// All frames of a block are older than the moment at which it was seen ready.
// What another ring took before that moment it shows within lag.
func (s *Source) oldest(now int64) (best *ring, until int64, open bool) {
	until, open = math.MaxInt64, true
	filling := false
	for _, r := range s.rings {
		if !r.ready(now) {
			open = false
			continue
		}
		filling = filling || r.filling()
		switch {
		case best == nil:
			best = r
		case r.time < best.time:
			best, until = r, best.time
		case r.time < until:
			until = r.time
		}
	}
	if best != nil && !open {
		open = filling || s.drained != 0 && now >= s.drained || now-best.readyNS >= int64(lag)
	}
	return best, until, open
}
