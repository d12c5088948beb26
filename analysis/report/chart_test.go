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

func TestResample(t *testing.T) {
	for _, c := range []struct {
		name         string
		values       []int64
		start, width int64
		from, to     int64
		want         []float64
	}{
		{"one to one", []int64{1, 2, 3}, 100, 10, 100, 130, []float64{1, 2, 3}},
		{"joined", []int64{1, 2, 3, 4, 5, 6}, 0, 10, 0, 60, []float64{3, 7, 11}},
		{"spread", []int64{9}, 0, 30, 0, 30, []float64{3, 3, 3}},
		{"windows that begin before", []int64{10, 10, 10}, -5, 10, 0, 30, []float64{10, 10, 5}},
		{"and end behind", []int64{8}, 20, 20, 0, 30, []float64{0, 0, 4}},
		{"outside", []int64{7, 0}, 1000, 10, 0, 30, []float64{0, 0, 0}},
		{"no time", []int64{7}, 0, 10, 5, 5, []float64{0, 0, 0}},
	} {
		assert.InDeltaSlice(t, c.want, resample(c.values, c.start, c.width, c.from, c.to, 3), 1e-9, c.name)
	}
}

func TestBarsAndShares(t *testing.T) {
	assert.Equal(t, " ▁▄█", blocks.bars([]float64{0, 1e-9, 4, 8}), "what isn't 0 shows")
	assert.Equal(t, "    ", blocks.bars([]float64{0, 0, 0, 0}))
	assert.Equal(t, "·░▒▓▓█", blocks.shares([]float64{0, 0.001, 0.5, 0.75, 0.99, 1}), "full means all of it")
	assert.Equal(t, " _=#", ascii.bars([]float64{0, 1e-9, 4, 8}))
	assert.Equal(t, ".-+**#", ascii.shares([]float64{0, 0.001, 0.5, 0.75, 0.99, 1}))
	assert.Len(t, ascii.heights, len(blocks.heights))
	assert.Len(t, ascii.shades, len(blocks.shades))
}

func TestUseASCII(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "en_US.UTF-8"}, false},
		{map[string]string{"LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, true},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "dumb"}, true},
	} {
		assert.Equal(t, c.want, UseASCII(func(n string) string { return c.env[n] }), c.env)
	}
}

// TestOverTime: in the synthetic storm priority 3 is paused without a break for
// 900 of 1,018 ms from 50 ms on, and its traffic stops meanwhile.
func TestOverTime(t *testing.T) {
	src, err := pcaps.Open([]string{filepath.Join("..", "..", "pcaps", "testdata", "pfc_storm.pcap.gz")}, pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	s, err := analysis.Analyze(context.Background(), src, analysis.Options{LinkSpeed: 25e9})
	require.NoError(t, err)
	for _, o := range []Options{{}, {Width: 80}, {ASCII: true}} {
		var b bytes.Buffer
		require.NoError(t, Text(&b, s, o))
		_, chart, ok := strings.Cut(b.String(), "\nOVER TIME")
		require.True(t, ok)
		chart, _, _ = strings.Cut(chart, "\nPAUSES")
		lines := strings.Split(chart, "\n")
		n, full, low := 64, "█", "▁"
		if o.Width == 80 {
			n = 45
		}
		if o.ASCII {
			full, low = "#", "_"
			assert.NotContains(t, chart, "█")
		}
		require.True(t, strings.HasPrefix(lines[2], " prio 3"), chart)
		paused := []rune(lines[2])[1+chartLabel:][:n]
		traffic := []rune(lines[1])[1+chartLabel:][:n]
		first := strings.IndexRune(string(paused), []rune(full)[0])
		require.Positive(t, first)
		count := strings.Count(string(paused), full)
		assert.InDelta(t, 900.0/1018*float64(n), count, 2, "fully paused columns")
		assert.InDelta(t, count, strings.Count(string(traffic), low), 3, "next to nothing passed meanwhile")
		for i, l := range lines {
			assert.LessOrEqual(t, columns(l), max(o.width(), 80), "line %d", i)
		}
	}
}

// TestNoChartWithoutTime: nothing to draw, nothing drawn.
func TestNoChartWithoutTime(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Text(&b, &analysis.Snapshot{}, Options{}))
	assert.NotContains(t, b.String(), "OVER TIME")
}
