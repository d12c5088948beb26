package iwarp

import "sync"

const (
	controlEnd = LengthLen + 2  // octets that possible looks at
	tailMax    = controlEnd - 1 // the most that are too few for it

	// maxCandidates live at a time. True FPDUs end within a segment or two and
	// soon prove themselves; a chance header in random octets (one in 2¹⁴
	// places) may claim 64 KiB, so about two of those are alive in noise.
	maxCandidates = 6
	// maxStarts bounds the work that hostile octets can ask for: walks begun
	// in one segment.
	maxStarts = 48
	// maxRecords: every FPDU of a candidate is worth 1 at least, so that it
	// locks or dies before it has ended more than this.
	maxRecords = evidenceLock
)

// noOffset is no stream's offset.
const noOffset = ^uint64(0)

// candidate is one walk that gathers evidence.
type candidate struct {
	w       walker
	alive   bool
	score   int
	first   uint64 // where its first FPDU begins
	context tagged
	n       int
	rec     [maxRecords]FPDU // its FPDUs that have ended, told when it locks
}

// searcher is a search's state between segments: taken from a pool while
// candidates are alive, so that a stream that is in step, or shows nothing
// like an FPDU, holds none.
type searcher struct {
	c       [maxCandidates]candidate
	scratch candidate
}

var searchers = sync.Pool{New: func() any { return new(searcher) }}

func (sr *searcher) release() {
	if sr == nil {
		return
	}
	for i := range sr.c {
		sr.c[i].alive = false
	}
	searchers.Put(sr)
}

func (sr *searcher) empty() bool {
	for i := range sr.c {
		if sr.c[i].alive {
			return false
		}
	}
	return true
}

// startsAt tells whether a live candidate already takes pos for an FPDU's
// start.
func (sr *searcher) startsAt(pos uint64) bool {
	for i := range sr.c {
		c := &sr.c[i]
		if !c.alive {
			continue
		}
		if c.w.have > 0 && c.w.f.Start == pos || c.w.have == 0 && c.w.pos == pos {
			return true
		}
		for k := range c.n {
			if c.rec[k].Start == pos {
				return true
			}
		}
	}
	return false
}

// keep gives the scratch candidate a slot: a free one, else that of the worst,
// if it is worse. Better is more evidence, then a nearer next proof.
func (sr *searcher) keep() {
	worst := &sr.c[0]
	for i := range sr.c {
		c := &sr.c[i]
		if !c.alive {
			*c = sr.scratch
			return
		}
		if worse(c, worst) {
			worst = c
		}
	}
	if worse(worst, &sr.scratch) {
		*worst = sr.scratch
	}
}

func worse(a, b *candidate) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.w.total-a.w.have > b.w.total-b.w.have
}

// find searches b, which stands at s.pos. It returns how many octets are used:
// all, or those up to where a candidate locked on.
func (s *Stream) find(b []byte, h Handler) int {
	atStartOfSegment := s.seg.start == s.pos
	if atStartOfSegment && !s.haveS0 && !s.locked && matchKey(b) == keyWhole {
		s.endSearch()
		s.phase = atStart
		return 0
	}
	base := s.pos
	if s.search != nil {
		for i := range s.search.c {
			c := &s.search.c[i]
			if c.alive && s.walk(c, b) {
				return s.lock(c, base, h)
			}
		}
	}
	if c := s.scan(b, atStartOfSegment); c != nil {
		return s.lock(c, base, h)
	}
	s.keepTail(b)
	s.pos += uint64(len(b))
	s.idle += uint64(len(b))
	if s.search != nil && s.search.empty() {
		s.endSearch()
	}
	return len(b)
}

// scan tries the segment's start, then the places whose control octets began in
// the last segment, then every octet. It returns a candidate that locked on.
func (s *Stream) scan(b []byte, startFirst bool) *candidate {
	if startFirst && s.try(b, 0) {
		return &s.search.scratch
	}
	// Places in the tail: the few octets on both sides of the border in one.
	t := int(s.tailLen)
	k := t + copy(s.tail[t:t+tailMax], b)
	for i := range t {
		if i+controlEnd <= k && possible(s.tail[i:]) && s.start(s.tail[i:t], b, s.pos-uint64(t-i)) {
			return &s.search.scratch
		}
	}
	first := 0
	if startFirst {
		first = 1
	}
	for i := first; i+controlEnd <= len(b); i++ {
		if b[i+3]&0xf0 == 0x40 && s.try(b, i) {
			return &s.search.scratch
		}
	}
	return nil
}

func (s *Stream) try(b []byte, i int) bool {
	b = b[i:]
	return len(b) >= controlEnd && possible(b) && s.start(nil, b, s.pos+uint64(i))
}

// start begins a candidate at pos, whose octets are head and then b. It returns
// whether the candidate locked on; if not but alive, it is kept.
func (s *Stream) start(head, b []byte, pos uint64) bool {
	if s.starts >= maxStarts {
		return false
	}
	if s.search != nil && s.search.startsAt(pos) {
		return false
	}
	s.starts++
	if s.search == nil {
		s.search = searchers.Get().(*searcher)
	}
	c := &s.search.scratch
	if !s.ready(c, head, b, pos) {
		return false
	}
	if len(head) > 0 {
		seg := segment{start: noOffset, end: s.seg.start, at: s.seg.at}
		if s.walkIn(c, head, &seg) || !c.alive {
			return false
		}
		c.w.f.touch()
	}
	if s.walkIn(c, b, &s.seg) {
		return true
	}
	if c.alive {
		s.search.keep()
	}
	return false
}

