package analysis_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// TestLettingGo: what connections counted that were let go is in the totals, by
// flow, by host and by NIC counter, as if all were still listed.
func TestLettingGo(t *testing.T) {
	capture := func() *passing {
		return &passing{connections: 12_000, open: 50, lossEvery: 40, gap: time.Microsecond}
	}
	all, err := analysis.Analyze(context.Background(), capture(), analysis.Options{})
	require.NoError(t, err)
	require.Len(t, all.Connections, 12_000)
	for name, opt := range map[string]analysis.Options{
		"idle":    {Idle: 2 * time.Millisecond},
		"no room": {MaxFlows: 64 * 60},
		"both":    {Idle: 5 * time.Millisecond, MaxFlows: 64 * 60},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := analysis.Analyze(context.Background(), capture(), opt)
			require.NoError(t, err)
			assert.EqualValues(t, 12_000, s.ConnectionsTotal)
			require.NotNil(t, s.AgedOut)
			assert.EqualValues(t, 12_000, int64(len(s.Connections))+s.AgedOut.Connections)
			assert.Less(t, len(s.Connections), 4500)
			if opt.Idle == 0 {
				assert.Positive(t, s.AgedOut.Evicted)
				assert.Equal(t, s.AgedOut.Connections, s.AgedOut.Evicted, "there was no other reason")
				assert.Greater(t, s.Capture.Evictions["connections"], s.AgedOut.Evicted, "those with trouble are listed all the same")
			}
			ignore := cmp.Options{cmpopts.IgnoreUnexported(analysis.FlowTotals{}, analysis.Host{})}
			assert.Empty(t, cmp.Diff(all.FlowTotals(), s.FlowTotals(), ignore))
			assertLatencies(t, all.FlowTotals()[0], s.FlowTotals()[0])
			assertHosts(t, all, s)
			assert.Equal(t, all.Capture.DuplicatePackets, s.Capture.DuplicatePackets)
			assert.Equal(t, all.Capture.UnseenPackets, s.Capture.UnseenPackets)
		})
	}
}

func assertLatencies(t *testing.T, want, got *analysis.FlowTotals) {
	t.Helper()
	of := func(f *analysis.FlowTotals) map[string]analysis.Histogram {
		m := map[string]analysis.Histogram{}
		f.EachLatency(func(name string, h *analysis.Histogram) { m[name] = *h })
		return m
	}
	assert.Equal(t, of(want), of(got))
}

// assertHosts compares the hosts for which there was room.
func assertHosts(t *testing.T, want, got *analysis.Snapshot) {
	t.Helper()
	crowded := got.Capture.Evictions["host_counters"] > 0
	same := 0
	for i := range want.Hosts {
		w := &want.Hosts[i]
		k := slices.IndexFunc(got.Hosts, func(h analysis.Host) bool { return h.IP == w.IP })
		if crowded && (k < 0 || got.Hosts[k].SentPackets < w.SentPackets || got.Hosts[k].ReceivedPackets < w.ReceivedPackets) {
			continue
		}
		require.GreaterOrEqual(t, k, 0, w.IP)
		if cmp.Equal(w, &got.Hosts[k], cmpopts.IgnoreUnexported(analysis.Host{})) {
			same++
		} else if !crowded {
			assert.Empty(t, cmp.Diff(w, &got.Hosts[k], cmpopts.IgnoreUnexported(analysis.Host{})))
			return
		}
	}
	assert.Positive(t, same)
}

// TestWorkersLetGoAlike: what is let go doesn't depend on the workers.
func TestWorkersLetGoAlike(t *testing.T) {
	var first []byte
	for _, workers := range []int{1, 2, 7} {
		src := &passing{connections: 8_000, open: 50, lossEvery: 10, gap: time.Microsecond}
		s, err := analysis.Analyze(context.Background(), src, analysis.Options{Workers: workers, Idle: 3 * time.Millisecond, MaxFlows: 64 * 60})
		require.NoError(t, err)
		text, err := json.Marshal(s)
		require.NoError(t, err)
		if first == nil {
			first = text
			continue
		}
		assert.Equal(t, string(first), string(text))
	}
}

// TestLettingGoOfRealConnections: whatever a capture holds, no packet is lost
// from the totals when its connections are let go over and over.
func TestLettingGoOfRealConnections(t *testing.T) {
	packets := func(s *analysis.Snapshot) (n int64) {
		for _, f := range s.FlowTotals() {
			n += f.Packets
		}
		return n
	}
	bad := func(s *analysis.Snapshot) (n int64) {
		for _, f := range s.FlowTotals() {
			n += f.ICRCBad
		}
		return n
	}
	for _, path := range captures(t, "*.pcap*") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			all := analyze(t, path, analysis.Options{})
			several := false
			for i := range all.Inputs {
				several = several || len(all.Inputs[i].Interfaces) > 1
			}
			for _, opt := range []analysis.Options{{Idle: time.Millisecond}, {MaxFlows: 1}, {Idle: 100 * time.Microsecond, MaxFlows: 64 * 3}} {
				s := analyze(t, path, opt)
				switch got, want := packets(s), packets(all); {
				case several: // a packet counts at each interface, once there is nothing to join them by
				case all.Protocols.IWARP.Packets > 0: // a TCP connection let go before it proved to be iWARP is none
					assert.LessOrEqual(t, got, want)
					assert.Positive(t, got)
				default: // a corrupt packet opens no flow, so it may find none
					assert.InDelta(t, want, got, float64(bad(all)), "%+v", opt)
				}
				assert.Equal(t, all.Capture.Packets, s.Capture.Packets)
				assert.Equal(t, all.Protocols.RoCEv2, s.Protocols.RoCEv2)
				ids := map[string]bool{}
				for i := range s.Connections {
					require.False(t, ids[s.Connections[i].ID] && len(s.Connections[i].Flows) > 0, "%s comes twice", s.Connections[i].ID)
					ids[s.Connections[i].ID] = true
				}
			}
		})
	}
}
