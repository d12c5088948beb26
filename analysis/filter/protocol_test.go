package filter

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// TestProtocolOfIWARP: a segment is iWARP exactly when its tree shows MPA.
func TestProtocolOfIWARP(t *testing.T) {
	f, err := pcaps.Open([]string{filepath.Join("..", "..", "pcaps", "testdata", "siw_mixed_q2.pcap.gz")}, pcaps.Options{})
	require.NoError(t, err)
	defer f.Close()
	seen := map[string]int{}
	require.NoError(t, analysis.Packets(f, wire.Config{}, func(p *wire.Packet) bool {
		shown := false
		for _, n := range wire.Tree(p) {
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
