package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// TestScenarioSettings: thresholds that are looked at while packets pass are
// settings as all others; 0 is the smallest there is, not the default.
func TestScenarioSettings(t *testing.T) {
	storm := func() *synth.Scenario {
		p := &pauses{}
		p.hold(0, 300*msec, macB)
		p.end(1000 * msec)
		return &p.Scenario
	}
	heeding := func() *synth.Scenario {
		c := newCongested(1, 1)
		stream(c, true) // cuts its rate by half for 300 µs
		return &c.Scenario
	}
	rules := func(prefix string) func(s *analysis.Snapshot) any {
		return func(s *analysis.Snapshot) any { return rulesOf(s, prefix) }
	}
	watchdogs := func(s *analysis.Snapshot) any {
		return []int64{*s.PFC.Watchdogs.PFCWD, *s.PFC.Watchdogs.NIC, *s.PFC.Watchdogs.MLX5}
	}
	for _, c := range []struct {
		name     string
		scenario func() *synth.Scenario
		settings analysis.Settings
		of       func(s *analysis.Snapshot) any
		want     any
	}{
		{"storm", storm, nil, rules("pfc."), []string{"pfc.storm"}},
		{"longer storms only", storm, analysis.Settings{"pfc.storm.detect_ms": 301}, rules("pfc."), []string{"pfc.heavy"}},
		{"and heavier", storm, analysis.Settings{"pfc.storm.detect_ms": 301, "pfc.heavy.paused_ratio": 0.5}, rules("pfc."), []string{}},
		{"0 is no default", storm, analysis.Settings{"pfc.storm.detect_ms": 301, "pfc.heavy.paused_ratio": 0}, rules("pfc."), []string{"pfc.heavy"}},
		{"watchdogs", storm, nil, watchdogs, []int64{0, 1, 0}},
		{"other watchdogs", storm, analysis.Settings{"pfc.storm.pfcwd_poll_ms": 50, "pfc.storm.nic_watchdog_ms": 301, "pfc.storm.mlx5_stall_ms": 300},
			watchdogs, []int64{1, 0, 1}},
		{"windows", storm, analysis.Settings{"pfc.heavy.window_ms": 50}, func(s *analysis.Snapshot) any { return s.PFC.Sources[0].Windows.WidthNS }, 50 * msec},
		{"heeds", heeding, nil, rules("ecn.deaf"), []string{}},
		{"not enough", heeding, analysis.Settings{"ecn.deaf_sender.rate_reduction_ratio": 0.9}, rules("ecn.deaf"), []string{"ecn.deaf_sender"}},
		{"too few to tell", heeding, analysis.Settings{"ecn.deaf_sender.rate_reduction_ratio": 0.9, "ecn.deaf_sender.cnp_packets": 100}, rules("ecn.deaf"), []string{}},
		{"answered", heeding, nil, rules("ecn.cnp_without"), []string{}},
		{"answered too late", heeding, analysis.Settings{"ecn.no_cnp.answer_ms": 0.001}, rules("ecn.cnp_without"), []string{"ecn.cnp_without_ce"}},
	} {
		s := played(t, c.scenario(), synth.PcapngOptions{}, analysis.Options{LinkSpeed: tenG, Settings: c.settings})
		assert.Equal(t, c.want, c.of(s), c.name)
	}
}
