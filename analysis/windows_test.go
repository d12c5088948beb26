package analysis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// counting is a capture that goes on: a packet every 10 ms, every tenth of
// which is sent again, and a pause of 1 ms a second.
type counting struct {
	began   time.Time
	windows analysis.Windows
	packets int64
	last    time.Duration // time of the newest packet since the beginning
}

func (c *counting) snapshot(at time.Duration) *analysis.Snapshot {
	c.last, c.packets = at, int64(at/(10*time.Millisecond))
	return c.again()
}

// again is a snapshot without anything new.
func (c *counting) again() *analysis.Snapshot {
	s := &analysis.Snapshot{}
	s.Capture.StartTime = analysis.Time(c.began.UnixNano())
	s.Capture.EndTime = analysis.Time(c.began.Add(c.last).UnixNano())
	s.Capture.Packets, s.Capture.WireBytes = c.packets, 100*c.packets
	s.Protocols.RoCEv2.Packets = c.packets
	s.Connections = analysis.List[analysis.Connection]{{Flows: analysis.List[analysis.Flow]{{Retransmitted: analysis.Int(c.packets / 10)}}}}
	s.PFC.Sources = analysis.List[analysis.PFCSource]{{PausedNS: analysis.Int(int64(c.last / 1000))}}
	return s
}

func (c *counting) look(s *analysis.Snapshot, wall time.Duration) map[string]analysis.Window {
	m := map[string]analysis.Window{}
	for _, w := range c.windows.Add(s, c.began.Add(wall)).Windows {
		m[w.Name] = w
	}
	return m
}

func newCounting() *counting { return &counting{began: time.Unix(1_700_000_000, 0)} }

// TestWindows: with a snapshot a second, each window holds what came in its
// time, and the beginning is as long as it is.
func TestWindows(t *testing.T) {
	c := newCounting()
	var w map[string]analysis.Window
	for sec := range 3600 {
		now := time.Duration(sec+1) * time.Second
		w = c.look(c.snapshot(now), now+time.Second) // the system's clock differs: no matter
		require.Len(t, w, 4)
		for name, span := range map[string]int64{"10s": 10, "1m": 60, "10m": 600, "all": 1 << 30} {
			want := min(span, int64(sec+1))
			got := w[name]
			// A window reaches back a 64th too far at most, and a second for the
			// time between two snapshots.
			slack := span/64 + 1
			if span >= int64(sec+1) {
				slack = 0
			}
			seconds := got.DurationNS / 1e9
			require.GreaterOrEqual(t, seconds, want, "%s after %d s", name, sec+1)
			require.LessOrEqual(t, seconds, want+slack, "%s after %d s", name, sec+1)
			require.EqualValues(t, 100*seconds, got.Packets)
			require.EqualValues(t, 10_000*seconds, got.WireBytes)
			require.EqualValues(t, 100*seconds, got.RoCEPackets)
			require.EqualValues(t, 10*seconds, *got.Retransmitted)
			require.EqualValues(t, seconds*1e6, *got.PausedNS)
			require.Nil(t, got.Dropped, "nobody told")
			require.Nil(t, got.LostUpstream, "no flow can tell")
		}
	}
	assert.EqualValues(t, 360_000, w["all"].Packets)
	assert.EqualValues(t, c.began.UnixNano(), w["all"].From)
	assert.EqualValues(t, c.began.Add(time.Hour).UnixNano(), w["10s"].To)
}

// TestWindowsLull: when nothing comes, the system's clock empties the windows,
// one after the other; what comes then is new.
func TestWindowsLull(t *testing.T) {
	c := newCounting()
	now := time.Duration(0)
	for range 100 {
		now += 100 * time.Millisecond
		c.look(c.snapshot(now), now)
	}
	for range 11 {
		now += time.Second
		w := c.look(c.again(), now)
		assert.EqualValues(t, c.began.Add(now).UnixNano(), w["10s"].To)
		assert.EqualValues(t, 1000, w["1m"].Packets)
	}
	w := c.look(c.again(), now)
	assert.Zero(t, w["10s"].Packets)
	assert.Zero(t, *w["10s"].Retransmitted)
	assert.Zero(t, *w["10s"].PausedNS)
	assert.EqualValues(t, 1000, w["all"].Packets)
	// The next packets are stamped a little before the time that the system's
	// clock has reached: no window runs backward.
	before := w["all"].To
	c.packets += 7
	c.last = now - 50*time.Millisecond
	w = c.look(c.again(), now+time.Millisecond)
	assert.GreaterOrEqual(t, w["all"].To, before)
	assert.EqualValues(t, 7, w["10s"].Packets)
}

