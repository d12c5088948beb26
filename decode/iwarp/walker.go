package iwarp

import (
	"encoding/binary"
	"hash/crc32"
)

// segment is what a walker has to know of the TCP segment in hand.
type segment struct {
	start, end uint64 // stream offsets on the wire
	at         int64
}

// outcome is why a walker stopped.
type outcome uint8

const (
	outMore      outcome = iota // the octets are used up
	outBegun                    // the header of an FPDU is complete
	outEnded                    // an FPDU is complete
	outBadHeader                // what stands here can't be an FPDU
	outBadMarker                // no marker stands where one must
	outOddMarker                // a marker stands here, its pointer is wrong
	outLost                     // a hole took the place of the next length field
	outLostEnd                  // a hole took the FPDU's end and what follows
)

type stage uint8

const (
	inLength  stage = iota // ULPDU_Length
	inControl              // DDP and RDMAP control octets
	inHeader               // the rest of the headers
	inBody
)

// walker follows FPDUs through in-order octets. It keeps the head of the FPDU
// in hand, a running CRC and counts, nothing else.
type walker struct {
	pos     uint64 // offset of the next octet
	f       FPDU
	have    uint32 // octets of f so far, markers not counted
	total   uint32 // its length, 0 until known
	stop    uint32 // have at which the stage ends
	stage   stage
	begun   bool // outBegun was given for f
	crcOn   bool
	crc     uint32
	crcTail [CRCLen]byte

	m        markers
	mark     [MarkerLen]byte // the marker in hand
	markSeen uint8           // which of its octets were seen
	lead     bool            // the last four octets were a marker before an FPDU

	err    error  // why: with outBadHeader
	marker uint32 // what stood there: with outBadMarker and outOddMarker
	wanted uint32
}

// next makes the walker stand before an FPDU.
func (w *walker) next() {
	w.f.clear()
	w.have, w.total, w.stop, w.stage = 0, 0, LengthLen, inLength
	w.begun, w.lead, w.markSeen = false, false, 0
}

// step walks through b until something is worth telling, and returns how many
// octets it took. Each call either takes octets or ends an FPDU, so that a
// caller's loop ends.
func (w *walker) step(b []byte, seg *segment) (n int, out outcome) {
	for n < len(b) {
		if w.m.inMarker(w.pos) {
			k, out := w.takeMarker(b[n:])
			n += k
			if out != outMore {
				return n, out
			}
			continue
		}
		if w.have == 0 {
			w.begin(seg)
		}
		k := min(len(b)-n, w.m.run(w.pos), int(w.stop-w.have))
		w.take(b[n : n+k])
		n += k
		if w.have < w.stop {
			continue
		}
		if out := w.reached(seg); out != outMore {
			return n, out
		}
	}
	return n, outMore
}

func (w *walker) begin(seg *segment) {
	w.f.Start, w.f.At, w.f.Segments = w.pos, seg.at, 1
	w.f.AtSegmentStart = w.pos == seg.start
	if w.lead {
		w.f.leadMarker, w.f.Markers = true, 1
		w.f.AtSegmentStart = w.f.AtSegmentStart || w.pos-MarkerLen == seg.start
		return // w.crc holds the marker
	}
	w.crc = 0
}

// take counts in octets of the FPDU that hold no marker and don't pass stop.
func (w *walker) take(b []byte) {
	if uint32(w.f.headLen) == w.have {
		w.f.headLen += uint8(copy(w.f.head[w.f.headLen:], b))
	}
	covered := w.total - CRCLen
	if w.total == 0 || w.have+uint32(len(b)) <= covered {
		w.sum(b)
	} else {
		if w.have < covered {
			w.sum(b[:covered-w.have])
		}
		// b ends within the CRC: of a long FPDU only its last octets matter here.
		from := max(w.have, covered)
		copy(w.crcTail[from-covered:], b[from-w.have:])
	}
	w.have += uint32(len(b))
	w.pos += uint64(len(b))
}

func (w *walker) sum(b []byte) {
	if w.crcOn {
		w.crc = crc32.Update(w.crc, castagnoli, b)
	}
}

// reached acts on the end of a stage.
func (w *walker) reached(seg *segment) outcome {
	switch w.stage {
	case inLength:
		return w.reachedLength()
	case inControl:
		return w.reachedControl()
	case inHeader:
		if err := w.f.DDP.decode(w.f.head[LengthLen:w.f.headLen]); err != nil {
			return w.bad(err)
		}
		w.f.DDP.contents, w.f.DDP.payload = nil, nil // they alias the head
		return w.enterBody()
	}
	w.finish(seg)
	return outEnded
}

