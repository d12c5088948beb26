package pause

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// prioTruth is what the generator of a synthetic capture says of one priority.
type prioTruth struct {
	XOFF      int64   `json:"xoff_frames"`
	XON       int64   `json:"xon_frames"`
	Refreshes int64   `json:"refreshes_while_paused"`
	Expired   int64   `json:"expired_without_xon"`
	TotalUS   float64 `json:"paused_total_us"`
	LongestUS float64 `json:"paused_longest_us"`
}

type ifaceTruth struct {
	Frames    int64                `json:"pause_frames"`
	Prios     map[string]prioTruth `json:"per_priority"`
	Intervals [][3]any             `json:"pause_intervals_us_from_t0"`
}

type pfcTruth struct {
	Speed float64 `json:"link_speed_bps"`
	T0    int64   `json:"t0_epoch_ns"`
	Truth struct {
		ifaceTruth
		Interfaces map[string]ifaceTruth `json:"interfaces"`
		Chains     [][]struct {
			Interface string  `json:"interface"`
			XOFF      float64 `json:"xoff_us"`
			XON       float64 `json:"xon_us"`
		} `json:"propagation_chains"`
		Storm struct {
			Start float64 `json:"start_us_from_t0"`
			End   float64 `json:"end_us_from_t0"`
			MAC   string  `json:"source_mac"`
		} `json:"storm"`
	} `json:"truth"`
}

func readTruth(t *testing.T, name string) (w pfcTruth) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared(t), "captures", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &w))
	return w
}

// us turns the truth's microseconds into nanoseconds; it has three decimals.
func us(v float64) int64 { return int64(math.Round(v * 1000)) }

// analyse runs a capture through one time line and two Traffics, split by host
// pair and flow as an engine would.
func analyse(t *testing.T, name string, o Options) (TimelineResult, Result, []pcaps.Interface) {
	t.Helper()
	tl := NewTimeline(o)
	parts := []*Traffic{NewTraffic(tl), NewTraffic(tl)}
	flows := map[[2]wire.Addr]int32{}
	var start, end int64
	ifaces := eachPacket(t, captureFile(t, shared(t), name), func(p *wire.Packet, in []pcaps.Interface) {
		if start == 0 {
			start = p.Time
		}
		end = max(end, p.Time)
		if p.Kind == wire.KindPFC || p.Kind == wire.KindPause {
			tl.Interface(p.Iface, in[p.Iface].SpeedBps)
			tl.Frame(p)
			return
		}
		flow, ok := int32(-1), false
		if p.Kind.IsRoCE() {
			k := [2]wire.Addr{p.Src, p.Dst}
			if flow, ok = flows[k]; !ok {
				flow = int32(len(flows))
				flows[k] = flow
			}
		}
		parts[(flow+1)&1].Data(p, flow)
	})
	res := tl.Result(start, end)
	return res, Merge(res, []TrafficResult{parts[0].Result(end), parts[1].Result(end)}, nil), ifaces
}

// roundingOf is the error in the generator's own sum. It held times in
// floating point, ns since 1970, where neighbours are 256 ns apart: a frame of
// 400 quanta at 25G ends its pause 8192 ns later, not 8227 as the first expiry
// of its list says. Pauses that an XON ended have the times of the frames.
func roundingOf(l []Interval) (ns int64) {
	for _, v := range l {
		if v.ByExpiry {
			ns += int64(float64(v.End)-float64(v.Start)) - (v.End - v.Start)
		}
	}
	return ns
}

func checkRows(t *testing.T, w ifaceTruth, iface uint16, t0 int64, tl *TimelineResult, r *Result) {
	t.Helper()
	names := map[uint8]string{0: "0", 1: "1", 2: "2", 3: "3", 4: "4", 5: "5", 6: "6", 7: "7", All: "link"}
	n := 0
	for i := range r.Sources {
		s := &r.Sources[i]
		if s.Iface != iface {
			continue
		}
		n++
		want, ok := w.Prios[names[s.Priority]]
		require.True(t, ok, "priority %d", s.Priority)
		got := prioTruth{s.XOFF, s.XON, s.Refreshes, s.Expiries, 0, 0}
		assert.Equal(t, us(want.TotalUS), s.PausedNS+roundingOf(tl.Intervals(s.Key)), "paused_ns of %d", s.Priority)
		assert.Equal(t, us(want.LongestUS), s.LongestNS, "longest_pause_ns of %d", s.Priority)
		want.TotalUS, want.LongestUS = 0, 0
		assert.Equal(t, want, got, "frames of %d", s.Priority)
		assert.Zero(t, s.MalformedFrames())

		var intervals [][2]int64
		for _, v := range w.Intervals {
			if v[0] == names[s.Priority] {
				intervals = append(intervals, [2]int64{t0 + us(v[1].(float64)), t0 + us(v[2].(float64))})
			}
		}
		var mine [][2]int64
		for _, v := range tl.Intervals(s.Key) {
			if v.ByExpiry {
				v.End = int64(float64(v.End))
			}
			mine = append(mine, [2]int64{v.Start, v.End})
		}
		assert.Equal(t, intervals, mine, "intervals of %d", s.Priority)
		assert.EqualValues(t, len(intervals), s.Transitions)
		var windows int64
		for _, v := range s.Windows.Window {
			windows += v.PausedNS
		}
		assert.InDelta(t, s.PausedNS, windows, float64(len(intervals)), "the windows hold the whole, to a rounding each")
	}
	assert.Equal(t, len(w.Prios), n)
}

