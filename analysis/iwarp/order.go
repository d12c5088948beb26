package iwarp

// sendOrder tells in which order a sender sent, by the IP identification where
// it counts upward (METRICS §3: checked, never assumed). Senders take it per
// connection (Linux), per destination or at random; GSO raises it by one for
// each segment of a super-frame. SYNs are left out: Linux answers one with
// identification 0, from another counter.
type sendOrder struct {
	have     bool
	last     uint16 // highest so far
	up, wild uint32
}

const (
	nearID  = 4096 // steps of other connections that share the counter, at most
	ratioID = 8    // steps up for each wild one
)

func (o *sendOrder) see(s *segment) {
	if !s.hasID || s.flags&flagSyn != 0 {
		return
	}
	if !o.have {
		o.have, o.last = true, s.ipid
		return
	}
	step := int16(s.ipid - o.last)
	switch {
	case step > 0 && step < nearID:
		o.up++
		o.last = s.ipid
	case step < 0 && step > -nearID: // came late
	default:
		o.wild++
		o.last = s.ipid
	}
}

// usable tells whether the identification gives the order of sending.
func (o *sendOrder) usable() bool { return o.up >= 2 && o.up > ratioID*o.wild }

// opener is the packet that opened a hole.
type opener struct {
	time, number int64
	ipid         uint16
	tsval        uint32
	hasID, hasTS bool
}

func (s *segment) opener() opener {
	return opener{s.time, s.number, s.ipid, s.opt.tsval, s.hasID, s.opt.hasTS}
}

// sentAfter tells whether s was sent after the packet that opened a hole.
// asked: a duplicate ACK or a SACK asked for it meanwhile; sure is false where
// only this decides.
func (o *sendOrder) sentAfter(s *segment, h *opener, asked bool) (after, sure bool) {
	if s.hasID && h.hasID && o.usable() {
		if step := int16(s.ipid - h.ipid); step != 0 {
			return step > 0, true
		}
	}
	if s.opt.hasTS && h.hasTS {
		if step := int32(s.opt.tsval - h.tsval); step != 0 {
			return step > 0, true
		}
	}
	return asked, false
}
