package iwarp

import (
	"rdmascope/decode/iwarp"
)

// origin keeps offsets far from 0, so that what lies before the first octet
// seen has an offset too. Its low 32 bits are 0: an offset's low half is the
// sequence number.
const origin = 1 << 40

// farthest is how far a sequence or acknowledgement number may lie from the
// newest octet: the largest window (RFC 7323 §2.3). What lies beyond is no
// part of the stream.
const farthest = 1 << 30

// direction is the data that one side sends, and what the other one says about
// them: all TCP figures stand at the flow whose data they speak about.
type direction struct {
	c      *conn
	stream *iwarp.Stream

	volume
	marks marks
	order sendOrder

	begun, fromSyn bool
	finAt          uint64 // offset of the FIN, 0 unseen
	first, max     uint64 // offsets of the first octet known and behind the highest seen
	syn            synOptions
	cover          coverage
	sent           sentRing
	resent         ranges

	haveAck         bool
	una             uint64 // highest acknowledgement
	sacked          uint64 // behind the highest octet that a SACK names
	window          uint16 // as advertised last
	haveWindow      bool
	dups            int // duplicate ACKs since una
	sumsGood        bool
	headersGood     bool
	partialSums     int64
	far             uint8 // implausible numbers in a row
	copies          copyRing
	bad             badRing
	after           afterTap
	waiting         waiting
	figures         tcpFigures
	dataSegments    int64
	feedingNumber   int64
	feedingAt       int64
	framing         framing
	reads           readRing // asked for by this side
	messages        messageRing
	holes           holeList
	rtt, ackLatency latency
}

// tcpFigures are plain counts.
type tcpFigures struct {
	copies, networkCopies, badData           int64
	resent, resentOctets, late, likely       int64
	byKind                                   [resendKinds]int64
	spurious, dsacks, dupAcks, zeroWindows   int64
	lostUpstream, lostDownstream, corrupt    int64
	checksumBad, keepalives, implausible     int64
	unseen, lateOctets                       int64 // of holes no longer listed; of octets seen after they were given up
	earlier, rttSkipped                      int64 // earlier: octets seen before a resync
	retiredHoles, ecnCapable, ecnCE, resyncs int64
}

// reuse takes over the slices of a direction that is no longer needed.
func (d *direction) reuse(old *direction) {
	d.sent.at = old.sent.at[:0]
	d.messages.at = old.messages.at[:0]
	d.reads.at = old.reads.at[:0]
	d.waiting.segs = old.waiting.segs[:0]
	d.holes.list = old.holes.list[:0]
	d.cover.holes = old.cover.holes[:0]
	d.after.list = old.after.list[:0]
}

func (d *direction) countPacket(s *segment) {
	d.volume.add(s.wire)
	d.marks.add(s)
	if s.length > 0 {
		d.dataSegments++
	}
	switch s.tos & 3 {
	case 3:
		d.figures.ecnCE++
		fallthrough
	case 1, 2:
		d.figures.ecnCapable++
	}
}

// begin sets the direction's first octet.
func (d *direction) begin(first uint64, s *segment) {
	d.begun, d.first, d.max = true, first, first
	d.stream.Start(first)
	d.cover.before = s.opener()
}

// offset carries a sequence number to 64 bits.
func (d *direction) offset(seq uint32) uint64 {
	return d.max + uint64(int64(int32(seq-uint32(d.max))))
}

// data takes a segment that fills sequence space.
func (d *direction) data(s *segment, b []byte, silent int64) {
	seq := s.seq
	if s.flags&flagSyn != 0 {
		seq++
	}
	if !d.begun {
		d.begin(uint64(seq)|origin, s)
	}
	from := d.offset(seq)
	from0 := from
	to := from + uint64(s.length)
	end := to
	if s.flags&flagFin != 0 {
		end++
	}
	if !d.plausible(from) {
		if from = d.resync(seq, s); from == 0 {
			return
		}
		to, end = from+(to-from0), from+(end-from0)
	}
	if s.length == 1 && end == to && d.haveAck && from+1 == d.max && d.una >= d.max {
		d.figures.keepalives++ // RFC 9293 §3.8.4: an octet sent before, to draw an ACK
		return
	}
	if end > to {
		d.finAt = to
	}
	was := d.max
	got := d.cover.add(d, from, end, s)
	d.max = max(d.max, end)
	resent := d.classify(s, from, end, was, got, silent)
	if s.length > 0 {
		d.payload(s, b, from, to, got, resent)
	}
	d.listFilled()
}

// payload takes a segment's octets.
func (d *direction) payload(s *segment, b []byte, from, to uint64, got coverResult, resent bool) {
	if !d.haveAck || to > d.una {
		d.sent.add(d, sentSegment{from: from, to: to, at: s.time, number: s.number, resent: resent})
	}
	if got.fresh || got.filled > 0 {
		d.deliver(s, b, from)
	}
	if d.c.searched < maxSearched {
		d.c.searched += int(s.length)
	}
}

const maxSearched = 1 << 30

// plausible tells whether an offset can belong to the stream.
func (d *direction) plausible(from uint64) bool {
	if from <= d.max+farthest && from+farthest >= d.max {
		d.far = 0
		return true
	}
	d.figures.implausible++
	return false
}

// resync begins the direction anew where three offsets in a row can't belong to
// the stream: it is the tracker which is wrong then. It returns where the
// direction goes on (a later turn of the numbers, since the framing can't step
// back), or 0.
func (d *direction) resync(seq uint32, s *segment) (from uint64) {
	if d.far++; d.far < 3 {
		return 0
	}
	d.far = 0
	d.figures.resyncs++
	d.flush()
	d.figures.earlier, d.finAt = d.octetsSeen(), 0
	d.figures.unseen += d.cover.drop()
	from = d.max&^(1<<32-1) + 1<<33 | uint64(seq)
	d.sent.at, d.sent.head = d.sent.at[:0], 0
	d.messages.at, d.messages.head = d.messages.at[:0], 0
	d.first, d.max, d.una, d.sacked, d.haveAck, d.dups = from, from, 0, 0, false, 0
	d.after = afterTap{list: d.after.list[:0]}
	d.resent = ranges{}
	d.cover.before = s.opener()
	d.stream.Skip(from, s.time, d)
	return from
}
