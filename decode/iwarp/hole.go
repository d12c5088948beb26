package iwarp

// hole carries the stream over octets that will not come: up to offset to.
func (s *Stream) hole(to uint64, cut bool, h Handler) {
	n := Notice{Kind: NoticeHole, Offset: s.pos, Length: to - s.pos, At: s.seg.at, Cut: cut}
	switch s.phase {
	case atStart:
		h.Notice(s, n)
		s.pos = to
		s.desync(nil, h)
	case inFrame:
		h.Notice(s, n)
		s.frameHole(to, h)
	case inPrivate:
		h.Notice(s, n)
		s.privateHole(to, h)
	case inFPDUs:
		s.hop(to, n, h)
	case searching:
		h.Notice(s, n)
		s.findOverHole(to, h)
	default:
		s.pos = to
	}
}

// hop lets the FPDU in hand lead over the hole.
func (s *Stream) hop(to uint64, n Notice, h Handler) {
	told := s.w.begun
	out := s.w.skip(to, &s.seg)
	n.Bridged = out == outMore || out == outEnded
	h.Notice(s, n)
	if out != outLost && !told {
		s.w.begun = true
		h.BeginFPDU(s, &s.w.f)
	}
	s.pos = to
	switch out {
	case outEnded:
		s.end(h)
	case outLostEnd:
		s.end(h)
		s.desync(nil, h)
	case outLost:
		s.w.next()
		s.desync(nil, h)
	}
}
