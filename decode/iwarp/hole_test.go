package iwarp_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// wholeOutside are the FPDUs of w (at offset base) that the hole [from, to)
// leaves untouched.
func wholeOutside(w *builder, base, from, to int) (starts []uint64) {
	for i, s := range w.starts {
		end := len(w.b)
		if i+1 < len(w.starts) {
			end = w.starts[i+1]
		}
		if base+end <= from || base+s >= to {
			starts = append(starts, uint64(base+s))
		}
	}
	return starts
}

// Every place and many lengths of a hole: with the handshake seen, the FPDU in
// hand leads over it, or a search finds what follows.
func TestHoleAnywhere(t *testing.T) {
	for _, markers := range []bool{false, true} {
		w := &builder{crc: true}
		flag := byte(iwarp.MPAFlagC)
		if markers {
			w.marker = everyPeriod
			flag |= iwarp.MPAFlagM
		}
		to := uint64(0)
		for i := range 30 {
			w.write(0x99, to, false, 300)
			w.send(uint32(i+1), 0, true, 40)
			to += 300
		}
		for from := 400; from < 1300; from += 3 {
			for _, n := range []int{1, 2, 4, 17, 100, 512, 1448, 3000} {
				p, c := pairAfter(flag, flag)
				s := &p.Streams[0]
				feedAt(s, 20, w.b[:from], 200, c)
				feedAt(s, uint64(20+from+n), w.b[from+n:], 200, c)
				require.Empty(t, c.faults)
				got := map[uint64]found{}
				for _, f := range c.fpdus {
					got[f.start] = f
				}
				for _, start := range wholeOutside(w, 20, 20+from, 20+from+n) {
					f, ok := got[start]
					require.True(t, ok, "hole at %d of %d: FPDU at %d", from, n, start)
					require.Equal(t, iwarp.Whole, f.state)
					require.Equal(t, iwarp.CRCGood, f.crc)
					delete(got, start)
				}
				for _, f := range got {
					require.Equal(t, iwarp.Partial, f.state)
					require.Equal(t, iwarp.CRCUnchecked, f.crc)
				}
				require.Equal(t, 1, c.count(iwarp.NoticeHole))
			}
		}
	}
}

func TestHoleNotices(t *testing.T) {
	w := (&builder{crc: true}).write(1, 0, false, 1000).write(1, 1000, false, 1000).write(1, 2000, true, 1000)
	p, c := pairAfter(iwarp.MPAFlagC, 0)
	s := &p.Streams[0]
	feedAt(s, 20, w.b[:100], 1000, c)
	feedAt(s, 320, w.b[300:], 4000, c)
	require.Len(t, c.notices, 1)
	assert.Equal(t, iwarp.Notice{Kind: iwarp.NoticeHole, Offset: 120, Length: 200, At: 320, Bridged: true}, c.notices[0])
	assert.Len(t, c.fpdus, 3)
	assert.Equal(t, 1, c.partial)
	assert.Equal(t, 2, c.crcs[iwarp.CRCGood])

	// The header's control octets are seen, the rest lies in the hole.
	k := &keep{collector: newCollector()}
	p, _ = pairAfter(iwarp.MPAFlagC, 0)
	feedAt(&p.Streams[0], 20, w.b[:5], 1000, k)
	feedAt(&p.Streams[0], 20+400, w.b[400:], 4000, k)
	require.Len(t, k.all, 3)
	assert.True(t, k.all[0].HeaderCut)
	assert.Equal(t, iwarp.RDMAWrite, k.all[0].DDP.Opcode)
	assert.EqualValues(t, 395, k.all[0].Missing)

	// Of the next only the length.
	k = &keep{collector: newCollector()}
	p, _ = pairAfter(iwarp.MPAFlagC, 0)
	feedAt(&p.Streams[0], 20, w.b[:2], 1000, k)
	feedAt(&p.Streams[0], 20+400, w.b[400:], 4000, k)
	require.Len(t, k.all, 3)
	assert.Equal(t, iwarp.OpcodeUnseen, k.all[0].DDP.Opcode)
	assert.Nil(t, k.all[0].Body())
	assert.Zero(t, k.all[0].PayloadLength())
}

// A short snaplen: each segment's begin is there, and FPDUs are aligned.
func TestCutSegments(t *testing.T) {
	w := &builder{}
	var ends []int
	for i := range 50 {
		w.write(7, uint64(i)*1400, i%5 == 4, 1400)
		ends = append(ends, len(w.b))
	}
	for _, handshake := range []bool{true, false} {
		p, c := iwarp.NewPair(), newCollector()
		if handshake {
			p, c = pairAfter(0, 0)
		}
		from := 0
		for _, end := range ends {
			p.Streams[0].Feed(iwarp.Segment{Offset: uint64(20 + from), Payload: w.b[from : from+62], Wire: end - from}, c)
			from = end
		}
		assert.Len(t, c.fpdus, 50)
		assert.Equal(t, 50, c.ops["RDMA_WRITE"])
		assert.Equal(t, 50, c.partial)
		assert.Equal(t, 10, c.last)
		for _, n := range c.notices {
			assert.True(t, n.Kind != iwarp.NoticeHole || n.Cut)
		}
	}
}

// Octets that come twice, overlap, or come late change nothing.
func TestOverlap(t *testing.T) {
	w := variety(&builder{crc: true})
	rnd := rand.New(rand.NewSource(8))
	p, c := pairAfter(iwarp.MPAFlagC, 0)
	s := &p.Streams[0]
	for s.Next() < uint64(20+len(w.b)) {
		next := int(s.Next()) - 20
		from := max(0, next-rnd.Intn(3000))
		to := min(len(w.b), from+rnd.Intn(4000))
		s.Feed(iwarp.Segment{Offset: uint64(20 + from), Payload: w.b[from:to]}, c)
	}
	assert.Len(t, c.fpdus, varietyFPDUs)
	assert.Equal(t, varietyFPDUs, c.crcs[iwarp.CRCGood])
	assert.Empty(t, c.notices)
}

// The place is lost in mid-stream by damaged octets, and found again.
func TestResync(t *testing.T) {
	for _, crc := range []bool{true, false} {
		w := variety(&builder{crc: crc})
		w.b[w.starts[20]+1] ^= 0x20  // a length
		w.b[w.starts[60]+2] ^= 0x08  // a reserved bit
		w.b[w.starts[100]+3] ^= 0x0c // an opcode
		p, c := pairAfter(map[bool]byte{true: iwarp.MPAFlagC}[crc], 0)
		feedAt(&p.Streams[0], 20, w.b, 1448, c)
		assert.Empty(t, c.faults)
		assert.GreaterOrEqual(t, len(c.fpdus), varietyFPDUs-12)
		assert.NotZero(t, c.count(iwarp.NoticeDesync))
		known := map[uint64]bool{}
		for _, s := range w.starts {
			known[uint64(20+s)] = true
		}
		for _, f := range c.fpdus {
			assert.True(t, known[f.start], "an FPDU at %d", f.start)
		}
	}
}
