package analysis_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// eachRoCE calls f with the RoCE frames of every capture of the corpus, of the
// repository's where the corpus isn't there.
func eachRoCE(t *testing.T, f func(t *testing.T, s *synth.Scenario)) {
	dir := sharedFile("captures")
	if dir == "" {
		dir = filepath.Join("..", "pcaps", "testdata")
	}
	n := 0
	for _, pattern := range []string{"rxe_*.pcap", "rxe_*.pcap.gz", "cnp_*.pcap.gz"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, file := range files {
			s, err := synth.LoadPcap(file)
			require.NoError(t, err)
			s = roceFrames(s)
			if s.Link > synth.LinkEthernet || len(s.Frames) == 0 || cutFrames(s) {
				continue // taken at "any": wrapped already; or cut
			}
			n++
			t.Run(captureName(file), func(t *testing.T) { f(t, s) })
		}
	}
	require.Greater(t, n, 10)
}

// TestEveryCaptureOnEveryWire: the same connections and figures, however a
// capture came.
func TestEveryCaptureOnEveryWire(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole corpus, many times")
	}
	eachRoCE(t, func(t *testing.T, s *synth.Scenario) {
		bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		want := connectionFigures(t, bare, nil)
		same := func(what string, file []byte) {
			got := analyzeBytes(t, file)
			assert.Equal(t, bare.Capture.Packets, got.Capture.Packets, what)
			assert.Equal(t, bare.Capture.MalformedPackets, got.Capture.MalformedPackets, what)
			if figures := connectionFigures(t, got, nil); figures != want {
				assert.Equal(t, want, figures, what)
			}
		}
		for _, e := range synth.Encapsulations() {
			same(e.Name, pcapOf(t, s.Wrapped(e.Link, e.Wrap), synth.PcapOptions{}))
		}
		same("big-endian", pcapOf(t, s, synth.PcapOptions{Order: binary.BigEndian}))
		for _, order := range []synth.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			var b bytes.Buffer
			require.NoError(t, s.WritePcapng(&b, synth.PcapngOptions{Order: order, Interfaces: []synth.NGInterface{{TSResol: 9}}}))
			same("pcapng", b.Bytes())
		}
	})
}

// TestEveryCaptureCut: each capture at every snap length. Nothing is made up of what is missing: no malformed packet,
// no bad iCRC, no broken rule, no loss that the whole capture does not show.
func TestEveryCaptureCut(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole corpus, many times")
	}
	eachRoCE(t, func(t *testing.T, s *synth.Scenario) {
		whole := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		for n := 20; n <= 200; n++ {
			cut := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{SnapLen: uint32(n)}))
			require.Equal(t, whole.Capture.Packets, cut.Capture.Packets, "snap length %d", n)
			require.LessOrEqual(t, cut.Capture.MalformedPackets, whole.Capture.MalformedPackets, "snap length %d", n)
			require.Equal(t, whole.Capture.WireBytes, cut.Capture.WireBytes, "snap length %d", n)
			require.LessOrEqual(t, badICRC(cut), badICRC(whole), "snap length %d", n)
			rules := map[string]int64{}
			for _, r := range whole.Conformance {
				rules[r.Rule] = r.Count
			}
			if badICRC(whole) > 0 {
				continue // where nothing tells that a packet was damaged, it breaks rules
			}
			for _, r := range cut.Conformance {
				require.LessOrEqual(t, r.Count, rules[r.Rule], "snap length %d: %s", n, r.Rule)
			}
			require.LessOrEqual(t, lossesOf(cut), lossesOf(whole), "snap length %d", n)
			if n < 14+20+8+12 {
				require.Empty(t, cut.Connections, "snap length %d", n)
			}
		}
	})
}

func badICRC(s *analysis.Snapshot) (n int64) {
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			n += s.Connections[i].Flows[k].ICRCBad
		}
	}
	return n
}

// lossesOf adds up what is said to be lost or missing.
func lossesOf(s *analysis.Snapshot) (n int64) {
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			fl := &s.Connections[i].Flows[k]
			for _, v := range []*int64{fl.LostUpstream, fl.LostDownstream, fl.Unseen} {
				if v != nil {
					n += *v
				}
			}
		}
	}
	return n
}

// TestEveryCaptureDoubled: as "any" shows it, and a mirror of both ports: every
// packet twice, and each second one known as a copy.
func TestEveryCaptureDoubled(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole corpus, many times")
	}
	eachRoCE(t, func(t *testing.T, s *synth.Scenario) {
		bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		assertDoubled(t, bare, analyzeBytes(t, pcapOf(t, s.Doubled(500, nil), synth.PcapOptions{})))
		any := s.Doubled(500, nil)
		in, out := synth.SLL2(0, 3), synth.SLL2(4, 3)
		for i := range any.Frames {
			wrap := out
			if i%2 == 1 {
				wrap = in
			}
			any.Frames[i].Data, any.Frames[i].Wire = wrap(any.Frames[i].Data), 0
		}
		any.Link = synth.LinkSLL2
		assertDoubled(t, bare, analyzeBytes(t, pcapOf(t, any, synth.PcapOptions{})))
	})
}

func cutFrames(s *synth.Scenario) bool {
	for i := range s.Frames {
		if s.Frames[i].WireLen() > len(s.Frames[i].Data) {
			return true
		}
	}
	return false
}