// zeroMarkerCRC is the CRC of a marker with pointer 0.
var zeroMarkerCRC = CRC32C(make([]byte, MarkerLen))

// ready sets a candidate up at pos and finds out which markers it believes in.
func (s *Stream) ready(c *candidate, head, b []byte, pos uint64) bool {
	c.alive, c.score, c.first, c.n = true, 0, pos, 0
	c.context = s.context
	c.w.next()
	c.w.pos, c.w.crcOn = pos, true
	c.w.m = s.agreedMarkers()
	if c.w.m.mode == markersLearn && len(head) == 0 {
		total := FPDULen(uint16(b[0])<<8 | uint16(b[1]))
		if at, ok := pointerTo(b, 0, total); ok {
			c.w.m = markers{mode: markersOn, phase: uint16((pos + uint64(at)) & (MarkerPeriod - 1))}
		}
	}
	if c.w.m.mode != markersOn {
		return true
	}
	if c.w.m.inMarker(pos) {
		return false // an FPDU never starts within a marker
	}
	if c.w.m.index(pos) == MarkerLen {
		// A marker goes before: its octets are known by what they must be.
		c.w.lead, c.w.crc = true, zeroMarkerCRC
	}
	return true
}

// walk lets a live candidate go on through a new segment.
func (s *Stream) walk(c *candidate, b []byte) (locked bool) {
	if c.w.have > 0 {
		c.w.f.touch()
	}
	return s.walkIn(c, b[c.w.pos-s.pos:], &s.seg)
}

func (s *Stream) walkIn(c *candidate, b []byte, seg *segment) (locked bool) {
	for len(b) > 0 {
		n, out := c.w.step(b, seg)
		b = b[n:]
		switch out {
		case outMore:
			return false
		case outBegun:
			s.weighHeader(c)
		case outEnded:
			s.weighEnd(c)
		default:
			c.alive = false
		}
		if !c.alive {
			return false
		}
		if c.score >= evidenceLock {
			return true
		}
	}
	return false
}

func (s *Stream) weighHeader(c *candidate) {
	n, ok := headerEvidence(&c.w.f, &c.context)
	c.alive = ok
	c.score += n
}

func (s *Stream) weighEnd(c *candidate) {
	f := &c.w.f
	n, wrong := endEvidence(f)
	if wrong && s.pair.CRCMode() == CRCOn || c.n == len(c.rec) {
		c.alive = false
		return
	}
	c.score += n
	c.context.follow(f)
	c.rec[c.n] = *f
	c.n++
	c.w.next()
}

// lock makes a candidate the stream's framing and tells, in arrears, what it
// has found. It returns how many octets from base on are used.
func (s *Stream) lock(c *candidate, base uint64, h Handler) int {
	c.alive = false
	s.phase = inFPDUs
	s.w = c.w
	s.pos = c.w.pos
	h.Notice(s, Notice{Kind: NoticeLock, Offset: c.first, Length: c.first - min(s.lostAt, c.first), At: s.seg.at})
	for i := range c.n {
		f := &c.rec[i]
		f.Recovered = true
		h.BeginFPDU(s, f)
		s.settle(f)
		h.EndFPDU(s, f)
	}
	if s.w.begun {
		s.w.f.Recovered = true
		h.BeginFPDU(s, &s.w.f)
	}
	s.locked, s.idle = true, 0
	s.endSearch()
	return int(s.pos - base)
}

func (s *Stream) endSearch() {
	s.search.release()
	s.search, s.tailLen = nil, 0
}

// keepTail keeps the last octets, too few to hold an FPDU's control octets.
func (s *Stream) keepTail(b []byte) {
	if len(b) >= tailMax {
		s.tailLen = uint8(copy(s.tail[:], b[len(b)-tailMax:]))
		return
	}
	drop := max(0, int(s.tailLen)+len(b)-tailMax)
	n := copy(s.tail[:], s.tail[drop:s.tailLen])
	s.tailLen = uint8(n + copy(s.tail[n:], b))
}

// findOverHole lets candidates' lengths lead over a hole.
func (s *Stream) findOverHole(to uint64, h Handler) {
	base := s.pos
	s.pos, s.tailLen = to, 0
	s.idle += to - base
	if s.search == nil {
		return
	}
	for i := range s.search.c {
		c := &s.search.c[i]
		if !c.alive {
			continue
		}
		switch c.w.skip(to, &s.seg) {
		case outMore:
			c.alive = !c.w.f.HeaderCut
		case outEnded:
			c.alive = !c.w.f.HeaderCut
			if c.alive {
				s.weighEnd(c)
			}
		default:
			c.alive = false
		}
		if c.alive && c.score >= evidenceLock {
			s.lock(c, base, h)
			return
		}
	}
	if s.search.empty() {
		s.endSearch()
	}
}
