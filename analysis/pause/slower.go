package pause

import "rdmascope/decode/pfc"

// Joined is what a row would be on a slower link than the one that was assumed:
// each pause lasts longer there, so pauses that expire before they are refreshed
// join into one.
type Joined struct {
	Bps        uint64 // fastest usual link speed at which they do, 0: they don't
	DurationNS int64  // of the longest that they join into
	StartTime  int64
}

// usualSpeeds below the assumed one, fastest first.
var usualSpeeds = [...]uint64{400e9, 200e9, 100e9, 50e9, 40e9, 25e9, 10e9}

// joined tells from which link speed down a row whose speed is assumed has a
// pause of storm length, where it has none at the assumed speed. Only pauses of
// one frame are looked at: of those that were refreshed the quanta of the last
// frame aren't kept.
func (m *merger) joined(i int) Joined {
	r := &m.tl.rows[i]
	if r.from != SpeedAssumed || r.longest/1000 >= m.tl.opt.DetectNS {
		return Joined{}
	}
	for _, bps := range usualSpeeds {
		if bps >= r.speed {
			continue
		}
		if j := r.longestAt(bps); j.DurationNS >= m.tl.opt.DetectNS {
			return j
		}
	}
	return Joined{}
}

// longestAt finds the longest run of expired pauses that are one at a link
// speed.
func (r *row) longestAt(bps uint64) (best Joined) {
	start := int64(-1)
	for n := r.ring.first(); n < r.ring.next; n++ {
		v := r.ring.get(n)
		if start < 0 {
			start = v.start
		}
		end := v.start + roundNS(v.length())
		last := n+1 == r.ring.next
		// Times at most 2^16 quanta long: no overflow.
		if v.frames == 1 && v.ending == endExpiry && v.length() <= pfc.Quanta(0xffff).Picoseconds(r.speed) {
			end = v.start + roundNS(v.length())*int64(r.speed/1e6)/int64(bps/1e6)
			if !last && r.ring.get(n+1).start <= end {
				continue
			}
		}
		if d := end - start; d > best.DurationNS {
			best = Joined{bps, d, start}
		}
		start = -1
	}
	return best
}
