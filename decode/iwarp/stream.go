package iwarp

// role is the side that sends a stream.
type role uint8

const (
	roleUnknown role = iota
	roleInitiator
	roleResponder
)

// phase is what a Stream does with the next octet.
type phase uint8

const (
	// atStart: a start-up frame may begin here.
	atStart phase = iota
	// inFrame: the octets of one are being gathered.
	inFrame
	// inPrivate: a hole took private data; its length leads to the FPDUs.
	inPrivate
	inFPDUs
	searching
	// afterReject: the connection is no RDMA stream and never will be.
	afterReject
)

// Stream follows one direction of a TCP connection. It belongs to a Pair.
type Stream struct {
	pair    *Pair
	started bool
	phase   phase
	role    role
	// markersFailed: no marker stood where the RFC puts it, so that its
	// positions aren't trusted again.
	markersFailed bool
	haveS0        bool
	pos           uint64 // offset of the next octet
	s0            uint64 // offset of full operation's first octet
	lostAt        uint64 // where the search began
	seg           segment
	frame         []byte // a start-up frame in pieces, else nil
	frameAt       uint64

	w       walker
	context tagged
	search  *searcher         // while searching, and only with candidates alive
	tail    [2 * tailMax]byte // the last octets, and while scanning the next ones
	tailLen uint8
	starts  uint8 // candidates begun in this segment

	locked bool
	idle   uint64 // octets seen since the framing was last known
}

// Synchronised tells whether the next FPDU's place is known.
func (s *Stream) Synchronised() bool { return s.phase == inFPDUs }

// Handshake tells whether this direction's start-up frame was seen.
func (s *Stream) Handshake() bool { return s.role != roleUnknown }

// Unframed is the number of octets since the framing was last known. Of a
// stream that never locked it is all: a caller gives up on it by this count.
func (s *Stream) Unframed() uint64 { return s.idle }

// Locked tells whether an FPDU was ever found.
func (s *Stream) Locked() bool { return s.locked }

// Next is the offset of the next octet wanted.
func (s *Stream) Next() uint64 { return s.pos }

// Markers tells whether markers are agreed for this direction, and whether
// that is known.
func (s *Stream) Markers() (agreed, known bool) { return s.pair.markersOf(s.role) }

// Pair is the connection.
func (s *Stream) Pair() *Pair { return s.pair }

// Start tells the offset of the direction's first octet (behind the SYN), so
// that octets missing there are seen as a hole. Without it the first segment
// fed is taken for the first.
func (s *Stream) Start(offset uint64) {
	if !s.started {
		s.started, s.pos = true, offset
	}
}

// Feed takes the next segment. Octets before Next are dropped, a segment
// beyond it announces a hole.
func (s *Stream) Feed(g Segment, h Handler) {
	end := g.Offset + uint64(max(g.Wire, len(g.Payload)))
	s.Start(g.Offset)
	if end <= s.pos {
		return
	}
	if g.Offset > s.pos {
		s.seg = segment{start: s.pos, end: 0, at: g.At}
		s.hole(g.Offset, false, h)
	}
	b := g.Payload[min(s.pos-g.Offset, uint64(len(g.Payload))):]
	s.seg = segment{start: g.Offset, end: end, at: g.At}
	s.starts = 0
	if s.phase == inFPDUs && s.w.have > 0 {
		s.w.f.touch()
	}
	s.consume(b, h)
	if s.pos < end {
		s.hole(end, true, h)
	}
}

// Skip announces that the octets up to offset will never come.
func (s *Stream) Skip(offset uint64, at int64, h Handler) {
	if s.started && offset > s.pos {
		s.seg = segment{start: s.pos, at: at}
		s.hole(offset, false, h)
	}
}

// Close ends the stream: what a search holds is let go. Candidates that had
// not gathered enough evidence were, by the rule, no FPDUs.
func (s *Stream) Close() {
	s.search.release()
	s.search, s.frame = nil, nil
}

func (f *FPDU) touch() {
	if f.Segments < 0xffff {
		f.Segments++
	}
}

