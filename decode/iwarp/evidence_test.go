package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/decode/iwarp"
)

// The rule of METRICS "Lock-on in mid-stream", point by point: each case is
// what a stream without handshake shows, and how many FPDUs that is evidence
// enough for.
func TestEvidence(t *testing.T) {
	off, on := func() *builder { return &builder{} }, func() *builder { return &builder{crc: true} }
	junk := func(w *builder) *builder { w.b = append(w.b, 0xff, 0xff, 0xff, 0xff); return w }
	set := func(w *builder, at int, v byte) *builder { w.b[at] = v; return w }
	for _, c := range []struct {
		name string
		w    *builder
		want int
	}{
		{"untagged 3, CRC field 0: 1, ends the segment: 1", off().send(1, 0, true, 30), 1},
		{"untagged 3, CRC field 0: 1", junk(off().send(1, 0, true, 30)), 0},
		{"untagged 3, CRC good 4", junk(on().send(1, 0, true, 30)), 1},
		{"tagged 1, CRC good 4", junk(on().write(1, 0, true, 30)), 1},
		{"tagged 1, CRC field 0: 1, ends the segment: 1", off().write(1, 0, true, 30), 0},
		{"two tagged 2, CRC fields 0: 2, the last ends the segment: 1", off().write(1, 0, true, 30).write(2, 0, true, 30), 2},
		{"two tagged 2, CRC fields 0: 2", junk(off().write(1, 0, true, 30).write(2, 0, true, 30)), 0},
		{"two tagged 2, CRC fields 0: 2, goes on 2", junk(off().write(1, 0, false, 30).write(1, 30, true, 30)), 2},
		{"same STag, the offset does not go on", junk(off().write(1, 0, false, 30).write(1, 31, true, 30)), 0},
		{"the offset goes on, another opcode", junk(off().write(1, 0, false, 30).response(1, 30, true, 30)), 0},
		{"untagged, MSN 0", off().send(0, 0, true, 30), 0},
		{"untagged, queue number wrong", off().untagged(0x43, 1, 1, 0, true, pattern(30)), 0},
		{"untagged, STag's place not 0", set(off().send(1, 0, true, 30), 7, 1), 0},
		{"Read Request, not last", off().untagged(0x41, 1, 1, 0, false, pattern(28)), 0},
		{"Read Request, offset not 0", off().untagged(0x41, 1, 1, 4, true, pattern(28)), 0},
		{"Read Request", off().untagged(0x41, 1, 1, 0, true, pattern(28)), 1},
		{"tagged offset that wraps", on().write(1, ^uint64(0)-3, true, 30), 0},
		{"version 0", set(set(off().send(1, 0, true, 30), 2, 0x40), 3, 0x03), 0},
		{"Terminate", off().untagged(0x47, 2, 1, 0, true, unhex("2102 0000")), 1},
	} {
		p, col := iwarp.NewPair(), newCollector()
		feedAt(&p.Streams[0], 77, c.w.b, 4000, col)
		assert.Len(t, col.fpdus, c.want, c.name)
		assert.Equal(t, c.want > 0, p.Streams[0].Locked(), c.name)
	}
}

// Where CRCs are on, FPDUs without them are payload that looks like FPDUs.
func TestWrongCRCRejectsCandidates(t *testing.T) {
	inner := (&builder{}).send(1, 0, true, 30).send(2, 0, true, 30).send(3, 0, true, 30).write(1, 0, false, 10).write(1, 10, true, 10)
	for flag, want := range map[byte]int{0: 5, iwarp.MPAFlagC: 0} {
		p, c := pairAfter(flag, 0)
		feedAt(&p.Streams[0], 20, append([]byte{0xff, 0xff, 0xff, 0xff}, inner.b...), 4000, c)
		assert.Len(t, c.fpdus, want)
	}
}

// A few stray octets in a stream in step, at every alignment.
func TestStrayOctets(t *testing.T) {
	for n := 1; n < 24; n++ {
		w := &builder{crc: true, b: make([]byte, n)}
		w.send(1, 0, true, 30).send(2, 0, true, 30)
		p, c := pairAfter(iwarp.MPAFlagC, 0)
		feedAt(&p.Streams[0], 20, w.b, 1000, c)
		assert.Len(t, c.fpdus, 2, "%d octets", n)
		assert.Equal(t, 1, c.count(iwarp.NoticeDesync), "%d octets", n)
	}
}

// Alignment and the segments of each FPDU, as reports count them.
func TestAlignment(t *testing.T) {
	w := (&builder{}).send(1, 0, true, 74).send(2, 0, true, 74).send(3, 0, true, 74) // 100 octets each
	for _, c := range []struct{ size, unaligned, straddling int }{{100, 0, 0}, {300, 2, 0}, {50, 0, 3}, {150, 2, 1}, {60, 2, 3}} {
		p, col := pairAfter(0, 0)
		feedAt(&p.Streams[0], 20, w.b, c.size, col)
		assert.Equal(t, c.unaligned, col.unaligned, c.size)
		assert.Equal(t, c.straddling, col.straddling, c.size)
	}
	marked := (&builder{marker: everyPeriod}).send(1, 0, true, 74)
	p, col := pairAfter(0, iwarp.MPAFlagM)
	feedAt(&p.Streams[0], 20, marked.b, 1000, col)
	assert.Zero(t, col.unaligned, "a marker before the FPDU begins the segment")
}
