package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
	"rdmascope/pcaps/live"
)

func TestLiveUsage(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "-i names no interface"},
		{"-i a -r b", "-i and -r: one of them"},
		{"-r b -w c", "-w writes what -i captures"},
		{"-i a -b files:3", "-b is about the files of -w"},
		{"-i a -w b -b files:3", "add filesize, duration or packets"},
		{"-i a -w b -b filesize:x", "not a number from 1"},
		{"-i a -w b -b blocks:1", "filesize, duration, packets or files"},
		{"-i a -w -", "standard output is the report's"},
		{"-i a --trigger bad", "notice, warning or critical"},
		{"-i a --trigger critical --pre -1s", "from 0 to 1h"},
		{"-i a --trigger critical --trigger-dir /nonexistent", "no such directory"},
		{"-i a --trigger critical --trigger-files 0", "at least 1"},
		{"-i a --listen 9477", "missing port"},
		{"-i a -a 60", "duration:SECONDS or packets:NUMBER"},
		{"-i a -a files:3", "duration:SECONDS or packets:NUMBER"},
		{"-i a -s 5", "14 octets"},
		{"-i a -B 1", "2 to 4096 MiB"},
		{"-i a --rings 0", "from 1 to 256"},
		{"-i a --every 1ms", "at least 10ms"},
		{"-i a -c -1", "not a number of packets"},
		{"-i a -o html", "text"},
		{"-i a -f port", "no filter port"},
		{"-i a -f @/nonexistent/f", "no such file"},
	} {
		r := runArgs(append([]string{"live"}, strings.Fields(tt.args)...)...)
		assert.Equal(t, exitUsage, r.code, tt.args)
		assert.Contains(t, r.errors, tt.want, tt.args)
		assert.Empty(t, r.out, tt.args)
	}
}

// TestLiveStream: what tcpdump writes into a pipe is analysed as it comes.
func TestLiveStream(t *testing.T) {
	r := runWith(bytes.NewReader(plain(t, lossy)), "live", "-r", "-", "-o", "ndjson")
	assert.Equal(t, exitOK, r.code, r.errors)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	assert.Contains(t, lines[len(lines)-1], `"schema":"rdmascope.report/1"`)
	assert.Greater(t, len(lines), 1, "findings before it")
}

// endless is a stream that never ends by itself.
type endless struct{ first io.Reader }

func (e *endless) Read(b []byte) (int, error) {
	n, err := e.first.Read(b)
	if err != nil {
		select {} // waits for packets that never come
	}
	return n, nil
}

// TestLiveStreamStops: -a ends a stream that waits for more.
func TestLiveStreamStops(t *testing.T) {
	start := time.Now()
	r := runWith(&endless{bytes.NewReader(plain(t, lossy))}, "live", "-r", "-", "-a", "duration:0.5", "-q")
	assert.Equal(t, exitOK, r.code, r.errors)
	assert.Contains(t, r.out, "packets")
	assert.Less(t, time.Since(start), 20*time.Second)
}

