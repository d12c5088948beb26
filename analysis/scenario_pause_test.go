package analysis_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// Scenarios with answers known by construction, through the whole engine.

const (
	epoch = int64(1_767_225_600_000_000_000)
	usec  = int64(1000)
	msec  = int64(1_000_000)
	tenG  = 10_000_000_000
)

var (
	macA, macB = synth.MAC{2, 0, 0, 0, 0, 1}, synth.MAC{2, 0, 0, 0, 0, 2}
	macSwitch  = synth.MAC{2, 0, 0, 0, 0, 9}
)

// pathAB is the way from host A to host B, in priority 3: DSCP 26, ECT(0).
func pathAB() synth.Path {
	return synth.Path{SrcMAC: macA, DstMAC: macB, Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"),
		VLANs: []synth.VLAN{{PCP: 3, VID: 10}}, TOS: 26<<2 | 2, SrcPort: 49152}
}

// played writes a scenario to a file and analyses that.
func played(t *testing.T, s *synth.Scenario, o synth.PcapngOptions, opt analysis.Options) *analysis.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	s.Sort()
	require.NoError(t, s.WritePcapng(f, o))
	require.NoError(t, f.Close())
	return analyze(t, path, opt)
}

// rulesOf are the rules of the findings whose names begin with one of the
// prefixes, in order.
func rulesOf(s *analysis.Snapshot, prefixes ...string) []string {
	list := []string{}
	for i := range s.Findings {
		for _, p := range prefixes {
			if strings.HasPrefix(s.Findings[i].Rule, p) {
				list = append(list, s.Findings[i].Rule)
			}
		}
	}
	slices.Sort(list)
	return list
}

// pauses is a scenario of pause frames at 10 Gbit/s.
type pauses struct{ synth.Scenario }

func (p *pauses) xoff(at int64, from synth.MAC, quanta uint16) {
	p.Add(epoch+at, synth.AppendPFCPriority(nil, from, 3, quanta))
}

// hold pauses from…to with a refresh each millisecond and an XON at the end.
func (p *pauses) hold(from, to int64, mac synth.MAC) {
	for at := from; at < to; at += msec {
		p.xoff(at, mac, 0xffff)
	}
	p.xoff(to, mac, 0)
}

// end makes the capture last until at, with a frame that nobody looks at.
func (p *pauses) end(at int64) {
	p.Add(epoch+at, synth.PadEthernet(synth.AppendEthernet(nil, macB, macA, 0x88b5), 0))
}

func (p *pauses) play(t *testing.T) *analysis.Snapshot {
	return played(t, &p.Scenario, synth.PcapngOptions{}, analysis.Options{LinkSpeed: tenG})
}

func onlySource(t *testing.T, s *analysis.Snapshot) *analysis.PFCSource {
	t.Helper()
	require.Len(t, s.PFC.Sources, 1)
	return &s.PFC.Sources[0]
}

// TestScenarioStormThatFlaps: two stretches 50 ms apart are one storm, told by
// the longer one.
func TestScenarioStormThatFlaps(t *testing.T) {
	p := &pauses{}
	p.hold(0, 250*msec, macB)
	p.hold(300*msec, 600*msec, macB)
	p.end(1000 * msec)
	s := p.play(t)
	require.Len(t, s.PFC.Storms, 1)
	st := s.PFC.Storms[0]
	assert.Equal(t, []any{"storm", analysis.Time(epoch + 300*msec), 300 * msec, int64(301), false, true},
		[]any{st.Kind, st.StartTime, st.DurationNS, st.Frames, st.Open, st.Root})
	assert.Equal(t, []any{int64(1), analysis.Time(epoch + 600*msec)}, []any{st.Flaps, st.LastTime})
	assert.Equal(t, []int64{550 * msec, 300 * msec, 2, 0}, pausedFigures(onlySource(t, s)))
	assert.Equal(t, []string{"pfc.storm"}, rulesOf(s, "pfc."))
	assert.Equal(t, []int64{0, 2, 0}, []int64{*s.PFC.Watchdogs.PFCWD, *s.PFC.Watchdogs.NIC, *s.PFC.Watchdogs.MLX5})

	// With the restore time as long as the gap they are two.
	p = &pauses{}
	p.hold(0, 250*msec, macB)
	p.hold(450*msec, 700*msec, macB)
	p.end(1000 * msec)
	assert.Len(t, p.play(t).PFC.Storms, 2)
}

