package iwarp_test

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"rdmascope/decode/iwarp"
)

// builder writes a direction's octets by hand, from full operation on. It
// shares no code with the package.
type builder struct {
	b []byte
	// marker tells where markers stand; nil: nowhere.
	marker func(pos int) bool
	crc    bool
	starts []int // of the length fields
}

func everyPeriod(pos int) bool { return pos%512 == 0 }

var crcTable = crc32.MakeTable(crc32.Castagnoli)

func (w *builder) fpdu(ulpdu []byte) *builder {
	raw := binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu)))
	raw = append(raw, ulpdu...)
	for len(raw)%4 != 0 {
		raw = append(raw, 0)
	}
	from := len(w.b)
	start := from
	mark := func(first bool) {
		if w.marker == nil || !w.marker(len(w.b)) {
			return
		}
		ptr := len(w.b) - start
		if first {
			ptr = 0
		}
		w.b = binary.BigEndian.AppendUint32(w.b, uint32(ptr))
	}
	mark(true)
	start = len(w.b)
	w.starts = append(w.starts, start)
	w.b = append(w.b, raw[0])
	for _, c := range raw[1:] {
		mark(false)
		w.b = append(w.b, c)
	}
	mark(false)
	sum := uint32(0)
	if w.crc {
		sum = crc32.Checksum(w.b[from:], crcTable)
	}
	w.b = binary.LittleEndian.AppendUint32(w.b, sum)
	return w
}

func (w *builder) write(stag uint32, to uint64, last bool, n int) *builder {
	return w.tagged(0x40, stag, to, last, n)
}

func (w *builder) response(stag uint32, to uint64, last bool, n int) *builder {
	return w.tagged(0x42, stag, to, last, n)
}

func (w *builder) tagged(rdmap byte, stag uint32, to uint64, last bool, n int) *builder {
	u := []byte{0x81, rdmap}
	if last {
		u[0] |= 0x40
	}
	u = binary.BigEndian.AppendUint32(u, stag)
	u = binary.BigEndian.AppendUint64(u, to)
	return w.fpdu(append(u, pattern(n)...))
}

func (w *builder) send(msn, mo uint32, last bool, n int) *builder {
	return w.untagged(0x43, 0, msn, mo, last, pattern(n))
}

func (w *builder) untagged(rdmap byte, qn, msn, mo uint32, last bool, body []byte) *builder {
	u := []byte{0x01, rdmap, 0, 0, 0, 0}
	if last {
		u[0] |= 0x40
	}
	u = binary.BigEndian.AppendUint32(u, qn)
	u = binary.BigEndian.AppendUint32(u, msn)
	u = binary.BigEndian.AppendUint32(u, mo)
	return w.fpdu(append(u, body...))
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	return b
}

func mpaFrame(reply bool, flags, rev byte, private string) []byte {
	b := []byte("MPA ID Req Frame")
	if reply {
		b = []byte("MPA ID Rep Frame")
	}
	b = append(b, flags, rev)
	b = binary.BigEndian.AppendUint16(b, uint16(len(private)))
	return append(b, private...)
}

// unhex reads hex with spaces.
func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// pairAfter returns a Pair whose start-up frames are read, with flags f in the
// request and g in the reply; both streams stand at offset 0+frame.
func pairAfter(f, g byte) (*iwarp.Pair, *collector) {
	p, c := iwarp.NewPair(), newCollector()
	p.Streams[0].Feed(iwarp.Segment{Offset: 0, Payload: mpaFrame(false, f, 1, "")}, c)
	p.Streams[1].Feed(iwarp.Segment{Offset: 0, Payload: mpaFrame(true, g, 1, "")}, c)
	return p, c
}

// feedAt feeds b in pieces of at most n octets.
func feedAt(s *iwarp.Stream, off uint64, b []byte, n int, h iwarp.Handler) {
	for len(b) > 0 {
		k := min(n, len(b))
		s.Feed(iwarp.Segment{Offset: off, Payload: b[:k], At: int64(off)}, h)
		off, b = off+uint64(k), b[k:]
	}
}