// TestMetrics: names and labels are as Prometheus wants them, no counter
// falls, and a finding that is gone goes to 0.
func TestMetrics(t *testing.T) {
	m := &liveMetrics{most: map[string]float64{}, stats: func() []live.Stats {
		return []live.Stats{{Name: "eth7", Received: 10, KernelDropped: 2, NICDropped: -1, Up: true}}
	}}
	snapshot := func(resent int64, findings ...analysis.Finding) *analysis.Snapshot {
		s := &analysis.Snapshot{Findings: findings}
		s.Connections = analysis.List[analysis.Connection]{{Transport: "rocev2", Interface: "eth7", Flows: analysis.List[analysis.Flow]{{
			Retransmitted: analysis.Int(resent), Latency: analysis.Latencies{Ack: &analysis.Latency{Count: 4, MeanNS: 500}},
		}}}}
		s.PFC.Sources = analysis.List[analysis.PFCSource]{
			{Interface: "eth7", Priority: 3, XOFFFrames: 5, XONFrames: 1, PausedNS: analysis.Int(1_500_000_000)},
			{Interface: "eth7", Priority: 3, XOFFFrames: 2, PausedNS: analysis.Int(500_000_000)},
			{Interface: "eth7", Priority: analysis.PriorityAll, XOFFFrames: 1},
		}
		return s
	}
	m.update(snapshot(7, analysis.Finding{Rule: "rc.loss", Severity: "warning"}, analysis.Finding{Rule: "rc.loss", Severity: "warning"}))
	problems, err := testutil.CollectAndLint(m)
	require.NoError(t, err)
	assert.Empty(t, problems)
	compare := func(want string, names ...string) {
		t.Helper()
		assert.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(want), names...))
	}
	compare(`
# HELP rdmascope_capture_dropped_packets_total Packets lost before they could be analysed.
# TYPE rdmascope_capture_dropped_packets_total counter
rdmascope_capture_dropped_packets_total{iface="eth7",where="kernel"} 2
# HELP rdmascope_pfc_paused_seconds_total Time paused, by capture interface; 802.3x pause is priority all.
# TYPE rdmascope_pfc_paused_seconds_total counter
rdmascope_pfc_paused_seconds_total{iface="eth7",priority="3"} 2
rdmascope_pfc_paused_seconds_total{iface="eth7",priority="all"} 0
`, "rdmascope_capture_dropped_packets_total", "rdmascope_pfc_paused_seconds_total")
	found := func() float64 { return valueOf(t, m, "rdmascope_findings", "rc.loss") }
	resent := func() float64 { return valueOf(t, m, "rdmascope_retransmitted_packets_total", "request") }
	assert.EqualValues(t, 2, found())
	assert.EqualValues(t, 7, resent())
	m.update(snapshot(5))
	assert.EqualValues(t, 0, found())
	assert.EqualValues(t, 7, resent(), "a counter never falls")
	m.update(snapshot(9))
	assert.EqualValues(t, 9, resent())
}

// TestMetricsLatency: the histogram of a real capture holds each of its samples
// once, in as many buckets as ever, and falls no more than other counters do.
func TestMetricsLatency(t *testing.T) {
	s := analyzed(t, testdata("rxe_write_loss1_before_cap.pcap.gz"))
	m := &liveMetrics{stats: func() []live.Stats { return []live.Stats{{Name: "eth7"}} }}
	m.update(s)
	m.update(&analysis.Snapshot{}) // as if all connections were gone
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(m))
	families, err := reg.Gather()
	require.NoError(t, err)
	found := 0
	for _, f := range families {
		if f.GetName() != "rdmascope_operation_latency_seconds" {
			continue
		}
		for _, metric := range f.GetMetric() {
			h := metric.GetHistogram()
			var want *analysis.Latency
			switch op := metric.GetLabel()[0].GetValue(); op {
			case "ack":
				want = s.Connections[0].Flows[0].Latency.Ack
			case "message":
				want = s.Connections[0].Flows[0].Latency.Message
			default:
				require.Fail(t, "this capture has no "+op)
			}
			found++
			assert.EqualValues(t, want.Count, h.GetSampleCount())
			assert.InEpsilon(t, float64(want.Count)*float64(want.MeanNS)/1e9, h.GetSampleSum(), 1e-3)
			assert.Len(t, h.GetBucket(), 24)
			below := uint64(0)
			for _, b := range h.GetBucket() {
				if b.GetUpperBound()*1e9 <= float64(want.MinNS) {
					assert.Zero(t, b.GetCumulativeCount())
				}
				if b.GetUpperBound()*1e9 > float64(want.MaxNS) {
					assert.Equal(t, h.GetSampleCount(), b.GetCumulativeCount())
				}
				assert.GreaterOrEqual(t, b.GetCumulativeCount(), below)
				below = b.GetCumulativeCount()
			}
		}
	}
	assert.Equal(t, 2, found)
}

// valueOf is the value of the one metric of a name that has the label.
func valueOf(t *testing.T, m *liveMetrics, name, label string) float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(m))
	families, err := reg.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				if l.GetValue() == label {
					return metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
				}
			}
		}
	}
	require.Fail(t, "no such metric", "%s %s", name, label)
	return 0
}

