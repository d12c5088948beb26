package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// Cut anywhere, with and without markers and CRCs, in aligned segments and in
// arbitrary ones: what is found is true, and nearly all is found.
func TestLockOnAnywhere(t *testing.T) {
	for _, c := range []struct {
		name string
		w    builder
		part float64 // of the whole FPDUs behind the cut
	}{
		{"crc", builder{crc: true}, 1},
		{"no crc", builder{}, 0.98},
		{"markers, crc", builder{marker: everyPeriod, crc: true}, 0.95},
		{"markers, no crc", builder{marker: everyPeriod}, 0.90},
	} {
		w := c.w
		to := uint64(1 << 20)
		for i := range 120 {
			w.write(0x31, to, i%8 == 7, 1380)
			to += 1380
			if i%3 == 0 {
				w.send(uint32(1000+i), 0, true, 60)
			}
		}
		known := map[uint64]bool{}
		for _, s := range w.starts {
			known[uint64(s)] = true
		}
		whole, got := 0, 0
		for cut := 0; cut < 20000; cut += 131 {
			p, col := iwarp.NewPair(), newCollector()
			feedAt(&p.Streams[0], uint64(cut), w.b[cut:], 1448, col)
			require.Empty(t, col.faults)
			for _, f := range col.fpdus {
				require.True(t, known[f.start], "%s: an FPDU at %d", c.name, f.start)
			}
			for _, s := range w.starts {
				if s >= cut {
					whole++
				}
			}
			got += len(col.fpdus)
		}
		t.Logf("%s: %d of %d", c.name, got, whole)
		assert.GreaterOrEqual(t, float64(got), c.part*float64(whole), c.name)
	}
}

// Arrears carry the stamps of their own segments.
func TestLockOnReportsInArrears(t *testing.T) {
	w := (&builder{}).write(5, 0, false, 600).write(5, 600, false, 600).write(5, 1200, true, 600)
	p, c := iwarp.NewPair(), newCollector()
	feedAt(&p.Streams[0], 7000, w.b, 620, c)
	require.Len(t, c.fpdus, 3)
	for i, f := range c.fpdus {
		assert.EqualValues(t, 7000+620*i, f.at)
		assert.EqualValues(t, 7000+620*i, f.endAt)
		assert.True(t, f.aligned)
	}
	// The second header is the fifth point: the first is told whole, in arrears.
	assert.True(t, c.fpdus[0].recovered)
	assert.False(t, c.fpdus[2].recovered)
	require.Len(t, c.notices, 2)
	assert.Equal(t, iwarp.Notice{Kind: iwarp.NoticeDesync, Offset: 7000, At: 7000, Err: iwarp.ErrKey}, c.notices[0])
	assert.Equal(t, iwarp.NoticeLock, c.notices[1].Kind)
	assert.EqualValues(t, 7000, c.notices[1].Offset)
	assert.Zero(t, c.notices[1].Length)
}

// Octets in front that belong to no FPDU are told.
func TestLockOnTellsWhatItPassed(t *testing.T) {
	w := &builder{crc: true, b: make([]byte, 333)}
	w.send(9, 0, true, 100)
	p, c := iwarp.NewPair(), newCollector()
	feedAt(&p.Streams[0], 0, w.b, 100, c)
	require.Len(t, c.fpdus, 1)
	assert.Equal(t, iwarp.NoticeLock, c.notices[1].Kind)
	assert.EqualValues(t, 333, c.notices[1].Offset)
	assert.EqualValues(t, 333, c.notices[1].Length)
	assert.Zero(t, p.Streams[0].Unframed())
}

func TestStartLost(t *testing.T) {
	w := variety(&builder{crc: true})
	p, c := iwarp.NewPair(), newCollector()
	p.Streams[0].Start(100) // the SYN said so; the start-up frame was lost
	feedAt(&p.Streams[0], 120, w.b, 1448, c)
	assert.Len(t, c.fpdus, varietyFPDUs)
	assert.Equal(t, iwarp.NoticeHole, c.notices[0].Kind)
	assert.EqualValues(t, 20, c.notices[0].Length)
	assert.False(t, p.Streams[0].Handshake())
}

// A start-up frame behind stray octets is still one.
func TestFrameWhileSearching(t *testing.T) {
	w := variety(&builder{})
	p, c := iwarp.NewPair(), newCollector()
	feedAt(&p.Streams[0], 0, []byte{1, 2, 3}, 10, c)
	feedAt(&p.Streams[0], 3, append(mpaFrame(false, 0, 1, "abc"), w.b...), 2000, c)
	require.Len(t, c.mpa, 1)
	assert.Len(t, c.fpdus, varietyFPDUs)
}

// The zero-length FPDU that opens a peer-to-peer stream (RTR), and the largest.
func TestExtremeLengths(t *testing.T) {
	w := (&builder{crc: true}).write(0, 0, true, 0).send(1, 0, true, 0).write(1, 0, true, 0xffff-14).send(2, 0, true, 0xffff-18)
	p, c := pairAfter(iwarp.MPAFlagC, 0)
	feedAt(&p.Streams[0], 20, w.b, 1448, c)
	assert.Len(t, c.fpdus, 4)
	assert.Equal(t, 4, c.crcs[iwarp.CRCGood])
	assert.Equal(t, iwarp.MaxFPDULen, c.max)
}
