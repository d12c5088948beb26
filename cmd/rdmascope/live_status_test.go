package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/live"
)

// TestStatusLine: what the capture misses stands first, then the verdict; what
// doesn't fit falls off the end, and no line is wider than the terminal.
func TestStatusLine(t *testing.T) {
	up := live.Stats{Name: "eth7", Up: true, NICDropped: -1}
	bad := live.Stats{Name: "eth8", Up: true, KernelDropped: 1204, NICDropped: 3}
	down := live.Stats{Name: "eth9", NICDropped: -1}
	gone := live.Stats{Name: "eth9", Gone: true, KernelDropped: 2}
	snap := &analysis.Snapshot{Findings: analysis.List[analysis.Finding]{{Severity: "critical"}, {Severity: "notice"}, {Severity: "notice"}}}
	snap.Capture.Packets = 1204331
	snap.Windows = analysis.List[analysis.Window]{{Name: "10s", DurationNS: 10e9, Packets: 812_000, WireBytes: 775_000_000, Retransmitted: analysis.Int(12),
		LostUpstream: analysis.Int(3), LostDownstream: analysis.Int(1), Naks: analysis.Int(0), PausedNS: analysis.Int(1_500_000)}}
	took := time.Hour + 4*time.Minute + 11*time.Second
	for _, tt := range []struct {
		stats []live.Stats
		snap  *analysis.Snapshot
		want  string
	}{
		{[]live.Stats{up}, snap, "drops 0 │ ✖ 1  ▲ 0  ● 2 │ 01:04:11 1,204,331 packets │ 10 s: 81,200 packets/s 620 Mb/s │ 4 lost │ 12 resent │ paused 1.5 ms"},
		{[]live.Stats{up, bad}, nil, "▲ DROPS eth8 kernel 1,204, nic 3 │ 01:04:11 │ nothing analysed yet"},
		{[]live.Stats{down, bad}, nil, "▲ DROPS eth8 kernel 1,204, nic 3; eth9 DOWN │ 01:04:11 │ nothing analysed yet"},
		{[]live.Stats{gone}, nil, "▲ DROPS eth9 kernel 2; eth9 GONE │ 01:04:11 │ nothing analysed yet"},
		{[]live.Stats{up, down}, nil, "▲ eth9 DOWN; drops 0 │ 01:04:11 │ nothing analysed yet"},
		{nil, &analysis.Snapshot{}, "drops not told │ ✓ no findings │ 01:04:11 0 packets"},
	} {
		assert.Equal(t, tt.want, strings.Join(statusParts(tt.stats, tt.snap, took), " │ "))
	}
	r := &liveRun{tee: &liveTee{}, began: time.Now()}
	r.newest.Store(snap)
	whole := r.statusLine(0)
	for width := 1; width < 200; width++ {
		line := r.statusLine(width)
		assert.Less(t, utf8.RuneCountInString(line), width+1)
		assert.True(t, strings.HasPrefix(whole, line), "%q", line)
	}
}

// TestStatusInPlace: a line of something else takes the place of the status
// line, which comes back below it.
func TestStatusInPlace(t *testing.T) {
	var out bytes.Buffer
	r := &liveRun{app: &app{stderr: &out}, flags: &liveFlags{}}
	r.statusInPlace("drops 0")
	r.notice("eth7: the interface went down")
	r.statusInPlace("▲ DROPS eth7 down")
	r.statusInPlace("")
	blank := func(n int) string { return "\r" + strings.Repeat(" ", n) + "\r" }
	require.Equal(t, "drops 0"+blank(7)+"rdmascope: eth7: the interface went down\n▲ DROPS eth7 down"+blank(17), out.String())
}