// TestFindingsLog: each finding is told once, and again when it got worse; the
// memory of it is bounded.
func TestFindingsLog(t *testing.T) {
	var said []string
	l := &findingsLog{told: map[string]int{}, say: func(s string) { said = append(said, s) }}
	see := func(f ...analysis.Finding) int { return len(l.look(&analysis.Snapshot{Findings: f})) }
	a := analysis.Finding{ID: "F1", Rule: "rc.loss", Severity: "warning", Title: "x", Subject: analysis.Subject{Kind: "connection", ConnectionID: "c1"}}
	b := a
	b.Subject.ConnectionID = "c2"
	assert.Equal(t, 1, see(a))
	assert.Equal(t, 0, see(a))
	a.ID = "F2"
	assert.Equal(t, 1, see(b, a))
	a.Severity = "critical"
	assert.Equal(t, 1, see(b, a))
	a.Severity = "warning"
	assert.Equal(t, 0, see(b, a))
	assert.Equal(t, []string{"WARNING rc.loss: x", "WARNING rc.loss: x", "CRITICAL rc.loss: x"}, said)
	for i := range maxTold + 5 {
		b.Subject.ConnectionID = strings.Repeat("x", i%7) + string(rune('0'+i%10)) + time.Duration(i).String()
		see(b)
	}
	assert.LessOrEqual(t, len(l.told), maxTold)
	assert.Len(t, l.order, len(l.told))
}

func analyzed(t *testing.T, path string) *analysis.Snapshot {
	t.Helper()
	files, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer files.Close()
	s, err := analysis.Analyze(context.Background(), files, analysis.Options{})
	require.NoError(t, err)
	return s
}

func TestLoopbackAddress(t *testing.T) {
	for in, want := range map[string]string{":9477": "127.0.0.1:9477", "0.0.0.0:1": "0.0.0.0:1", "[::]:1": "[::]:1", "host:2": "host:2"} {
		got, err := loopbackAddress(in)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := loopbackAddress("9477")
	assert.Error(t, err)
}

// TestTriggerMemory: what is held is bounded in memory and in time, whatever
// comes.
func TestTriggerMemory(t *testing.T) {
	dir := t.TempDir()
	var said []string
	tr, err := newTrigger(triggerOptions{severity: "critical", pre: 2 * time.Second, post: time.Second, dir: dir, files: 1, memoryMiB: 1}, func(s string) { said = append(said, s) })
	require.NoError(t, err)
	faces := []analysis.Interface{{Name: "eth7", Link: 1, Received: 1, Dropped: 0}}
	buf := make([]byte, 100_000)
	feed := func(at time.Duration) {
		tr.block(buf, []analysis.Record{{Time: int64(at), Cap: 100_000, Wire: 100_000, Link: 1}}, faces)
		var sum int64
		for i := range tr.held {
			sum += tr.held[i].size()
		}
		require.Equal(t, sum, tr.bytes)
		require.LessOrEqual(t, sum, int64(1<<20))
	}
	for i := range 50 { // ten a second: a second fits
		feed(time.Duration(i) * 100 * time.Millisecond)
	}
	tr.look([]analysis.Finding{{Rule: "a.b", Severity: "warning"}})
	assert.Nil(t, tr.pending, "not bad enough")
	tr.look([]analysis.Finding{{Rule: "a.b", Severity: "critical", FirstTime: analysis.Time(4900 * time.Millisecond), Title: "bad"}})
	for i := 50; i < 65; i++ {
		feed(time.Duration(i) * 100 * time.Millisecond)
	}
	tr.finish(faces)
	require.NotEmpty(t, said)
	assert.Contains(t, said[0], "a.b: 11 packets written to")
	assert.Contains(t, said[0], "(from 00:00:05.000 on: --trigger-memory holds no more)")
	assert.Contains(t, said[1], "no more")
	tr.look([]analysis.Finding{{Rule: "a.c", Severity: "critical"}})
	feed(10 * time.Second)
	tr.finish(faces)
	assert.Len(t, said, 2, "only so many files")
	for i := range 20 {
		feed(time.Duration(20+5*i) * time.Second)
		assert.LessOrEqual(t, len(tr.held), 2, "what is older than --pre and the slack is forgotten")
	}
}
