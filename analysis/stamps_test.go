package analysis_test

import (
	"bytes"
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// tapped is a capture whose frames a tap stamped with the times that s has,
// recorded late by a host whose clock jitters: packet i by 1 ms and up to
// 300 µs. wrap makes the tap, of the time that it shall stamp.
func tapped(s *synth.Scenario, wrap func(now func() (uint32, uint32)) synth.Wrap) *synth.Scenario {
	c := s.Clone()
	var now int64
	stamp := wrap(func() (uint32, uint32) { return uint32(now / 1e9), uint32(now % 1e9) })
	for i := range c.Frames {
		f := &c.Frames[i]
		now = f.Time
		f.Data = stamp(f.Data)
		f.Time += 1e6 + int64(i*7919%300)*1000
	}
	return c
}

func metamako(now func() (uint32, uint32)) synth.Wrap {
	return synth.Metamako(synth.Trailer{Now: now, Device: 7, Port: 3, Flags: 1, NewFCS: true})
}

func exablaze(now func() (uint32, uint32)) synth.Wrap {
	return synth.Exablaze(synth.Trailer{Now: now, Device: 7, Port: 3})
}

// erspanTicks mirrors with ticks of 100 ns that wrap.
func erspanTicks(now func() (uint32, uint32)) synth.Wrap {
	return func(frame []byte) []byte {
		sec, nsec := now()
		ticks := uint32((int64(sec)*1e9 + int64(nsec)) / 100)
		return synth.ERSPAN3(mirrorPath, synth.GRE{Sequence: true}, synth.ERSPAN{Session: 42, Timestamp: ticks, Granularity: 1})(frame)
	}
}

var mirrorPath = synth.Path{
	SrcMAC: synth.MAC{2, 0xee, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0xee, 0, 0, 0, 2},
	Src: netip.MustParseAddr("198.51.100.1"), Dst: netip.MustParseAddr("198.51.100.2"),
}

func analyzeStamped(t *testing.T, file []byte, mode analysis.ClockMode) *analysis.Snapshot {
	t.Helper()
	s, err := analysis.Analyze(context.Background(), analysis.Stamped(openBytes(t, file), wire.Config{}, mode), analysis.Options{Workers: 2})
	require.NoError(t, err)
	return s
}

// TestStampsAreTheTime: with the tap's stamps the figures are those of the
// capture before the host's clock got at it, to the nanosecond.
func TestStampsAreTheTime(t *testing.T) {
	for _, name := range []string{"rxe_mixed_ops_q4", "rxe_exact_single_loss", "rxe_rping_ipv6"} {
		s := loadWire(t, name)
		want := connectionFigures(t, analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{})), nil)
		for tap, wrap := range map[string]func(func() (uint32, uint32)) synth.Wrap{
			"metamako":  metamako,
			"exablaze":  exablaze,
			"arista 64": func(now func() (uint32, uint32)) synth.Wrap { return synth.Arista(synth.AristaTAI, false, now) },
			"arista 48": func(now func() (uint32, uint32)) synth.Wrap { return synth.Arista(synth.AristaUTC, true, now) },
		} {
			t.Run(name+"/"+tap, func(t *testing.T) {
				file := pcapOf(t, tapped(s, wrap), synth.PcapOptions{})
				capture := analyzeStamped(t, file, analysis.ClockCapture)
				assert.EqualValues(t, "capture", capture.Capture.Clock)
				assert.NotEqual(t, want, connectionFigures(t, capture, nil))
				for _, mode := range []analysis.ClockMode{analysis.ClockAuto, analysis.ClockTrailer} {
					got := analyzeStamped(t, file, mode)
					assert.EqualValues(t, "trailer", got.Capture.Clock, "%s", mode)
					assert.Equal(t, analysis.Int(0), got.Capture.ClockMissingPackets)
					assert.EqualValues(t, "trailer", got.Inputs[0].Interfaces[0].Clock)
					assert.Equal(t, want, connectionFigures(t, got, nil), "%s", mode)
				}
			})
		}
	}
}

// TestTicksAreTheTime: a mirror's ticks give the differences of time exactly,
// from the capture's time of the first on.
func TestTicksAreTheTime(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	latencies := func(sn *analysis.Snapshot) (all []*analysis.Latency) {
		for i := range sn.Connections {
			for k := range sn.Connections[i].Flows {
				l := &sn.Connections[i].Flows[k].Latency
				all = append(all, l.Message, l.Ack, l.ReadFirst, l.ReadLast, l.Atomic)
			}
		}
		return all
	}
	for i := range s.Frames {
		s.Frames[i].Time = s.Frames[i].Time / 100 * 100 // what ticks can hold
	}
	want := latencies(analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{})))
	got := analyzeStamped(t, pcapOf(t, tapped(s, erspanTicks), synth.PcapOptions{}), analysis.ClockAuto)
	assert.EqualValues(t, "trailer", got.Capture.Clock)
	assert.Equal(t, want, latencies(got))

	// A counter that wraps on the way, twice, in a capture of a quarter of an hour.
	long := &synth.Scenario{}
	for i := range 200 {
		f := s.Frames[i%len(s.Frames)]
		f.Time = s.Frames[0].Time + int64(i)*5e9
		long.Frames = append(long.Frames, f)
	}
	got = analyzeStamped(t, pcapOf(t, tapped(long, erspanTicks), synth.PcapOptions{}), analysis.ClockAuto)
	assert.EqualValues(t, "trailer", got.Capture.Clock)
	assert.Equal(t, analysis.Int(199*5e9), got.Capture.DurationNS)
	assert.Zero(t, got.Capture.BackwardTimestamps)
}

