package rc

import "rdmascope/decode/roce"

// trouble is the state of a sender that had to do with loss, reordering or a
// receiver that wasn't ready. It is allocated at the first sign of it.
type trouble struct {
	// in capture order
	tap       tapResponder
	sentEnd   roce.PSN // behind the newest request
	maxIPID   uint16
	corrupt   [16]roce.PSN // PSNs of packets with a bad iCRC, newest last
	nCorrupt  int
	rnrTimers [32]uint32
	fatal     bool     // a NAK that ends the connection
	firstNAK  [5]int64 // packet of the first NAK of each code, 0 for none
	firstRNR  int64
	rnrAt     roce.PSN // of the newest RNR NAK
	rnrRow    uint32   // RNR NAKs in a row for it

	// in sending order
	win         []sent // waits for late packets
	head        int
	started     bool
	passed      uint16 // identification of the newest request that left win
	passedAny   bool
	reorders    bool     // packets overtake each other before the tap
	rspReorders bool     // responses overtake each other before the tap
	sawLate     bool     // without identification: late packets exist, so gaps prove no loss
	next        roce.PSN // behind the highest PSN sent
	lastEnd     roce.PSN // behind the last request sent
	lastTime    int64    // of it
	una         roce.PSN // oldest unacknowledged, after the last answer
	lastAny     int64    // of the last packet either way
	holes       []hole

	naks   []nakNote // sequence NAKs that no step back has used
	used   nakNote   // the newest sequence NAK that a step back has used
	usedBy roce.PSN  // … to this PSN
	rnr    nakNote   // newest RNR NAK that no step back has used
	rnrOn  bool

	run      *episode   // the newest step back while its run lasts
	open     []*episode // wait for their verdict or their recovery
	reported []Recovery
	waiting  int // of reported, that haven't recovered
	stats    episodeStats
	final    bool // nothing comes any more
}

// hole is a range of PSNs that the sender sent and that the tap didn't see.
type hole struct {
	span
	time  int64
	asked bool // a NAK for it or for a lower PSN came
	rerun bool // skipped in a resent run
	read  bool // holds a READ that was counted as unseen
}

func (r *requester) troubled() *trouble {
	if r.t == nil {
		r.t = &trouble{next: r.next, una: r.una(), lastEnd: r.next, lastTime: r.lastTime, lastAny: max(r.lastTime, r.answerTime), maxIPID: r.lastIPID, sentEnd: r.next}
		r.f.remember(max(r.maxOutstanding, 32), sightingsTrouble)
	}
	return r.t
}

func (t *trouble) noteCorrupt(psn roce.PSN) {
	t.corrupt[t.nCorrupt%len(t.corrupt)] = psn | 1<<31
	t.nCorrupt++
}

func (t *trouble) isCorrupt(psn roce.PSN) bool {
	if t == nil {
		return false
	}
	for _, p := range t.corrupt {
		if p == psn|1<<31 {
			return true
		}
	}
	return false
}

// retell: the NAK for psn wasn't about a loss behind the tap.
func (t *trouble) retell(psn roce.PSN, verdict lost) {
	for i := range t.naks {
		if n := &t.naks[i]; n.psn == psn && n.verdict == LostDownstream {
			n.verdict = verdict
		}
	}
	for i := t.head; i < len(t.win); i++ {
		if w := &t.win[i]; w.is(sentNAK) && w.nak.psn == psn && w.nak.verdict == LostDownstream {
			w.nak.verdict = verdict
		}
	}
	for _, ep := range t.open {
		if ep.hasNAK && ep.nakPSN == psn && ep.verdict == LostDownstream {
			ep.verdict = verdict
		}
	}
}

// lateArrival: NAKs that asked for this packet were about reordering.
func (t *trouble) lateArrival(r *requester, e *event) {
	s := span{e.psn, e.end()}
	for i := range t.naks {
		if n := &t.naks[i]; n.verdict == LostUpstream && s.has(n.psn) {
			n.verdict = LostReorder
		}
	}
	for i := t.head; i < len(t.win); i++ {
		if w := &t.win[i]; w.is(sentNAK) && w.nak.verdict == LostUpstream && s.has(w.nak.psn) {
			w.nak.verdict = LostReorder
		}
	}
	for _, ep := range t.open {
		if ep.verdict == LostUpstream && ep.hasNAK && s.has(ep.nakPSN) {
			ep.verdict = LostReorder
		}
	}
	if x := &t.tap; x.lastNAK.valid && x.verdict == LostUpstream && s.has(x.lastNAK.psn) {
		x.verdict = LostReorder
	}
}

