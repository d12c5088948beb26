package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// pauseTruth is what the maker of a synthetic capture says of its pauses.
type pauseTruth struct {
	Frames     int64                 `json:"pause_frames"`
	Priorities map[string]pauseRow   `json:"per_priority"`
	Interfaces map[string]pauseTruth `json:"interfaces"`
	Intervals  [][3]any              `json:"pause_intervals_us_from_t0"`
	Chains     [][]struct {
		Interface string  `json:"interface"`
		XOFF      float64 `json:"xoff_us"`
		XON       float64 `json:"xon_us"`
	} `json:"propagation_chains"`
	Storm *struct {
		Start    float64 `json:"start_us_from_t0"`
		End      float64 `json:"end_us_from_t0"`
		Priority int     `json:"priority"`
		MAC      string  `json:"source_mac"`
	} `json:"storm"`
}

type pauseRow struct {
	XOFF    int64   `json:"xoff_frames"`
	XON     int64   `json:"xon_frames"`
	Expired int64   `json:"expired_without_xon"`
	Total   float64 `json:"paused_total_us"`
	Longest float64 `json:"paused_longest_us"`
}

// generatorError is what the maker's own sum of paused time is too large by,
// in ns. It kept times as floating point ns since 1970, where neighbours are
// 256 ns apart: two pauses that end by expiry, of 400 and of 17,083 quanta of
// 20.48 ns, come out too long. Those that an XON ends are exact.
var generatorError = map[string]int64{"pfc_normal_bursts/3": 101}

// ns turns the truth's microseconds, which have three decimals, into ns.
func ns(us float64) int64 { return int64(math.Round(us * 1000)) }

func pauseReport(t *testing.T, path string) (*truth, *pauseTruth, *analysis.Snapshot) {
	tr, p := truthOf(t, path), new(pauseTruth)
	require.NoError(t, json.Unmarshal(tr.Truth, p))
	var opt analysis.Options
	if len(p.Interfaces) == 0 {
		opt.LinkSpeed = int64(tr.LinkSpeedBps) // a pcap has no place for it
	}
	return tr, p, reported(t, path, opt)
}

// TestPauseTruth holds frames, paused times, storms and spreads of the
// synthetic PFC captures against what their maker put into them.
func TestPauseTruth(t *testing.T) {
	for _, path := range captures(t, "pfc_*") {
		name := captureName(path)
		t.Run(name, func(t *testing.T) {
			tr, p, s := pauseReport(t, path)
			frames := p.Frames
			if len(p.Interfaces) == 0 {
				p.Interfaces = map[string]pauseTruth{"0": *p}
			} else {
				for _, in := range p.Interfaces {
					frames += in.Frames
				}
			}
			assert.True(t, s.Capture.PFCVisible)
			assert.Equal(t, frames, s.Protocols.PFC.Packets+s.Protocols.Pause.Packets, "pause frames")
			require.NotNil(t, s.PFC.LinkSpeedBps)
			assert.EqualValues(t, tr.LinkSpeedBps, *s.PFC.LinkSpeedBps)
			rows := 0
			for _, in := range p.Interfaces {
				rows += len(in.Priorities)
			}
			assert.Len(t, s.PFC.Sources, rows)
			for i := range s.PFC.Sources {
				checkPauseRow(t, name, p, &s.PFC.Sources[i])
			}
			checkStorm(t, tr, p, s)
			checkSpreads(t, tr, p, s)
			assert.Empty(t, s.PFC.Violations)
		})
	}
}

func checkPauseRow(t *testing.T, name string, p *pauseTruth, g *analysis.PFCSource) {
	row := g.Priority.String()
	if g.Priority == analysis.PriorityAll {
		row = "link"
	}
	w, ok := p.Interfaces[g.Interface].Priorities[row]
	if !assert.True(t, ok, "%s priority %s", g.Interface, row) {
		return
	}
	assert.Equal(t, w.XOFF, g.XOFFFrames, "xoff_frames of %s", row)
	assert.Equal(t, w.XON, g.XONFrames, "xon_frames of %s", row)
	assert.Equal(t, ns(w.Total)-generatorError[name+"/"+row], value(g.PausedNS), "paused_ns of %s", row)
	assert.Equal(t, ns(w.Longest), value(g.LongestPauseNS), "longest_pause_ns of %s", row)
	assert.Equal(t, w.Expired, value(g.Expiries), "expiries of %s", row)
	intervals := int64(0)
	for _, v := range p.Interfaces[g.Interface].Intervals {
		if v[0] == row {
			intervals++
		}
	}
	assert.Equal(t, intervals, value(g.Transitions), "transitions of %s", row)
	assert.Zero(t, g.MalformedFrames)
}

// checkStorm wants the one storm that was made, or none. Being paused for more
// than a tenth of the time is told too, as heavy, and is no storm.
func checkStorm(t *testing.T, tr *truth, p *pauseTruth, s *analysis.Snapshot) {
	var got, want []string
	for _, x := range s.PFC.Storms {
		if x.Kind == "heavy" {
			for _, row := range s.PFC.Sources {
				if row.Interface == x.Interface && row.EthSrc == x.EthSrc && row.Priority == x.Priority {
					assert.Greater(t, float64(*row.PausedRatio), 0.1)
				}
			}
			continue
		}
		got = append(got, fmt.Sprint(x.Kind, x.EthSrc, x.Priority, int64(x.StartTime)-tr.T0, x.DurationNS, x.Root, x.Open))
		assert.Len(t, x.Victims, 1, "the one connection of that priority fell silent")
	}
	if w := p.Storm; w != nil {
		want = append(want, fmt.Sprint("storm", w.MAC, w.Priority, ns(w.Start), ns(w.End)-ns(w.Start), true, false))
	}
	assert.Equal(t, want, got, "storms")
}

func checkSpreads(t *testing.T, tr *truth, p *pauseTruth, s *analysis.Snapshot) {
	var got, want []string
	for _, c := range p.Chains {
		if len(c) < 2 {
			continue // it spread to nobody
		}
		chain := ""
		for _, hop := range c {
			chain += fmt.Sprintln(hop.Interface, ns(hop.XOFF), ns(hop.XON)-ns(hop.XOFF))
		}
		want = append(want, chain+"root "+c[0].Interface)
	}
	for _, c := range s.PFC.Spreads {
		chain := ""
		for _, hop := range c.Path {
			chain += fmt.Sprintln(hop.Interface, int64(hop.StartTime)-tr.T0, value(hop.DurationNS))
		}
		if assert.NotNil(t, c.Root, chain) {
			chain += "root " + c.Root.Interface
		}
		got = append(got, chain)
	}
	assert.Equal(t, want, got, "spreads")
}

// TestNoFalsePauses: a capture without pause frames says nothing of pauses,
// least of all that there were none.
func TestNoFalsePauses(t *testing.T) {
	for _, path := range append(captures(t, "rxe_*"), captures(t, "cnp_*")...) {
		s := reported(t, path, analysis.Options{})
		assert.False(t, s.Capture.PFCVisible, path)
		assert.Empty(t, s.PFC.Sources, path)
		assert.Empty(t, s.PFC.Storms, path)
		assert.Empty(t, s.PFC.Spreads, path)
		assert.Empty(t, s.PFC.Violations, path)
	}
}
