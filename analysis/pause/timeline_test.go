package pause

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/pfc"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

func one(t *testing.T, r Result) Source {
	t.Helper()
	require.Len(t, r.Sources, 1)
	return r.Sources[0]
}

// TestSpeeds: what a frame of 65535 quanta, and one of 1, pause at each speed.
// The picoseconds are 512·10^12/bps·quanta, worked out by hand.
func TestSpeeds(t *testing.T) {
	for _, c := range []struct {
		gbps      uint64
		onePS     int64
		fullNS    int64 // 65535 quanta, rounded to ns
		allowance int64 // ns: quanta of the speed, and 141 of a 9 kB frame
	}{
		{10, 51_200, 3_355_392, 10_292},
		{25, 20_480, 1_342_157, 5_305},
		{40, 12_800, 838_848, 3_316},
		{50, 10_240, 671_078, 2_653},
		{100, 5_120, 335_539, 2_740},
		{200, 2_560, 167_770, 1_370},
		{400, 1_280, 83_885, 685},
		{800, 640, 41_942, 343},
	} {
		for _, link := range []bool{false, true} {
			t.Run(fmt.Sprintf("%dG link=%t", c.gbps, link), func(t *testing.T) {
				assert.Equal(t, c.onePS, pfc.Quanta(1).Picoseconds(c.gbps*1e9))
				assert.Equal(t, c.allowance, AllowanceNS(c.gbps*1e9))
				f := newFeed(t, Options{LinkSpeedBps: c.gbps * 1e9})
				send := func(at int64, q uint16) {
					if link {
						f.frame(at, 0, synth.AppendPause(nil, macA, q))
					} else {
						f.pfc(at, 0, macA, q)
					}
				}
				send(0, 0xffff)
				send(10*ms1, 1)
				send(20*ms1, 1000)
				send(20*ms1+100, 0) // XON after 100 ns
				_, r := f.end(100 * ms1)
				s := one(t, r)
				assert.Equal(t, roundNS(65535*c.onePS+c.onePS+100_000), s.PausedNS)
				assert.Equal(t, c.fullNS, s.LongestNS)
				assert.EqualValues(t, 3, s.Transitions)
				assert.EqualValues(t, 2, s.Expiries)
				assert.Equal(t, c.gbps*1e9, r.LinkSpeedBps)
				if link {
					assert.EqualValues(t, All, s.Priority)
				} else {
					assert.EqualValues(t, 3, s.Priority)
				}
			})
		}
	}
}

// TestRefresh at 10G, where 100 quanta are 5120 ns: in time, at the very
// instant of expiry, one quantum late, and shorter than what was left.
func TestRefresh(t *testing.T) {
	for _, c := range []struct {
		name                  string
		second                int64
		quanta                uint16
		paused, longest       int64
		transitions, expiries int64
	}{
		{"in time: the new time replaces the old", 3000, 100, 3000 + 5120, 3000 + 5120, 1, 1},
		{"at expiry: no gap", 5120, 100, 10240, 10240, 1, 1},
		{"one ns late", 5121, 100, 10240, 5120, 2, 2},
		{"one quantum late", 5120 + 51, 100, 10240, 5120, 2, 2},
		{"shorter than what is left", 1000, 10, 1512, 1512, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFeed(t, Options{LinkSpeedBps: 10e9})
			f.pfc(0, 0, macA, 100)
			f.pfc(c.second, 0, macA, c.quanta)
			_, r := f.end(ms1)
			s := one(t, r)
			assert.Equal(t, c.paused, s.PausedNS)
			assert.Equal(t, c.longest, s.LongestNS)
			assert.Equal(t, c.transitions, s.Transitions)
			assert.Equal(t, c.expiries, s.Expiries)
			assert.EqualValues(t, 2, s.XOFF)
		})
	}
}

// TestJoined: refreshed each 600 µs, 65535 quanta leave gaps at 100G, where they
// last 336 µs, and none at 50G, where they last 671. What a storm would be is
// told where the speed is assumed, and only there.
func TestJoined(t *testing.T) {
	build := func(o Options, every, until int64) Source {
		f := newFeed(t, o)
		for at := int64(0); at <= until; at += every {
			f.pfc(at, 0, macA, 0xffff)
		}
		_, r := f.end(until + 100*ms1)
		return one(t, r)
	}
	assert.Equal(t, Joined{50e9, 300*ms1 + 671_078, t0}, build(Options{}, 600*us1, 300*ms1).Joined)
	assert.Equal(t, Joined{10e9, 300*ms1 + 3_355_390, t0}, build(Options{}, 3000*us1, 300*ms1).Joined)
	assert.Zero(t, build(Options{}, 4000*us1, 300*ms1).Joined, "not even at 10G")
	assert.Zero(t, build(Options{}, 600*us1, 150*ms1).Joined, "too short for a storm")
	assert.Zero(t, build(Options{}, 300*us1, 300*ms1).Joined, "it is one already")
	assert.Zero(t, build(Options{LinkSpeedBps: 100e9}, 600*us1, 300*ms1).Joined, "the speed is known")
}

