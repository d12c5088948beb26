package filter

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode"
	"rdmascope/pcaps"
)

// TestProtocolOfIWARP: a segment is iWARP exactly when its tree shows MPA.
func TestProtocolOfIWARP(t *testing.T) {
	f, err := pcaps.Open([]string{filepath.Join("..", "..", "pcaps", "testdata", "siw_mixed_q2.pcap.gz")}, pcaps.Options{})
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]int{}
	require.NoError(t, analysis.Packets(f, decode.Config{}, func(p *decode.Packet) bool {
		shown := false
		for _, n := range decode.Tree(p) {
			shown = shown || strings.HasPrefix(n.Name, "iwarp_")
		}
		want := "TCP"
		if shown {
			want = "iWARP"
		}
		seen[want]++
		return assert.Equal(t, want, Protocol(p), "packet %d", p.Number)
	}))
	assert.Greater(t, seen["iWARP"], 500)
	assert.Greater(t, seen["TCP"], 100)
}
