package report

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// section analyses a capture of the repository and returns one section of its
// report, "" when it hasn't got it.
func section(t *testing.T, file, title string, opt analysis.Options, o Options) string {
	t.Helper()
	src, err := pcaps.Open([]string{filepath.Join("..", "..", "pcaps", "testdata", file)}, pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	s, err := analysis.Analyze(context.Background(), src, opt)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Text(&b, s, o))
	_, text, _ := strings.Cut(b.String(), "\n"+title)
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

func TestCongestionSection(t *testing.T) {
	dcqcn := section(t, "cnp_ce_synthetic.pcap.gz", "CONGESTION", analysis.Options{}, Options{})
	assert.Regexp(t, `192\.0\.2\.1→192\.0\.2\.2 +0x[0-9a-f]{6} +427 +14 % +36 +2\.61 µs`, dcqcn)
	assert.Contains(t, dcqcn, "48.8 µs", "the smallest gap of the CNPs")
	deaf := section(t, "rxe_ecn_ce_fq_codel.pcap.gz", "CONGESTION", analysis.Options{}, Options{})
	assert.Regexp(t, `769 +96 % +0 +–`, deaf)
	assert.Empty(t, section(t, "rxe_rping.pcap.gz", "CONGESTION", analysis.Options{}, Options{}), "nothing to show")
}

func TestPauseVerdicts(t *testing.T) {
	storm := section(t, "pfc_storm.pcap.gz", "PAUSES", analysis.Options{LinkSpeed: 25e9}, Options{})
	assert.Contains(t, storm, "watchdogs would have spoken: SONiC pfcwd 1, a NIC's (100 ms) 1, mlx5's stall warning (6.8 s) 0")
	spread := section(t, "pfc_propagation.pcapng.gz", "PAUSES", analysis.Options{}, Options{Top: 2})
	assert.Equal(t, 2, strings.Count(spread, "priority 3 spread: leaf2-Eth1 (+0 ns) → spine1-Eth2"))
	assert.NotContains(t, spread, "watchdogs", "none would have spoken")
	assert.NotContains(t, section(t, "pfc_normal_bursts.pcap.gz", "PAUSES", analysis.Options{LinkSpeed: 25e9}, Options{}), "watchdogs")
}