// pausedFigures are a source's paused time, longest pause, transitions and expiries.
func pausedFigures(s *analysis.PFCSource) []int64 {
	return []int64{*s.PausedNS, *s.LongestPauseNS, *s.Transitions, *s.Expiries}
}

// TestScenarioChoppy: 100 short pauses begun within a second, and one less.
func TestScenarioChoppy(t *testing.T) {
	for n, want := range map[int][]string{100: {"pfc.choppy"}, 99: {}} {
		p := &pauses{}
		for i := range int64(n) {
			p.xoff(i*10*msec, macB, 0xffff)
			p.xoff(i*10*msec+2*usec, macB, 0)
		}
		p.end(2000 * msec)
		s := p.play(t)
		assert.Equal(t, want, rulesOf(s, "pfc."), n)
		assert.Equal(t, []int64{int64(n) * 2 * usec, 2 * usec, int64(n), 0}, pausedFigures(onlySource(t, s)))
	}
}

// TestScenarioRefresh: a refresh at the very end of a pause goes on with it, one
// that is late by a quantum begins another.
func TestScenarioRefresh(t *testing.T) {
	const quantum = 51_200 // ps
	for _, c := range []struct {
		late int64 // quanta
		want []int64
	}{
		{0, []int64{102_400, 102_400, 1, 1}},
		{1, []int64{102_400, 51_200, 2, 2}},
	} {
		p := &pauses{}
		p.xoff(0, macB, 1000)
		p.xoff((1000+c.late)*quantum/1000+c.late, macB, 1000) // the next whole ns
		p.end(msec)
		assert.Equal(t, c.want, pausedFigures(onlySource(t, p.play(t))), "late by %d quanta", c.late)
	}
}

// TestScenarioXONLost: without its XON a pause lasts until it expires.
func TestScenarioXONLost(t *testing.T) {
	p := &pauses{}
	p.xoff(0, macB, 0xffff)
	p.xoff(10*usec, macB, 0)
	p.end(20 * msec)
	assert.Equal(t, []int64{10 * usec, 10 * usec, 1, 0}, pausedFigures(onlySource(t, p.play(t))))
	p.Drop(1)
	assert.Equal(t, []int64{3_355_392, 3_355_392, 1, 1}, pausedFigures(onlySource(t, p.play(t))))
}

// TestScenarioTwoPriorities: one frame pauses two priorities, each for its own
// time; the XON of one leaves the other alone. Times of classes that aren't
// enabled mean nothing.
func TestScenarioTwoPriorities(t *testing.T) {
	p := &pauses{}
	p.Add(epoch, synth.AppendPFC(nil, macB, 1<<3|1<<4, [8]uint16{0: 77, 3: 1000, 4: 2000}))
	p.Add(epoch+20*usec, synth.AppendPFC(nil, macB, 1<<3, [8]uint16{4: 5}))
	p.end(msec)
	s := p.play(t)
	require.Len(t, s.PFC.Sources, 2)
	for i, want := range []struct {
		priority analysis.Priority
		figures  []int64
		xon      int64
	}{{3, []int64{20_000, 20_000, 1, 0}, 1}, {4, []int64{102_400, 102_400, 1, 1}, 0}} {
		src := &s.PFC.Sources[i]
		assert.Equal(t, want.priority, src.Priority)
		assert.Equal(t, want.figures, pausedFigures(src))
		assert.Equal(t, []int64{1, want.xon}, []int64{src.XOFFFrames, src.XONFrames})
	}
}

