package iwarp_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

func TestAlone(t *testing.T) {
	one := func(crc bool) *builder { return &builder{crc: crc} }
	for name, c := range map[string]struct {
		b     []byte
		wire  int // beyond b
		frame int
		at    []int
	}{
		"write that ends the segment":       {b: one(false).write(7, 0, true, 100).b, at: []int{0}},
		"write with CRC":                    {b: one(true).write(7, 0, true, 100).b, at: []int{0}},
		"CRC, and the next begins":          {b: one(true).write(7, 0, false, 100).write(7, 100, false, 1400).b[:300], at: []int{0, 120}},
		"CRC, and something else":           {b: append(one(true).write(7, 0, false, 100).b, "not an FPDU"...), at: []int{0}},
		"no CRC, and something else":        {b: append(one(false).write(7, 0, false, 100).b, "not an FPDU"...)},
		"no CRC, two Sends begin":           {b: one(false).send(1, 0, true, 10).send(2, 0, true, 999).b[:80], at: []int{0, 36}},
		"one begins":                        {b: one(true).send(1, 0, true, 999).b[:500]},
		"begins within an FPDU":             {b: one(true).send(1, 0, true, 999).b[2:]},
		"cut by the capture":                {b: one(true).write(7, 0, true, 1000).b[:60], wire: 1020 - 60, at: []int{0}},
		"cut by the capture, not the end":   {b: one(true).write(7, 0, true, 1000).b[:60], wire: 1024 - 60},
		"cut in the header":                 {b: one(true).write(7, 0, true, 1000).b[:10], wire: 1020 - 10},
		"start-up frame":                    {b: mpaFrame(false, 0, 1, "abcd"), frame: 24},
		"start-up frame, cut":               {b: mpaFrame(false, 0, 1, "abcd")[:18], wire: 6, frame: 20},
		"start-up frame and the first FPDU": {b: append(mpaFrame(true, 0, 1, ""), one(false).send(1, 0, true, 10).b...), frame: 20, at: []int{20}},
		"empty":                             {},
		"text":                              {b: []byte("GET / HTTP/1.1\r\n\r\n")},
		"zeros":                             {b: make([]byte, 100)},
	} {
		frame, list := iwarp.Alone(c.b, len(c.b)+c.wire)
		var at []int
		for i := range list {
			at = append(at, list[i].At)
		}
		assert.Equal(t, c.frame, frame, name)
		assert.Equal(t, c.at, at, name)
	}
	_, list := iwarp.Alone(one(true).send(1, 0, true, 10).b, 36)
	require.Len(t, list, 1)
	assert.True(t, list[0].Ends && list[0].CRCSeen && list[0].Verified)
	assert.Equal(t, iwarp.Send, list[0].DDP.Opcode)
	assert.Len(t, list[0].DDP.LayerPayload(), 10, "neither pad nor CRC")
}

// Every prefix of a segment, and one octet changed, never panic; what a prefix
// shows, the whole shows.
func TestAlonePrefixes(t *testing.T) {
	w := variety(&builder{crc: true})
	b := w.b[:4000]
	_, whole := iwarp.Alone(b, len(b))
	require.NotEmpty(t, whole)
	for n := range b {
		_, list := iwarp.Alone(b[:n], len(b))
		require.LessOrEqual(t, len(list), len(whole))
		for i := range list {
			require.Equal(t, whole[i].At, list[i].At)
		}
		iwarp.Alone(b[:n], n)
		iwarp.Alone(b[n:], 1<<32)
	}
}

// TestAloneRandom: random octets, and such behind a length that ends with the
// segment, as other protocols have it, show nothing.
func TestAloneRandom(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{3})
	b := make([]byte, 512)
	for i := range 300_000 {
		_, _ = rnd.Read(b)
		frame, list := iwarp.Alone(b, len(b))
		require.Zero(t, frame)
		require.Empty(t, list)
		if i%10 == 0 {
			binary.BigEndian.PutUint16(b, uint16(len(b)-2)) // DNS over TCP
			_, list = iwarp.Alone(b, len(b))
			require.Empty(t, list)
		}
	}
}

// TestAloneAgainstStreams: what single segments of the real captures show is what
// the stream finds there.
func TestAloneAgainstStreams(t *testing.T) {
	shown, all := 0, 0
	siwCaptures(t, func(t *testing.T, name string, segs []tcpSegment) {
		first := firstSeq(segs)
		starts := map[string]map[uint64]iwarp.Opcode{}
		for flow, list := range truth(segs) {
			starts[flow] = map[uint64]iwarp.Opcode{}
			for _, f := range list {
				starts[flow][f.start] = f.op
				all++
			}
		}
		for _, s := range segs {
			frame, list := iwarp.Alone(s.payload, len(s.payload))
			if frame > 0 {
				assert.Equal(t, first[s.flow], s.seq, "start-up frames come first")
			}
			for i := range list {
				at := origin + uint64(s.seq-first[s.flow]) + uint64(list[i].At)
				_, known := starts[s.flow][at]
				if !assert.True(t, known) || !assert.Equal(t, starts[s.flow][at], list[i].DDP.Opcode, "%s at %d", s.flow, at) {
					return
				}
				shown++
			}
		}
	})
	t.Logf("single segments show %d FPDUs (some twice), streams %d", shown, all)
	if all > 0 {
		assert.Greater(t, 10*shown, 8*all)
	}
}

// FuzzAlone: whatever the octets and the length on the wire, FPDUs lie behind
// one another within the segment.
func FuzzAlone(f *testing.F) {
	w := variety(&builder{crc: true})
	f.Add(w.b[:1448], uint32(1448))
	f.Add(w.b[:100], uint32(1448))
	f.Add(append(mpaFrame(true, 0, 2, "\x00\x01\x00\x02"), w.b[:200]...), uint32(224))
	f.Fuzz(func(t *testing.T, b []byte, wire uint32) {
		frame, list := iwarp.Alone(b, int(wire))
		at := frame
		for i := range list {
			x := &list[i]
			require.Equal(t, at, x.At)
			require.LessOrEqual(t, x.At+4, len(b))
			if at += iwarp.FPDULen(x.ULPDULength); x.Ends {
				require.LessOrEqual(t, at, int(wire))
			} else {
				require.Equal(t, len(list)-1, i)
			}
		}
	})
}
