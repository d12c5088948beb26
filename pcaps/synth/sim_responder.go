package synth

// responder is the receiving half of a queue pair, after rxe's responder
// (PROTOCOLS 1.6).
type responder struct {
	*half
	expected int64
	msn      uint32
	nakSent  bool // once for a gap, until the expected packet comes
	refused  int64
	kept     map[int64]*flight // selective: out of order, waiting

	ackDue   int64 // PSN+1 of the ACK that is being delayed
	answered map[int64]bool
}

func (s *responder) reply(kind Kind, psn int64, p Packet) {
	switch kind {
	case KindACK:
		s.lat.ACKs++
	case KindResponse:
		s.lat.Responses++
		if s.answered == nil {
			s.answered = map[int64]bool{}
		}
		if s.answered[psn] {
			s.lat.Repeated++
		}
		s.answered[psn] = true
	}
	s.w.host[1-s.n].respond(&flight{half: s.half, kind: kind, psn: psn, packet: p})
}

func (s *responder) ack(psn int64) { s.reply(KindACK, psn, ACK(s.wire(psn), s.msn)) }

func (s *responder) receive(f *flight) {
	switch {
	case f.psn < s.expected:
		s.duplicate(f)
	case f.psn > s.expected:
		if s.w.cfg.Scheme == Selective {
			s.kept[f.psn] = f
		}
		s.nak()
	default:
		s.inOrder(f)
	}
}

// nak asks for the expected packet, once. It acknowledges what came before.
func (s *responder) nak() {
	if s.nakSent {
		return
	}
	s.nakSent = true
	s.lat.NAKs++
	s.ackDue = 0
	s.reply(KindNAK, s.expected, NAK(s.wire(s.expected), s.msn, NAKSequence))
}

// inOrder executes the expected packet, and those kept behind it.
func (s *responder) inOrder(f *flight) {
	for f != nil {
		s.nakSent = false
		if !s.execute(f) {
			return
		}
		f = s.kept[s.expected]
		delete(s.kept, s.expected)
	}
	for psn := range s.kept { // only whether there's one matters
		if psn < s.expected {
			delete(s.kept, psn)
		}
	}
	if len(s.kept) > 0 {
		s.nak()
	}
}

// execute does what a packet asks for; false: there was no receive for it.
func (s *responder) execute(f *flight) bool {
	switch op := f.packet.Opcode; op {
	case ReadRequest:
		s.expected += f.span
		s.bump()
		s.read(f)
	case FetchAdd:
		s.expected++
		s.bump()
		s.atomic(f.psn)
	default:
		if s.noReceive(f) {
			return false
		}
		s.expected++
		if op == SendLast || op == SendOnly || op == WriteLast || op == WriteOnly {
			s.bump()
		}
		if f.packet.AckReq {
			s.delayed(f.psn)
		}
	}
	return true
}

func (s *responder) bump() { s.msn = (s.msn + 1) & 0xffffff }

// noReceive refuses the first packet of a SEND with an RNR NAK, never the same
// one twice in a row.
func (s *responder) noReceive(f *flight) bool {
	op := f.packet.Opcode
	if op != SendFirst && op != SendOnly || s.refused == f.psn+1 || s.w.rng.Float64() >= s.w.cfg.RNR {
		return false
	}
	s.refused = f.psn + 1
	s.lat.RNRs++
	s.ackDue = 0
	s.reply(KindNAK, f.psn, RNR(s.wire(f.psn), s.msn, s.w.cfg.RNRTimer))
	return true
}

// delayed acknowledges psn, later if ACKs are merged.
func (s *responder) delayed(psn int64) {
	if s.w.cfg.AckDelay == 0 {
		s.ack(psn)
		return
	}
	running := s.ackDue != 0
	s.ackDue = psn + 1
	if running {
		return
	}
	s.w.after(s.w.cfg.AckDelay, func() {
		if s.ackDue != 0 {
			due := s.ackDue
			s.ackDue = 0
			s.ack(due - 1)
		}
	})
}

// read sends the responses; they acknowledge what came before.
func (s *responder) read(f *flight) {
	s.ackDue = 0
	flow := &s.w.flow[1-s.n]
	data := Pattern(uint32(f.packet.VA>>24), int(f.packet.DMALen))
	for i := range int(f.span) {
		s.reply(KindResponse, f.psn+int64(i), flow.ReadResponse(f.packet.PSN, s.msn, data, i))
	}
}

func (s *responder) atomic(psn int64) {
	s.ackDue = 0
	s.reply(KindResponse, psn, AtomicResponse(s.wire(psn), s.msn, uint64(psn)))
}

// duplicate answers a repeated request: READs are executed again, atomics
// replayed, everything else acknowledged with the newest PSN (IBTA 9.7.5.1.5).
func (s *responder) duplicate(f *flight) {
	s.lat.Duplicates++
	switch f.packet.Opcode {
	case ReadRequest:
		s.read(f)
	case FetchAdd:
		s.atomic(f.psn)
	default:
		s.ackDue = 0
		s.ack(s.expected - 1)
	}
}