// TestScenarioZeroMAC: NICs exist that pause with source MAC 0. The interface
// names the port; towards whom data went only the file's direction can tell.
func TestScenarioZeroMAC(t *testing.T) {
	for _, directions := range []bool{false, true} {
		p := &pauses{}
		p.hold(0, 300*msec, synth.MAC{})
		path := pathAB()
		c := synth.NewConn(&p.Scenario, path, [2]uint32{17, 18}, [2]uint32{100, 200}, epoch+100*msec)
		c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		p.end(500 * msec)
		if directions {
			for i := range p.Frames {
				p.Frames[i].Dir = 1                                // pauses come in
				if f := p.Frames[i].Data; [6]byte(f[6:]) == macA { // data go out
					p.Frames[i].Dir = 2
				}
			}
		}
		s := p.play(t)
		require.NotEmpty(t, s.PFC.Sources)
		assert.Equal(t, "00:00:00:00:00:00", s.PFC.Sources[0].EthSrc)
		assert.Equal(t, 300*msec, *s.PFC.Sources[0].PausedNS)
		if directions {
			require.Len(t, s.PFC.Violations, 1, "the data went towards the pauser")
			assert.Equal(t, analysis.Text(s.Connections[0].ID), s.PFC.Violations[0].ConnectionID)
			require.Len(t, s.PFC.Storms, 1)
			assert.Equal(t, "heavy", s.PFC.Storms[0].Kind, "data broke the storm: what is left is a pause for 60 % of the time")
		} else {
			assert.Empty(t, s.PFC.Violations, "nobody knows which way the data went")
			require.Len(t, s.PFC.Storms, 1)
			assert.Equal(t, "storm", s.PFC.Storms[0].Kind)
		}
	}
}

// TestScenarioTwoInterfaces: the same pause frames at two taps are two rows of
// one device: neither caused the other, and nothing spread.
func TestScenarioTwoInterfaces(t *testing.T) {
	p := &pauses{}
	p.hold(0, 300*msec, macB)
	p.end(500 * msec)
	for _, f := range slices.Clone(p.Frames) {
		f.Iface, f.Time = 1, f.Time+500
		p.Frames = append(p.Frames, f)
	}
	s := p.play(t)
	require.Len(t, s.PFC.Sources, 2)
	for i := range s.PFC.Sources {
		assert.Equal(t, fmt.Sprint(i), s.PFC.Sources[i].Interface)
		assert.Equal(t, []int64{300 * msec, 300 * msec, 1, 0}, pausedFigures(&s.PFC.Sources[i]))
	}
	require.Len(t, s.PFC.Storms, 2)
	for i := range s.PFC.Storms {
		assert.Empty(t, s.PFC.Storms[i].Spread)
	}
	assert.Empty(t, s.PFC.Spreads)
}

// TestScenarioLinkSpeeds: the longest pause there is, at every speed, of PFC
// and of 802.3x, with the speed from the flag and from the file.
func TestScenarioLinkSpeeds(t *testing.T) {
	for speed, want := range map[int64]int64{
		10e9: 3_355_392, 25e9: 1_342_157, 40e9: 838_848, 50e9: 671_078, 100e9: 335_539, 200e9: 167_770, 400e9: 83_885, 800e9: 41_942,
	} {
		for _, flag := range []bool{true, false} {
			p := &pauses{}
			p.xoff(0, macB, 0xffff)
			p.Add(epoch, synth.AppendPause(nil, macB, 0xffff))
			p.end(20 * msec)
			ng, opt, from := synth.PcapngOptions{}, analysis.Options{LinkSpeed: speed}, analysis.Text("flag")
			if !flag {
				ng.Interfaces = []synth.NGInterface{{TSResol: 9, SpeedBps: uint64(speed)}}
				opt, from = analysis.Options{}, "pcapng"
			}
			s := played(t, &p.Scenario, ng, opt)
			assert.Equal(t, from, s.PFC.LinkSpeedFrom)
			require.Len(t, s.PFC.Sources, 2)
			for i, priority := range []analysis.Priority{3, analysis.PriorityAll} {
				assert.Equal(t, priority, s.PFC.Sources[i].Priority)
				assert.Equal(t, []int64{want, want, 1, 1}, pausedFigures(&s.PFC.Sources[i]), "%d bit/s", speed)
			}
		}
	}
	p := &pauses{}
	p.xoff(0, macB, 0xffff)
	p.end(20 * msec)
	s := played(t, &p.Scenario, synth.PcapngOptions{}, analysis.Options{})
	assert.Equal(t, analysis.Text("assumed"), s.PFC.LinkSpeedFrom)
	assert.EqualValues(t, 335_539, *onlySource(t, s).PausedNS, "100 Gbit/s is assumed, and said to be")
}