func (t *trouble) addHole(h hole) {
	if h.len() > 1<<20 {
		return // no gap but another connection
	}
	if len(t.holes) >= maxHoles {
		t.holes = append(t.holes[:0], t.holes[1:]...)
	}
	t.holes = append(t.holes, h)
}

func (t *trouble) holeAt(psn roce.PSN) *hole {
	for i := range t.holes {
		if t.holes[i].has(psn) {
			return &t.holes[i]
		}
	}
	return nil
}

// cut takes s out of hole i.
func (t *trouble) cut(i int, s span) {
	h := t.holes[i]
	right := h
	right.lo = s.hi
	t.holes[i].hi = s.lo
	if t.holes[i].hi.Sub(h.lo) < 0 {
		t.holes[i].hi = h.lo
	}
	if right.hi.Sub(right.lo) > 0 && len(t.holes) < 2*maxHoles {
		t.holes = append(t.holes, right)
	}
	if t.holes[i].empty() {
		t.holes = append(t.holes[:i], t.holes[i+1:]...)
	}
}

// fillHoles: a packet that was sent and not seen is sent again. Had it been
// acknowledged before, the capture missed it; else it was lost before the tap.
func (t *trouble) fillHoles(r *requester, s *sent) {
	for i := 0; i < len(t.holes); i++ {
		h := t.holes[i]
		if !h.overlaps(span{s.psn, s.end}) {
			continue
		}
		if t.run != nil && h.time >= t.run.time {
			continue // opened by this very run: not sent again yet
		}
		t.cut(i, span{s.psn, s.end})
		if s.cov.Sub(s.psn) > 0 {
			if !h.rerun {
				r.count().unseenRequests++
			}
		} else if !h.rerun || t.stats.goBackN >= t.stats.selective {
			r.count().lostUp++ // unless a selective sender left it out
		}
		if t.run != nil {
			t.run.filled = append(t.run.filled, span{s.psn, s.end})
		}
		i--
	}
}

// heal takes a late packet's PSNs out of the holes.
func (t *trouble) heal(s *sent) bool {
	for i := range t.holes {
		if t.holes[i].overlaps(span{s.psn, s.end}) {
			t.cut(i, span{s.psn, s.end})
			return true
		}
	}
	return false
}

// readUnseen: responses in a hole: a READ was sent there, one packet for all
// its PSNs, and came. Several are taken for one.
func (t *trouble) readUnseen(r *requester, s span) {
	for i := 0; i < len(t.holes); i++ {
		h := &t.holes[i]
		if !h.overlaps(s) || h.rerun {
			continue
		}
		if !h.read {
			r.count().unseenRequests++
		}
		h.read = true
		t.cut(i, s)
		return
	}
}

// passedHoles: what is acknowledged and wasn't sent again by then is unseen.
// A skip inside a resent run proves nothing: a selective sender leaves out what
// has arrived.
func (t *trouble) passedHoles(r *requester, una roce.PSN) {
	for i := 0; i < len(t.holes); i++ {
		h := t.holes[i]
		if h.lo.Sub(una) >= 0 {
			continue
		}
		s := h.span
		if s.hi.Sub(una) > 0 {
			s.hi = una
		}
		if !h.rerun {
			r.count().unseenRequests += uint64(s.len())
		}
		t.cut(i, s)
		i--
	}
}

func (t *trouble) clone() *trouble {
	if t == nil {
		return nil
	}
	c := *t
	c.tap = t.tap.clone()
	c.win = append([]sent(nil), t.win...)
	c.holes = append([]hole(nil), t.holes...)
	c.naks = append([]nakNote(nil), t.naks...)
	c.reported = append([]Recovery(nil), t.reported...)
	c.open = make([]*episode, len(t.open))
	c.run = nil
	for i, ep := range t.open {
		x := *ep
		x.filled = append([]span(nil), ep.filled...)
		c.open[i] = &x
		if ep == t.run {
			c.run = c.open[i]
		}
	}
	if t.run != nil && c.run == nil {
		x := *t.run
		c.run = &x
	}
	c.stats = t.stats.clone()
	return &c
}

// rnrSeen counts how often in a row the same request found no receive.
func (t *trouble) rnrSeen(e *event) {
	if t.firstRNR == 0 {
		t.firstRNR = e.num
	}
	if t.rnrRow > 0 && t.rnrAt == e.psn {
		t.rnrRow++
		return
	}
	t.rnrAt, t.rnrRow = e.psn, 1
}