func (w *walker) bad(err error) outcome {
	w.err = err
	return outBadHeader
}

func (w *walker) reachedLength() outcome {
	w.f.ULPDULength = binary.BigEndian.Uint16(w.f.head[:])
	w.stage, w.stop = inControl, LengthLen+2
	if w.f.ULPDULength < TaggedLen {
		if w.f.ULPDULength == 0 && w.m.mode == markersLearn {
			return outMore
		}
		return w.bad(ErrLength)
	}
	w.total = uint32(FPDULen(w.f.ULPDULength))
	return outMore
}

func (w *walker) reachedControl() outcome {
	if w.total == 0 { // markersLearn, and the length is 0
		if w.f.head[2]|w.f.head[3] != 0 {
			return w.bad(ErrLength)
		}
		w.m = markers{mode: markersOn, phase: uint16(w.f.Start & (MarkerPeriod - 1))}
		w.next()
		w.lead = true
		w.crc = CRC32C(w.f.head[:MarkerLen])
		return outMore
	}
	if err := w.f.DDP.decodeControl(w.f.head[2], w.f.head[3]); err != nil {
		return w.bad(err)
	}
	if err := checkLength(w.f.DDP.Opcode, w.f.ULPDULength); err != nil {
		return w.bad(err)
	}
	w.stage, w.stop = inHeader, uint32(LengthLen+w.f.DDP.Opcode.HeaderLen())
	return outMore
}

func (w *walker) enterBody() outcome {
	w.stage, w.stop, w.begun = inBody, w.total, true
	w.f.End = w.m.end(w.f.Start, uint64(w.total))
	if qn, ok := w.f.DDP.Opcode.Queue(); ok && !w.f.HeaderCut && qn != w.f.DDP.QN {
		w.f.Odd = ErrQueue
	}
	return outBegun
}

func (w *walker) finish(seg *segment) {
	w.f.End, w.f.EndAt = w.pos, seg.at
	w.f.EndsSegment = w.pos == seg.end
	if !w.f.noHole {
		w.f.State = Partial
		return
	}
	w.f.CRCField = binary.LittleEndian.Uint32(w.crcTail[:])
	w.f.verified = w.crcOn && w.crc == w.f.CRCField
}

// takeMarker takes octets of a marker, and judges it when its last octet comes.
func (w *walker) takeMarker(b []byte) (n int, out outcome) {
	i := w.m.index(w.pos)
	n = copy(w.mark[i:], b)
	for k := i; k < i+n; k++ {
		w.markSeen |= 1 << k
	}
	at := w.pos - uint64(i)
	w.pos += uint64(n)
	if i+n < MarkerLen {
		return n, outMore
	}
	return n, w.judgeMarker(at)
}

func (w *walker) judgeMarker(at uint64) outcome {
	whole := w.markSeen == 1<<MarkerLen-1
	w.markSeen = 0
	w.wanted = 0
	if w.have > 0 {
		w.wanted = uint32(at - w.f.Start)
		w.f.Markers++
		if w.total == 0 || w.have <= w.total-CRCLen {
			w.sum(w.mark[:])
		}
	} else {
		w.lead = true
		w.crc = CRC32C(w.mark[:])
	}
	if !whole { // only behind a hole
		w.f.noHole = false
		return outMore
	}
	w.marker = binary.BigEndian.Uint32(w.mark[:])
	switch {
	case w.marker == w.wanted:
		return outMore
	case w.marker>>16 != 0:
		return outBadMarker
	}
	return outOddMarker
}

// skip walks over a hole that ends at to.
func (w *walker) skip(to uint64, seg *segment) outcome {
	if w.total == 0 {
		return outLost
	}
	gone := to - w.pos - w.m.octets(w.pos, to)
	w.f.noHole = false
	w.markSeen = 0
	if gone > uint64(w.total-w.have) {
		w.f.Missing += w.total - w.have
		w.cutHeader()
		w.f.End, w.f.EndAt = w.m.end(w.f.Start, uint64(w.total)), seg.at
		w.f.State = Partial
		return outLostEnd
	}
	if gone > 0 {
		w.cutHeader()
	}
	w.f.Missing += uint32(gone)
	w.have += uint32(gone)
	w.pos = to
	if w.have == w.total {
		w.finish(seg)
		return outEnded
	}
	return outMore
}

// cutHeader notes that the hole begins inside the header, and goes on by the
// length alone.
func (w *walker) cutHeader() {
	if w.stage == inBody {
		return
	}
	w.f.HeaderCut = true
	if w.stage == inControl {
		w.f.DDP = DDP{Opcode: OpcodeUnseen}
	}
	w.enterBody()
	w.begun = false // the caller has yet to tell it
}