// TestScenarioMalformed: malformed frames pause nothing, and are counted by
// what is wrong with them.
func TestScenarioMalformed(t *testing.T) {
	p := &pauses{}
	good := synth.AppendPFCPriority(nil, macB, 3, 0xffff)
	elsewhere := slices.Clone(good)
	copy(elsewhere, []byte{2, 0, 0, 0, 0, 7})
	wide := slices.Clone(good)
	wide[16] = 1 // high octet of the class-enable vector
	p.Add(epoch, elsewhere)
	p.Add(epoch+1000, elsewhere)
	p.Add(epoch+2000, wide)
	p.Add(epoch+3000, good[:30])
	p.end(10 * msec)
	s := p.play(t)
	src := onlySource(t, s)
	assert.Equal(t, []int64{0, 0, 0, 0}, pausedFigures(src))
	assert.Equal(t, analysis.Counts{"destination": 2, "enable_vector": 1, "short": 1}, src.MalformedReasons)
	assert.EqualValues(t, 4, src.MalformedFrames)
	assert.Equal(t, []string{"pfc.malformed"}, rulesOf(s, "pfc."))
	assert.True(t, s.Capture.PFCVisible)
}

// lldp announces by DCBX for which priorities a port has PFC enabled (IEEE
// 802.1Q, D.2.10).
func lldp(from synth.MAC, enabled byte) []byte {
	b := synth.AppendEthernet(nil, synth.MAC{1, 0x80, 0xc2, 0, 0, 0x0e}, from, 0x88cc)
	b = append(append(b, 0x02, 7, 4), from[:]...)              // chassis
	b = append(append(b, 0x04, 7, 3), from[:]...)              // port
	b = append(b, 0x06, 2, 0, 120)                             // time to live
	b = append(b, 0xfe, 6, 0x00, 0x80, 0xc2, 0x0b, 8, enabled) // PFC configuration
	return synth.PadEthernet(append(b, 0, 0), 0)
}

// TestScenarioDCBX: a pause of a priority that the link doesn't announce.
func TestScenarioDCBX(t *testing.T) {
	for enabled, want := range map[byte][]string{1 << 3: {}, 1 << 4: {"pfc.not_enabled"}} {
		p := &pauses{}
		p.Add(epoch, lldp(macB, enabled))
		p.xoff(msec, macB, 100)
		p.end(100 * msec)
		assert.Equal(t, want, rulesOf(p.play(t), "pfc."), enabled)
	}
}

// TestScenarioDCBXFlood: made-up ports fill the table, the link's own stays,
// and the report tells that there was no room.
func TestScenarioDCBXFlood(t *testing.T) {
	p := &pauses{}
	p.Add(epoch, lldp(macB, 1<<4))
	for i := range 300 {
		p.Add(epoch+int64(i)*msec, lldp(synth.MAC{2, 9, 0, 0, byte(i >> 8), byte(i)}, 0xff))
	}
	p.Add(epoch+130_000*msec, lldp(synth.MAC{2, 9, 9}, 0xff)) // the oldest are out of date
	p.xoff(130_001*msec, macB, 100)
	p.end(130_100 * msec)
	snap := p.play(t)
	assert.Equal(t, []string{}, rulesOf(snap, "pfc."), "its announcement was as old as any: now only the others count")
	assert.Equal(t, analysis.Counts{"dcbx_ports": 45}, snap.Capture.Evictions)

	p.Add(epoch+msec/2, lldp(macB, 1<<4)) // announced twice
	slices.SortStableFunc(p.Frames, func(a, b synth.Frame) int { return cmp.Compare(a.Time, b.Time) })
	snap = p.play(t)
	assert.Equal(t, []string{"pfc.not_enabled"}, rulesOf(snap, "pfc."))
}

