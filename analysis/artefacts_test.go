package analysis_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// bthOpcode is that of an IPv4 frame of loadWire.
func bthOpcode(f *synth.Frame) byte { return f.Data[42] }

// TestStandingClock: packets of one time have no latencies, not fast ones.
func TestStandingClock(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	for i := range s.Frames {
		s.Frames[i].Time = s.Frames[0].Time
	}
	got := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	require.NotEmpty(t, got.Connections)
	for i := range got.Connections {
		for k := range got.Connections[i].Flows {
			fl := &got.Connections[i].Flows[k]
			assert.Equal(t, analysis.Latencies{}, fl.Latency)
			assert.Nil(t, fl.ThroughputBps)
			assert.Contains(t, fl.Reasons["latency"], "don't move")
			assert.NotZero(t, fl.Packets)
		}
	}
	assert.Contains(t, got.Capture.GradeReasons, "timestamps don't move: no rates, no latencies")
}

// TestFilteredAcks: where a filter left the acknowledgements out, it isn't said
// that there were no NAKs, and nothing is called lost.
func TestFilteredAcks(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	got := analyzeBytes(t, pcapOf(t, s.Without(func(_ int, f *synth.Frame) bool { return bthOpcode(f) == 0x11 }), synth.PcapOptions{}))
	require.NotEmpty(t, got.Connections)
	for i := range got.Connections {
		assert.True(t, got.Connections[i].WithoutAcks())
	}
	assert.Zero(t, lossesOf(got))
	assert.Contains(t, strings.Join(got.Capture.GradeReasons, "; "), "4 connections without one acknowledgement")

	whole := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	for i := range whole.Connections {
		assert.False(t, whole.Connections[i].WithoutAcks())
	}
	// READs are answered by their responses.
	reads := s.Without(func(_ int, f *synth.Frame) bool {
		op := bthOpcode(f)
		return op < 0x0c || op == 0x11 || op > 0x17 && op != 0x64
	})
	got = analyzeBytes(t, pcapOf(t, reads, synth.PcapOptions{}))
	for i := range got.Connections {
		assert.False(t, got.Connections[i].WithoutAcks())
	}
}

// TestFilteredPayload: a filter that let only small packets through, or one
// direction, is no loss.
func TestFilteredPayload(t *testing.T) {
	for _, name := range wireCaptures {
		s := loadWire(t, name)
		whole := lossesOf(analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{})))
		for what, drop := range map[string]func(int, *synth.Frame) bool{
			"only small packets": func(_ int, f *synth.Frame) bool { return len(f.Data) > 300 },
			"one direction": func(_ int, f *synth.Frame) bool {
				return f.Data[12] == 8 && f.Data[29] != 1 || f.Data[12] == 0x86 && f.Data[37] != 1
			},
			"the other": func(_ int, f *synth.Frame) bool {
				return f.Data[12] == 8 && f.Data[29] == 1 || f.Data[12] == 0x86 && f.Data[37] == 1
			},
			"only answers": func(_ int, f *synth.Frame) bool { return f.Data[12] == 8 && bthOpcode(f) != 0x11 },
		} {
			got := analyzeBytes(t, pcapOf(t, s.Without(drop), synth.PcapOptions{}))
			for i := range got.Connections {
				for k := range got.Connections[i].Flows {
					fl := &got.Connections[i].Flows[k]
					for _, v := range []*int64{fl.LostUpstream, fl.LostDownstream} {
						if v != nil {
							assert.LessOrEqual(t, *v, whole, "%s, %s", name, what)
						}
					}
				}
			}
			for i := range got.Findings {
				assert.NotContains(t, got.Findings[i].Rule, "rc.loss", "%s, %s", name, what)
			}
		}
	}
}

// TestSameMAC: a frame that a port sent to itself is told of; what only a
// loopback device has is not.
func TestSameMAC(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	for what, c := range map[string]struct {
		addr synth.MAC
		told bool
	}{"looped back": {synth.MAC{2, 0, 0, 0, 0, 1}, true}, "lo": {}} {
		m := s.Wrapped(synth.LinkEthernet, func(b []byte) []byte {
			b = append([]byte(nil), b...)
			copy(b, c.addr[:])
			copy(b[6:], c.addr[:])
			return b
		})
		got := analyzeBytes(t, pcapOf(t, m, synth.PcapOptions{}))
		assert.Equal(t, c.told, strings.Contains(strings.Join(got.Capture.GradeReasons, "; "), "one MAC address as source and destination"), what)
		assert.Equal(t, "good", got.Capture.Grade)
	}
}

// TestUnreadLink: frames of a link layer that isn't read are told by its number.
func TestUnreadLink(t *testing.T) {
	s := loadWire(t, "rxe_rping_ipv6")
	s.Link = 105
	got := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	assert.Equal(t, analysis.Counts{"link type 105, not read": int64(len(s.Frames))}, got.Capture.Contents)
}