// TestXONLost: the pause ends by itself; a late or repeated XON adds nothing.
func TestXONLost(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(0, 0, macA, 100)
	f.pfc(9000, 0, macA, 0)
	f.pfc(9100, 0, macA, 0)
	_, r := f.end(ms1)
	s := one(t, r)
	require.Equal(t, []int64{5120, 1, 1, 2}, []int64{s.PausedNS, s.Transitions, s.Expiries, s.XON})
}

// TestCut: a pause beyond the last packet is cut there and is no transition.
func TestCut(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(0, 0, macA, 100)
	_, r := f.end(4000)
	s := one(t, r)
	require.Equal(t, []int64{4000, 4000, 0, 0}, []int64{s.PausedNS, s.LongestNS, s.Transitions, s.Expiries})
	require.True(t, s.Paused)
	_, r = f.end(4000)
	require.Equal(t, s, one(t, r), "a result disturbs nothing")
	_, r = f.end(5120)
	s = one(t, r)
	require.Equal(t, []int64{5120, 1, 1}, []int64{s.PausedNS, s.Transitions, s.Expiries})
}

// TestTwoPriorities in one frame, and disabled classes with quanta.
func TestTwoPriorities(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.frame(0, 0, synth.AppendPFC(nil, macA, 1<<3|1<<4, [8]uint16{9, 9, 9, 100, 200, 9, 9, 9}))
	f.frame(1000, 0, synth.AppendPFC(nil, macA, 1<<3|1<<4, [8]uint16{3: 0, 4: 300}))
	_, r := f.end(ms1)
	require.Len(t, r.Sources, 2)
	require.EqualValues(t, []int64{3, 1000, 1, 1}, []int64{int64(r.Sources[0].Priority), r.Sources[0].PausedNS, r.Sources[0].XOFF, r.Sources[0].XON})
	require.EqualValues(t, []int64{4, 1000 + 15360, 2, 0}, []int64{int64(r.Sources[1].Priority), r.Sources[1].PausedNS, r.Sources[1].XOFF, r.Sources[1].XON})
	require.EqualValues(t, 2, r.Frames)
}

// TestMalformed: each is counted once, in the row of its lowest enabled
// priority, and changes no pause.
func TestMalformed(t *testing.T) {
	good := synth.AppendPFC(nil, macA, 1<<4|1<<6, [8]uint16{4: 0xffff, 6: 0xffff})
	with := func(at int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name     string
		b        []byte
		priority uint8
		reason   pfc.Reason
	}{
		{"destination", with(5, 2), 4, pfc.ReasonDestination},
		{"vector", with(16, 1), 4, pfc.ReasonVector},
		{"vector without a class", append(append([]byte(nil), good[:16]...), append([]byte{1, 0}, good[18:]...)...), All, pfc.ReasonVector},
		{"33 bytes on the wire", good[:33], 4, pfc.ReasonShort},
		{"pause of 17 bytes", synth.AppendPause(nil, macA, 100)[:17], All, pfc.ReasonShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFeed(t, Options{LinkSpeedBps: 10e9})
			f.frame(0, 0, c.b)
			_, r := f.end(ms1)
			s := one(t, r)
			assert.Equal(t, c.priority, s.Priority)
			assert.EqualValues(t, 1, s.MalformedFrames())
			assert.EqualValues(t, 1, s.Malformed[c.reason])
			assert.Zero(t, s.PausedNS)
			assert.Zero(t, s.XOFF)
			assert.True(t, r.Visible)
		})
	}
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.frame(0, 0, good[:34])                                  // no padding
	f.frame(1, 0, synth.AppendPFC(nil, macA, 0, [8]uint16{})) // an empty vector
	_, r := f.end(ms1)
	require.Len(t, r.Sources, 2)
	require.Zero(t, r.Sources[0].MalformedFrames()+r.Sources[1].MalformedFrames())
	require.EqualValues(t, 1, r.EmptyFrames)
	p := f.decoded(5, 0, 0, good[:30])
	p.Wire, p.TransLen = 60, 46 // cut by the capture: nothing is wrong with it
	f.tl.Frame(p)
	_, r = f.end(ms1)
	require.EqualValues(t, 1, r.CutFrames)
}

// TestZeroMACs: ports are told apart by their interface.
func TestZeroMACs(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(0, 0, synth.MAC{}, 100)
	f.pfc(10, 1, synth.MAC{}, 200)
	_, r := f.end(ms1)
	require.Len(t, r.Sources, 2)
	require.Equal(t, []int64{5120, 10240}, []int64{r.Sources[0].PausedNS, r.Sources[1].PausedNS})
	require.Len(t, r.Spreads, 1)
}