// TestWindowsBounds: no figure of a window is negative, memory is bounded
// however often one looks, and before the first packet there is nothing.
func TestWindowsBounds(t *testing.T) {
	c := newCounting()
	assert.Empty(t, c.windows.Add(&analysis.Snapshot{}, c.began).Windows, "no packet yet")
	c.look(c.snapshot(5*time.Second), 5*time.Second)
	s := c.again()
	s.Connections[0].Flows[0].Retransmitted = analysis.Int(3) // 50 before: the others were copies
	w := c.look(s, 5*time.Second)
	assert.EqualValues(t, 50, *w["10s"].Retransmitted)
	s.Connections[0].Flows[0].Retransmitted = nil
	w = c.look(s, 5*time.Second)
	assert.Nil(t, w["10s"].Retransmitted)

	allocs := testing.AllocsPerRun(2000, func() { c.look(c.snapshot(c.last+10*time.Millisecond), c.last) })
	assert.Less(t, allocs, 100.0)
	s = c.snapshot(time.Hour) // an hour passed without a look
	w = c.look(s, time.Hour)
	assert.Greater(t, w["10s"].DurationNS, int64(10*time.Second), "and says so")
	assert.Equal(t, w["10m"].Packets, int64(w["10m"].DurationNS/1e7))
}

// TestWindowsFindings: those whose evidence reaches into a window.
func TestWindowsFindings(t *testing.T) {
	c := newCounting()
	c.look(c.snapshot(time.Second), time.Second)
	c.look(c.snapshot(100*time.Second), 100*time.Second)
	s := c.snapshot(200 * time.Second)
	at := func(sec int) analysis.Time {
		return analysis.Time(c.began.Add(time.Duration(sec) * time.Second).UnixNano())
	}
	s.Findings = analysis.List[analysis.Finding]{
		{Severity: analysis.SeverityCritical, FirstTime: at(1), LastTime: at(199)},
		{Severity: analysis.SeverityWarning, FirstTime: at(2), LastTime: at(50)},
		{Severity: analysis.SeverityWarning}, // about the capture as a whole
	}
	w := c.look(s, 200*time.Second)
	assert.Equal(t, analysis.Counts{"critical": 1}, w["10s"].Findings)
	assert.Equal(t, analysis.Counts{"critical": 1, "warning": 2}, w["all"].Findings)
}

// TestWindowsAged: what aged out stays counted.
func TestWindowsAged(t *testing.T) {
	c := newCounting()
	s := c.snapshot(time.Second)
	s.AgedOut = &analysis.AgedOut{Retransmitted: 6, LostDownstream: 2, Naks: analysis.Naks{PSNSequenceError: 3}}
	w := c.look(s, time.Second)
	assert.EqualValues(t, 16, *w["all"].Retransmitted)
	assert.EqualValues(t, 2, *w["10s"].LostDownstream)
	assert.EqualValues(t, 3, *w["10s"].Naks)
}

// TestFlowTotals: the sums of a capture are those of its flows, joined in parts
// or not, and every latency sample has its place in a histogram.
func TestFlowTotals(t *testing.T) {
	for _, pattern := range []string{"rxe_write_loss1_before_cap*", "siw_mixed_loss1*"} {
		paths := captures(t, pattern)
		require.NotEmpty(t, paths, pattern)
		s := analyze(t, paths[0], analysis.Options{})
		by := s.FlowTotals()
		require.Len(t, by, 1, "one interface")
		all := by[0]
		assert.Equal(t, s.Connections[0].Interface, all.Interface)
		var packets, resent, samples int64
		parts := analysis.FlowTotals{Interface: all.Interface}
		eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
			packets += f.Packets
			if f.Retransmitted != nil {
				resent += *f.Retransmitted
			}
			for _, l := range []*analysis.Latency{f.Latency.Ack, f.Latency.Message, f.Latency.ReadFirst, f.Latency.ReadLast, f.Latency.Atomic} {
				if l != nil {
					samples += l.Count
				}
			}
			one := analysis.FlowTotals{}
			one.Add(f)
			parts.Join(&one)
		})
		assert.Equal(t, *all, parts, "joined")
		assert.Equal(t, packets, all.Packets)
		if all.Retransmitted != nil {
			assert.Equal(t, resent, *all.Retransmitted)
		}
		assert.Positive(t, samples)
		all.EachLatency(func(op string, h *analysis.Histogram) {
			var n, last int64
			for i, v := range h.Octaves {
				n += v
				if bound, ok := h.Bound(i); ok {
					assert.Greater(t, bound, last)
					last = bound
				}
			}
			assert.Equal(t, h.Count, n, "%s: every sample is in one octave", op)
			samples -= n
		})
		assert.Zero(t, samples)
	}
}