// TestScenarioVictimAndViolation: the same flow, once heeding the pause and once
// not.
func TestScenarioVictimAndViolation(t *testing.T) {
	build := func(into ...int64) *analysis.Snapshot {
		p := &pauses{}
		c := synth.NewConn(&p.Scenario, pathAB(), [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
		write := func(at int64) {
			c.Now = epoch + at
			c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		for at := int64(0); at < 10*msec; at += 100 * usec {
			write(at)
		}
		p.hold(10*msec, 310*msec, macB)
		for _, at := range into {
			write(at)
		}
		for at := 311 * msec; at < 320*msec; at += 100 * usec {
			write(at)
		}
		return p.play(t)
	}
	s := build()
	require.Len(t, s.PFC.Storms, 1)
	require.Len(t, s.PFC.Storms[0].Victims, 1, "the data towards the pauser; its own ACKs wait for nothing but data")
	assert.Equal(t, analysis.PFCVictim{ConnectionID: s.Connections[0].ID, QuietNS: 301_100 * usec}, s.PFC.Storms[0].Victims[0])
	assert.Equal(t, []string{"pfc.storm", "pfc.victim"}, rulesOf(s, "pfc."))

	// Data 10.292 µs after the first XOFF are excused (60 quanta and a jumbo
	// frame at 10 Gbit/s), later ones aren't.
	s = build(10*msec + 10*usec)
	assert.Empty(t, s.PFC.Violations)
	s = build(10*msec+20*usec, 150*msec)
	require.Len(t, s.PFC.Violations, 1)
	v := s.PFC.Violations[0]
	assert.EqualValues(t, 2, v.Packets)
	assert.Equal(t, analysis.Time(epoch+10*msec+20*usec), v.FirstTime)
	assert.Equal(t, analysis.Text(s.Connections[0].ID), v.ConnectionID)
	assert.Contains(t, rulesOf(s, "pfc."), "pfc.violation")
}

// TestScenarioPauseOverlap: two WRITEs of 100 µs each, one of them paused for
// 40 µs; and the same without any pause frame.
func TestScenarioPauseOverlap(t *testing.T) {
	p := &pauses{}
	c := synth.NewConn(&p.Scenario, pathAB(), [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
	c.Turn = 100 * usec
	c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
	c.Now = epoch + msec
	c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
	bare := p.Scenario.Clone()
	p.xoff(30*usec, macB, 0xffff)
	p.xoff(70*usec, macB, 0)
	p.Add(epoch+30*usec, synth.AppendPFCPriority(nil, macB, 5, 0xffff)) // another priority
	p.end(2 * msec)
	flow := func(s *analysis.Snapshot) (f *analysis.Flow) {
		eachFlow(s, func(_ *analysis.Connection, fl *analysis.Flow) {
			if value(fl.Messages) > 0 {
				f = fl
			}
		})
		require.NotNil(t, f)
		return f
	}
	f := flow(p.play(t))
	require.NotNil(t, f.PauseOverlap)
	assert.InDelta(t, 0.2, float64(*f.PauseOverlap), 1e-9)
	f = flow(played(t, bare, synth.PcapngOptions{}, analysis.Options{}))
	assert.Nil(t, f.PauseOverlap, "unknown, not 0")
	assert.Contains(t, f.Reasons["pause_overlap_ratio"], "no MAC control frame")
}

// TestScenarioPauseBesideRoCE: PFC works on a priority that RoCE doesn't use.
func TestScenarioPauseBesideRoCE(t *testing.T) {
	for priority, want := range map[uint8][]string{3: {}, 4: {"pfc.no_roce"}} {
		p := &pauses{}
		c := synth.NewConn(&p.Scenario, pathAB(), [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
		for range 60 {
			c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		p.Add(c.Now, synth.AppendPFCPriority(nil, macSwitch, priority, 5))
		p.end(10 * msec)
		assert.Equal(t, want, rulesOf(p.play(t), "pfc."), priority)
	}
}

// TestScenarioWindows: the pause over time, in windows of 100 ms aligned to the
// epoch.
func TestScenarioWindows(t *testing.T) {
	p := &pauses{}
	p.hold(50*msec, 250*msec, macB)
	p.end(500 * msec)
	w := onlySource(t, p.play(t)).Windows
	assert.Equal(t, analysis.Time(epoch), w.StartTime)
	assert.Equal(t, 100*msec, w.WidthNS)
	assert.Equal(t, analysis.List[int64]{50 * msec, 100 * msec, 50 * msec}, w.PausedNS)
	assert.Equal(t, analysis.List[int64]{50, 100, 51}, w.Frames)
}