func TestNormalBursts(t *testing.T) {
	w := readTruth(t, "pfc_normal_bursts")
	tl, r, _ := analyse(t, "pfc_normal_bursts", Options{LinkSpeedBps: uint64(w.Speed)})
	checkRows(t, w.Truth.ifaceTruth, 0, w.T0, &tl, &r)
	assert.Equal(t, w.Truth.Frames, r.Frames)
	assert.Equal(t, "flag", r.SpeedFrom.String())
	assert.Empty(t, r.Storms)
	assert.Empty(t, r.Violations)
	assert.Empty(t, r.Spreads)
	assert.Empty(t, r.Deadlocks)
	assert.Zero(t, r.Watchdogs)
}

func TestStormCapture(t *testing.T) {
	w := readTruth(t, "pfc_storm")
	tl, r, _ := analyse(t, "pfc_storm", Options{LinkSpeedBps: uint64(w.Speed)})
	checkRows(t, w.Truth.ifaceTruth, 0, w.T0, &tl, &r)
	require.Len(t, r.Storms, 1)
	s := r.Storms[0]
	assert.Equal(t, KindStorm, s.Kind)
	assert.Equal(t, w.T0+us(w.Truth.Storm.Start), s.StartTime)
	assert.Equal(t, w.T0+us(w.Truth.Storm.End), s.End())
	assert.Equal(t, w.Truth.Storm.MAC, s.MAC.String())
	assert.EqualValues(t, 3, s.Priority)
	assert.True(t, s.Root)
	assert.False(t, s.Open)
	assert.Empty(t, s.Spread)
	// Which flow fell silent: the data, which went towards the pauser; its ACKs
	// came from the pauser, and no priority 0 packet is a victim.
	require.Len(t, s.Victims, 1)
	assert.EqualValues(t, 0, s.Victims[0].Flow)
	assert.False(t, s.Victims[0].Likely)
	assert.GreaterOrEqual(t, s.Victims[0].QuietNS, s.DurationNS*9/10)
	assert.Empty(t, r.Violations)
	assert.Equal(t, Watchdogs{PFCWD: 1, NIC: 1}, r.Watchdogs)
}

func TestPropagation(t *testing.T) {
	w := readTruth(t, "pfc_propagation")
	tl, r, ifaces := analyse(t, "pfc_propagation", Options{})
	names := map[string]uint16{}
	for i, f := range ifaces {
		names[f.Name] = uint16(i)
	}
	for name, want := range w.Truth.Interfaces {
		i, ok := names[name]
		require.True(t, ok, name)
		checkRows(t, want, i, w.T0, &tl, &r)
	}
	assert.Equal(t, "pcapng", r.SpeedFrom.String())
	assert.EqualValues(t, 100e9, r.LinkSpeedBps)

	type hop struct {
		iface      uint16
		start, len int64
	}
	var want, got [][]hop
	for _, c := range w.Truth.Chains {
		if len(c) < 2 {
			continue // it spread to nobody
		}
		var path []hop
		for _, h := range c {
			path = append(path, hop{names[h.Interface], w.T0 + us(h.XOFF), us(h.XON) - us(h.XOFF)})
		}
		want = append(want, path)
	}
	for _, c := range r.Spreads {
		var path []hop
		for _, h := range c.Path {
			path = append(path, hop{h.Iface, h.StartTime, h.DurationNS})
		}
		got = append(got, path)
	}
	assert.Equal(t, want, got)
	require.Len(t, r.Roots, 1)
	assert.Equal(t, names["leaf2-Eth1"], r.Roots[0].Iface)
	assert.Equal(t, "52:00:00:00:0c:03", r.Roots[0].MAC.String())
	assert.EqualValues(t, 3, r.Roots[0].Priority)
	for _, s := range r.Storms {
		assert.Equal(t, KindHeavy, s.Kind)
	}
	assert.Empty(t, r.Deadlocks)
}

// TestNoFalsePause: real captures hold no pause, so nothing may be said.
func TestNoFalsePause(t *testing.T) {
	_, r, _ := analyse(t, "cnp_ce_synthetic", Options{})
	assert.False(t, r.Visible)
	assert.Equal(t, Result{}, r)
}
