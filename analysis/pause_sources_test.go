package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/pcaps/synth"
)

// TestPauseSources: a mirror shows the pauses of every host of a switch, each
// with its row; those for which there was no room are told.
func TestPauseSources(t *testing.T) {
	for hosts, evicted := range map[int]int64{100: 0, 256: 0, 300: 44} {
		s := &synth.Scenario{}
		for i := range hosts {
			mac := synth.MAC{2, 0, 0, 1, byte(i >> 8), byte(i)}
			s.Add(1e18+int64(i)*1000, synth.AppendPFCPriority(nil, mac, 3, 100))
		}
		r := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		assert.Len(t, r.PFC.Sources, hosts-int(evicted))
		assert.Equal(t, evicted, r.Capture.Evictions["pause_sources"])
	}
}
