package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// handshake takes octets of a start-up frame. A frame within one segment is
// read where it stands; one in pieces is gathered, at most MPAMaxLen octets.
func (s *Stream) handshake(b []byte, h Handler) int {
	if s.phase == atStart {
		switch matchKey(b) {
		case keyNone:
			s.desync(ErrKey, h)
			return 0
		case keyWhole:
			if n := frameLen(b); n > 0 && n <= len(b) {
				s.frameAt = s.pos
				s.pos += uint64(n)
				s.gotFrame(b[:n], h)
				return n
			}
		}
		s.phase, s.frameAt = inFrame, s.pos
		s.frame = make([]byte, 0, MPAMaxLen)
	}
	return s.gather(b, h)
}

// frameLen is the length of the start-up frame at b, of one too long to be
// valid its header's, or 0 when b is too short to tell.
func frameLen(b []byte) int {
	if len(b) < MPAHeaderLen {
		return 0
	}
	n := int(binary.BigEndian.Uint16(b[18:]))
	if n > MPAMaxPrivate {
		return MPAHeaderLen
	}
	return MPAHeaderLen + n
}

func (s *Stream) gather(b []byte, h Handler) (used int) {
	for used < len(b) {
		want := MPAKeyLen
		if len(s.frame) >= MPAKeyLen {
			want = max(MPAHeaderLen, frameLen(s.frame))
		}
		k := min(want-len(s.frame), len(b)-used)
		s.frame = append(s.frame, b[used:used+k]...)
		used += k
		s.pos += uint64(k)
		if matchKey(s.frame) == keyNone {
			return s.ungather(used, h)
		}
		if n := frameLen(s.frame); n > 0 && len(s.frame) == n {
			frame := s.frame
			s.frame = nil
			s.gotFrame(frame, h)
			return used
		}
	}
	return used
}

// ungather gives back octets that turned out to be no start-up frame: those of
// earlier segments (fewer than a key's) are searched here, the rest by the
// caller's loop.
func (s *Stream) ungather(used int, h Handler) int {
	held := s.frame[:len(s.frame)-used]
	s.frame = nil
	s.pos = s.frameAt
	s.desync(ErrKey, h)
	if len(held) > 0 {
		seg := s.seg
		s.seg = segment{start: s.pos, end: seg.start, at: seg.at}
		s.find(held, h)
		s.seg = seg
	}
	return 0
}

// gotFrame takes a whole start-up frame; s.pos stands behind it.
func (s *Stream) gotFrame(b []byte, h Handler) {
	m := new(MPAFrame) // once in a direction's life; h may not keep it
	err := m.DecodeFromBytes(b, gopacket.NilDecodeFeedback)
	s.tellFrame(m, err, h)
	if err != nil && err != ErrLength {
		s.desync(err, h)
		return
	}
	s.startFPDUs(s.pos)
}

func (s *Stream) tellFrame(m *MPAFrame, err error, h Handler) {
	s.role = roleInitiator
	if m.Reply {
		s.role = roleResponder
	}
	if err != ErrPrivate {
		s.pair.note(m)
	}
	h.MPA(s, s.frameAt, m, err)
}

// startFPDUs begins full operation at offset s0.
func (s *Stream) startFPDUs(s0 uint64) {
	s.haveS0, s.s0, s.idle = true, s0, 0
	s.w.next()
	s.w.pos = s0
	s.w.m = markers{mode: markersLearn} // prepare settles it
	s.phase = inFPDUs
	if s.pair.rejected {
		s.phase = afterReject
	}
}

// frameHole: a hole inside a start-up frame. With its header seen the frame
// counts, and its length leads to the first FPDU.
func (s *Stream) frameHole(to uint64, h Handler) {
	frame := s.frame
	s.frame = nil
	if len(frame) < MPAHeaderLen {
		s.pos = to
		s.desync(nil, h)
		return
	}
	m := new(MPAFrame)
	err := m.DecodeFromBytes(frame, gopacket.NilDecodeFeedback)
	s.tellFrame(m, err, h)
	s.haveS0, s.s0 = true, s.frameAt+uint64(m.Len())
	s.phase = inPrivate
	s.privateHole(to, h)
}

func (s *Stream) privateHole(to uint64, h Handler) {
	s.pos = to
	switch {
	case to == s.s0:
		s.startFPDUs(s.s0)
	case to > s.s0:
		s.desync(nil, h)
	}
}

// skipPrivate passes private data whose begin was lost.
func (s *Stream) skipPrivate(b []byte) int {
	n := int(min(uint64(len(b)), s.s0-s.pos))
	s.pos += uint64(n)
	if s.pos == s.s0 {
		s.startFPDUs(s.s0)
	}
	return n
}