// consume takes the octets that stand at s.pos. Every turn of the loop takes
// octets or changes to a phase that does.
func (s *Stream) consume(b []byte, h Handler) {
	if s.pair.rejected && s.phase != afterReject {
		s.endSearch()
		s.phase = afterReject
	}
	for len(b) > 0 {
		n := 0
		switch s.phase {
		case atStart, inFrame:
			n = s.handshake(b, h)
		case inPrivate:
			n = s.skipPrivate(b)
		case inFPDUs:
			n = s.follow(b, h)
		case searching:
			n = s.find(b, h)
		default:
			s.pos += uint64(len(b))
			s.idle += uint64(len(b))
			return
		}
		b = b[n:]
	}
}

// follow walks FPDUs whose place is known.
func (s *Stream) follow(b []byte, h Handler) (used int) {
	base := s.pos
	for used < len(b) {
		if s.w.have == 0 {
			s.prepare()
		}
		n, out := s.w.step(b[used:], &s.seg)
		used += n
		s.pos = s.w.pos
		switch out {
		case outMore:
			return used
		case outBegun:
			h.BeginFPDU(s, &s.w.f)
		case outEnded:
			s.end(h)
		case outOddMarker:
			s.marker(h)
		case outBadMarker:
			s.marker(h)
			s.markersFailed = true
			return s.lose(base, ErrMarker, h)
		default:
			return s.lose(base, s.w.err, h)
		}
	}
	return used
}

// prepare settles, at an FPDU's border, what the other direction may have told
// since.
func (s *Stream) prepare() {
	s.w.crcOn = s.pair.CRCMode() != CRCOff
	if s.w.m.mode == markersLearn {
		s.w.m = s.agreedMarkers()
	}
}

// agreedMarkers is the marker mode by the handshake.
func (s *Stream) agreedMarkers() markers {
	agreed, known := s.Markers()
	switch {
	case known && !agreed:
		return markers{mode: markersOff}
	case known && s.haveS0 && !s.markersFailed:
		return markers{mode: markersOn, phase: uint16(s.s0 & (MarkerPeriod - 1))}
	}
	return markers{mode: markersLearn}
}

// end tells the end of the FPDU in hand.
func (s *Stream) end(h Handler) {
	s.settle(&s.w.f)
	h.EndFPDU(s, &s.w.f)
	s.w.next()
}

// settle gives an ended FPDU its verdict.
func (s *Stream) settle(f *FPDU) {
	if f.noHole {
		s.pair.learnCRC(f)
	}
	f.CRC = s.pair.crcState(f)
	s.context.learn(f)
	s.locked, s.idle = true, 0
}

func (s *Stream) marker(h Handler) {
	h.Notice(s, Notice{Kind: NoticeMarker, Offset: s.w.pos - MarkerLen, At: s.seg.at, Want: s.w.wanted, Got: s.w.marker})
}

// lose gives the place up and goes back, within the octets of this segment, to
// where an FPDU may be found again: a wrong header is looked at one octet on,
// an FPDU broken by a marker from its own start. It returns how many octets
// count as used.
func (s *Stream) lose(base uint64, err error, h Handler) (used int) {
	from := s.w.f.Start
	if err != ErrMarker {
		from++
	} else if s.w.have == 0 {
		from = s.w.pos - MarkerLen // the marker that is none may be a header
	}
	from = max(from, base)
	s.abort(h)
	s.pos = from
	s.desync(err, h)
	return int(from - base)
}

// abort ends an FPDU that was told to have begun.
func (s *Stream) abort(h Handler) {
	if s.w.begun {
		s.w.f.State, s.w.f.CRC, s.w.f.EndAt = Aborted, CRCUnchecked, s.seg.at
		h.EndFPDU(s, &s.w.f)
	}
	s.w.next()
}

// desync starts a search at s.pos.
func (s *Stream) desync(err error, h Handler) {
	s.phase, s.lostAt, s.tailLen = searching, s.pos, 0
	h.Notice(s, Notice{Kind: NoticeDesync, Offset: s.pos, At: s.seg.at, Err: err})
}
