package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/live"
)

// TestDeploy: the dashboard and the alerts ask for metrics that there are, by
// labels that they have; the dashboard is JSON.
func TestDeploy(t *testing.T) {
	m := &liveMetrics{most: map[string]float64{}, stats: func() []live.Stats { return []live.Stats{{Name: "eth7", NICDropped: 0}} }}
	s := &analysis.Snapshot{}
	s.Capture.Evictions = analysis.Counts{"flows": 1}
	s.PFC.Sources = analysis.List[analysis.PFCSource]{{Interface: "eth7", Priority: 3}}
	s.PFC.Storms = analysis.List[analysis.PFCStorm]{{Interface: "eth7", Priority: 3, Kind: "storm"}}
	s.Connections = analysis.List[analysis.Connection]{{Transport: "rocev2", Interface: "eth7", Flows: analysis.List[analysis.Flow]{{Latency: analysis.Latencies{Ack: &analysis.Latency{Count: 1}}}}}}
	m.update(s)
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(m))
	families, err := reg.Gather()
	require.NoError(t, err)
	labels := map[string]map[string]bool{"rdmascope_build_info": {}, "rdmascope_snapshot_time_seconds": {}}
	for _, f := range families {
		set := map[string]bool{}
		for _, metric := range f.GetMetric() {
			for _, l := range metric.GetLabel() {
				set[l.GetName()] = true
			}
		}
		labels[f.GetName()] = set
	}
	names := regexp.MustCompile(`\brdmascope_\w+`)
	selectors := regexp.MustCompile(`\b(rdmascope_\w+)\{([^}]*)\}`)
	label := regexp.MustCompile(`(\w+)\s*[=!]`)
	for _, file := range []string{"dashboard.json", "alerts.yml"} {
		text, err := os.ReadFile(filepath.Join("deploy", file))
		require.NoError(t, err)
		if strings.HasSuffix(file, ".json") {
			require.True(t, json.Valid(text))
		}
		plain := strings.ReplaceAll(string(text), `\"`, `"`)
		found := names.FindAllString(plain, -1)
		assert.NotEmpty(t, found)
		for _, n := range found {
			base := withoutPart(n)
			assert.Contains(t, labels, base, "%s: %s", file, n)
		}
		for _, sel := range selectors.FindAllStringSubmatch(plain, -1) {
			base := withoutPart(sel[1])
			for _, l := range label.FindAllStringSubmatch(sel[2], -1) {
				if l[1] != "instance" && l[1] != "le" { // not labels of ours
					assert.True(t, labels[base][l[1]], "%s: %s has no label %s", file, sel[1], l[1])
				}
			}
		}
	}
}

// withoutPart is the name of the histogram that a series is part of.
func withoutPart(series string) string {
	for _, part := range []string{"_sum", "_count", "_bucket"} {
		if name, ok := strings.CutSuffix(series, part); ok {
			return name
		}
	}
	return series
}