// TestStampsRefused: what auto does not believe leaves the capture's clock.
func TestStampsRefused(t *testing.T) {
	s := loadWire(t, "rxe_rping_ipv6")
	bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	tap := tapped(s, metamako)
	for name, c := range map[string]*synth.Scenario{
		"no stamps":      s,
		"one is missing": func() *synth.Scenario { c := tap.Clone(); c.Frames[5].Data = s.Frames[5].Data; return c }(),
		"cut off":        tap.Snapped(100),
		"a clock that stands still": tapped(s, func(func() (uint32, uint32)) synth.Wrap {
			at := s.Frames[0].Time
			return metamako(func() (uint32, uint32) { return uint32(at / 1e9), uint32(at % 1e9) })
		}),
		"a month off": tapped(s, func(now func() (uint32, uint32)) synth.Wrap {
			return metamako(func() (uint32, uint32) { sec, nsec := now(); return sec + 30*86400, nsec })
		}),
		"a clock that jumps": tapped(s, func(now func() (uint32, uint32)) synth.Wrap {
			n := uint32(0)
			return metamako(func() (uint32, uint32) { n++; sec, nsec := now(); return sec + n%2*3600, nsec })
		}),
	} {
		t.Run(name, func(t *testing.T) {
			got := analyzeStamped(t, pcapOf(t, c, synth.PcapOptions{}), analysis.ClockAuto)
			assert.EqualValues(t, "capture", got.Capture.Clock)
			assert.Nil(t, got.Capture.ClockMissingPackets)
			assert.Equal(t, bare.ConnectionsTotal, got.ConnectionsTotal)
		})
	}
}

// TestStampsByOrder: asked for, stamps are used however far off they are, and
// what has none is reported and has no time.
func TestStampsByOrder(t *testing.T) {
	s := loadWire(t, "rxe_rping_ipv6")
	far := func(now func() (uint32, uint32)) (uint32, uint32) {
		sec, nsec := now()
		return sec - 20*365*86400, nsec
	}
	for name, wrap := range map[string]func(func() (uint32, uint32)) synth.Wrap{
		"metamako": func(now func() (uint32, uint32)) synth.Wrap {
			return metamako(func() (uint32, uint32) { return far(now) })
		},
		"exablaze": func(now func() (uint32, uint32)) synth.Wrap {
			return exablaze(func() (uint32, uint32) { return far(now) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
			tap := tapped(s, wrap)
			got := analyzeStamped(t, pcapOf(t, tap, synth.PcapOptions{}), analysis.ClockTrailer)
			assert.Equal(t, analysis.Int(0), got.Capture.ClockMissingPackets)
			assert.Equal(t, want.Capture.DurationNS, got.Capture.DurationNS)
			assert.Equal(t, want.Capture.StartTime-20*365*86400*1e9, got.Capture.StartTime)

			for _, i := range []int{0, 7, 8} {
				tap.Frames[i].Data = s.Frames[i].Data
			}
			got = analyzeStamped(t, pcapOf(t, tap, synth.PcapOptions{}), analysis.ClockTrailer)
			assert.Equal(t, analysis.Int(3), got.Capture.ClockMissingPackets)
			assert.Equal(t, want.ConnectionsTotal, got.ConnectionsTotal)
			assert.Zero(t, got.Capture.BackwardTimestamps)
			assert.Contains(t, got.Capture.GradeReasons, "3 packets without the tap's stamp, hence without a time")
		})
	}
	none := analyzeStamped(t, pcapOf(t, s, synth.PcapOptions{}), analysis.ClockTrailer)
	assert.Equal(t, analysis.Int(none.Capture.Packets), none.Capture.ClockMissingPackets, "no stamps at all")
	assert.Nil(t, none.Capture.DurationNS)
}

// TestStampsByInterface: each interface has one clock.
func TestStampsByInterface(t *testing.T) {
	s := loadWire(t, "rxe_rping_ipv6")
	both := tapped(s, metamako)
	for i := range s.Frames {
		f := s.Frames[i]
		f.Iface = 1
		both.Frames = append(both.Frames, f)
	}
	var b bytes.Buffer
	require.NoError(t, both.WritePcapng(&b, synth.PcapngOptions{Interfaces: []synth.NGInterface{{TSResol: 9}, {TSResol: 9}}}))
	got := analyzeStamped(t, b.Bytes(), analysis.ClockAuto)
	assert.EqualValues(t, "both", got.Capture.Clock)
	require.Len(t, got.Inputs[0].Interfaces, 2)
	assert.EqualValues(t, "trailer", got.Inputs[0].Interfaces[0].Clock)
	assert.EqualValues(t, "capture", got.Inputs[0].Interfaces[1].Clock)
}