// TestSpeedSources: flag before file before assumption; differing speeds have
// no common one.
func TestSpeedSources(t *testing.T) {
	f := newFeed(t, Options{})
	f.tl.Interface(0, 25e9)
	f.pfc(0, 0, macA, 100)
	f.pfc(0, 1, macA, 100)
	_, r := f.end(ms1)
	require.Equal(t, []SpeedFrom{SpeedPcapng, SpeedAssumed}, []SpeedFrom{r.Sources[0].SpeedFrom, r.Sources[1].SpeedFrom})
	require.Equal(t, []int64{2048, 512}, []int64{r.Sources[0].PausedNS, r.Sources[1].PausedNS})
	require.Zero(t, r.LinkSpeedBps)
}

// TestBackwardClock: no negative pause, no overlap.
func TestBackwardClock(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(100_000, 0, macA, 100)
	f.pfc(50_000, 0, macA, 0) // before the pause began
	f.pfc(60_000, 0, macA, 100)
	tl, r := f.end(ms1)
	s := one(t, r)
	require.GreaterOrEqual(t, s.PausedNS, int64(0))
	l := tl.Intervals(s.Key)
	for i := 1; i < len(l); i++ {
		require.LessOrEqual(t, l[i-1].End, l[i].Start)
	}
}

// TestPausedAndOverlap answer while the capture runs.
func TestPausedAndOverlap(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(1000, 0, macA, 100) // until 6120
	f.pfc(10_000, 0, macA, 100)
	f.pfc(11_000, 0, macA, 0)
	f.frame(20_000, 0, synth.AppendPause(nil, macA, 100))
	since, ok := f.tl.Paused(0, wire.MAC(macA), 5, t0+20_010)
	require.True(t, ok, "802.3x stops every priority")
	require.Equal(t, t0+20_000, since)
	_, ok = f.tl.Paused(0, wire.MAC(macB), 5, t0+20_010)
	require.False(t, ok)
	_, ok = f.tl.Paused(7, wire.MAC(macB), 5, t0+20_010)
	require.False(t, ok)
	require.EqualValues(t, 5120+1000, f.tl.Overlap(0, 3, t0, t0+20_000))
	require.EqualValues(t, 120+500, f.tl.Overlap(0, 3, t0+6000, t0+10_500))
	require.EqualValues(t, 0, f.tl.Overlap(0, 4, t0, t0+20_000))
	require.EqualValues(t, 10, f.tl.Overlap(0, 4, t0, t0+20_010))
}

// TestWindows: widths double when a capture outgrows them; nothing is lost.
func TestWindows(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9, WindowNS: 100 * ms1})
	f.pfc(50*ms1, 0, macA, 0xffff)
	f.pfc(99*ms1, 0, macA, 0xffff) // 3.355 ms, over the border at 100 ms
	_, r := f.end(200 * ms1)
	w := one(t, r).Windows
	require.Equal(t, Windows{WidthNS: 100 * ms1, StartNS: t0, Window: []Window{{3_355_392 + ms1, 2}, {2_355_392, 0}}}, w)
	f.pfc(1000*1000*ms1, 0, macA, 0xffff) // much later
	_, r = f.end(1001 * 1000 * ms1)
	w = one(t, r).Windows
	require.LessOrEqual(t, len(w.Window), maxWindows)
	var paused, frames int64
	for _, v := range w.Window {
		paused += v.PausedNS
		frames += v.Frames
	}
	require.EqualValues(t, 3*3_355_392, paused)
	require.EqualValues(t, 3, frames)
}

// TestBounds: hostile captures of many sources and intervals stay within the
// tables, and what didn't fit is counted.
func TestBounds(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 800e9, MaxRows: 8})
	for i := range 100 {
		f.pfc(int64(i), 0, synth.MAC{2, 0, 0, 0, 1, byte(i)}, 1)
	}
	require.Len(t, f.tl.rows, 8)
	for i := range 3 * maxSlots {
		f.pfc(int64(1000+10*i), 0, synth.MAC{2, 0, 0, 0, 1, 0}, 1)
		f.pfc(int64(1000+10*i), 0, synth.MAC{2, 0, 0, 0, 1, 1}, 1)
	}
	_, r := f.end(ms1)
	require.EqualValues(t, 92, r.RowsRefused)
	require.EqualValues(t, 3*maxSlots+1, r.Sources[0].Transitions, "sums go on")
	require.EqualValues(t, 2*maxSlots+1, r.Sources[0].IntervalsDropped)
	require.GreaterOrEqual(t, f.tl.budget, 0)
}

// TestAllocations: neither pause frames nor data allocate once their rows are
// there.
func TestAllocations(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	xoff := f.decoded(0, 0, 0, synth.AppendPFCPriority(nil, macA, 3, 0xffff))
	path := synth.Path{SrcMAC: macB, DstMAC: macA, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: 3}}}
	data := f.decoded(0, 0, 0, synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly}))
	run := func() {
		xoff.Time += us1
		f.tl.Frame(xoff)
		data.Time += us1
		f.parts[0].Data(data, 0)
	}
	run()
	require.Zero(t, testing.AllocsPerRun(1000, run))
}
