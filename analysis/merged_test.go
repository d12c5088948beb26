package analysis_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// countedOn is s with IP identifications that each host counts on, as GRO asks
// for: rxe's are random.
func countedOn(s *synth.Scenario) *synth.Scenario {
	next := map[string]uint16{}
	return s.Rewritten(func(h *synth.Headers) {
		if len(h.IP) == 20 {
			host := string(h.IP[12:16])
			next[host]++
			binary.BigEndian.PutUint16(h.IP[4:], next[host])
		}
	})
}

// mergedFigures are what does not depend on when a packet came.
func mergedFigures(t *testing.T, s *analysis.Snapshot) string {
	return connectionFigures(t, s, func(c *analysis.Connection, fl *analysis.Flow) {
		c.Opened, c.Closed, c.FirstTime, c.LastTime = 0, nil, 0, 0
		fl.Latency = analysis.Latencies{}
		fl.Recoveries, fl.RecoveryTimeNS, fl.ThroughputBps, fl.MessageRate = nil, nil, nil, nil
		fl.CEToCNP, fl.PauseOverlap, fl.CNPGapMinNS, fl.RateReduction, fl.Turnround = nil, nil, nil, nil, nil
	})
}

// TestMergedByReceiveOffload: frames that GRO made of several packets give the
// figures of the packets, and the report tells both numbers.
func TestMergedByReceiveOffload(t *testing.T) {
	for _, name := range []string{"rxe_mixed_ops_q4", "rxe_exact_single_loss", "rxe_read_loss3"} {
		s := countedOn(loadWire(t, name))
		bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		want := mergedFigures(t, bare)
		for _, most := range []int{2, 7, 64} {
			m := s.Received(most)
			require.Less(t, len(m.Frames), len(s.Frames)*9/10, "nothing to merge")
			got := analyzeBytes(t, pcapOf(t, m, synth.PcapOptions{}))
			c := &got.Capture
			assert.EqualValues(t, len(m.Frames), c.Packets)
			assert.Positive(t, c.MergedFrames)
			assert.EqualValues(t, len(s.Frames)-len(m.Frames), c.MergedPackets-c.MergedFrames)
			assert.Zero(t, c.MergedUnsplitFrames)
			assert.Zero(t, c.MalformedPackets)
			assert.Contains(t, strings.Join(c.GradeReasons, "; "), "merged by receive offload (GRO)")
			if !assert.Equal(t, want == mergedFigures(t, got), true, "%s, runs of %d", name, most) {
				assert.Equal(t, want, mergedFigures(t, got))
			}
			var onWire int64
			for i := range got.Connections {
				for k := range got.Connections[i].Flows {
					onWire += got.Connections[i].Flows[k].WireBytes - bare.Connections[i].Flows[k].WireBytes
				}
			}
			assert.Zero(t, onWire, "frames of their own")
		}
	}
}

// TestMergedAndCut: where the end of a frame is missing, nothing tells its
// packets apart; that is said, and no iCRC is called bad.
func TestMergedAndCut(t *testing.T) {
	s := countedOn(loadWire(t, "rxe_mixed_ops_q4")).Received(64)
	got := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{SnapLen: 128}))
	c := &got.Capture
	assert.Positive(t, c.MergedUnsplitFrames)
	assert.Less(t, c.MergedUnsplitFrames, c.MergedFrames, "acknowledgements fit")
	assert.GreaterOrEqual(t, c.MergedPackets, 2*(c.MergedFrames-c.MergedUnsplitFrames))
	assert.Contains(t, strings.Join(c.GradeReasons, "; "), "of which not all packets could be told apart")
	for i := range got.Connections {
		for k := range got.Connections[i].Flows {
			assert.Zero(t, got.Connections[i].Flows[k].ICRCBad)
		}
	}
}

// TestMergedPackets: they are handed on one by one, in their order.
func TestMergedPackets(t *testing.T) {
	s := countedOn(loadWire(t, "rxe_mixed_ops_q4"))
	m := s.Received(64)
	var one, other []string
	collect := func(into *[]string) func(*wire.Packet) bool {
		return func(p *wire.Packet) bool {
			line := wire.Summary(p)
			if i := strings.Index(line, " ["); i >= 0 {
				line = line[:i]
			}
			*into = append(*into, line)
			return true
		}
	}
	require.NoError(t, analysis.Packets(openBytes(t, pcapOf(t, s, synth.PcapOptions{})), wire.Config{}, collect(&one)))
	require.NoError(t, analysis.Packets(openBytes(t, pcapOf(t, m, synth.PcapOptions{})), wire.Config{}, collect(&other)))
	assert.Equal(t, one, other)
}
