package pause

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

var tenG = Options{LinkSpeedBps: 10e9}

func kinds(r Result) (l []string) {
	for i := range r.Storms {
		l = append(l, r.Storms[i].Kind.String())
	}
	return l
}

// TestStormLength: 200 ms make a storm, a nanosecond less doesn't.
func TestStormLength(t *testing.T) {
	for _, c := range []struct {
		length int64
		want   []string
		dog    Watchdogs
	}{
		{200*ms1 - 1, nil, Watchdogs{NIC: 1}},
		{200 * ms1, []string{"storm"}, Watchdogs{PFCWDPossible: 1, NIC: 1}},
		{400 * ms1, []string{"storm"}, Watchdogs{PFCWD: 1, NIC: 1}},
		{6799 * ms1, []string{"storm"}, Watchdogs{PFCWD: 1, NIC: 1}},
		{6800 * ms1, []string{"storm"}, Watchdogs{PFCWD: 1, NIC: 1, MLX5: 1}},
	} {
		f := newFeed(t, tenG)
		f.hold(ms1, ms1+c.length, 0, macA)
		_, r := f.end(1e12)
		assert.Equal(t, c.want, kinds(r), c.length)
		assert.Equal(t, c.dog, r.Watchdogs, c.length)
		if c.want != nil {
			assert.Equal(t, c.length, r.Storms[0].DurationNS)
			assert.Equal(t, t0+ms1, r.Storms[0].StartTime)
			assert.Equal(t, (c.length+ms1-1)/ms1+1, r.Storms[0].Frames)
		}
	}
}

// TestStormShare: gaps that leave 99 % paused don't end a storm; a little more
// does.
func TestStormShare(t *testing.T) {
	for _, c := range []struct {
		gap  int64 // after each 9.9 ms of pause
		want int64 // length of the storm, 0 for none
	}{
		{100_000, 40*10*ms1 - 100_000}, // 9.9 of 10 ms, and no gap behind the last
		{99_999, 40*(9_900_000+99_999) - 99_999},
		{110_000, 0},
	} {
		f := newFeed(t, tenG)
		at := int64(0)
		for range 40 {
			f.hold(at, at+9_900_000, 0, macA)
			at += 9_900_000 + c.gap
		}
		_, r := f.end(1e12)
		if c.want == 0 {
			assert.Empty(t, kinds(r))
			continue
		}
		require.Equal(t, []string{"storm"}, kinds(r))
		assert.Equal(t, c.want, r.Storms[0].DurationNS)
		assert.EqualValues(t, 40, r.Storms[0].Intervals)
	}
}

// TestStormFlaps: runs nearer than the restore time are one storm.
func TestStormFlaps(t *testing.T) {
	f := newFeed(t, tenG)
	f.hold(0, 250*ms1, 0, macA)
	f.hold(300*ms1, 600*ms1, 0, macA)   // 50 ms later, and longer
	f.hold(700*ms1, 910*ms1, 0, macA)   // 100 ms later
	f.hold(1110*ms1, 1400*ms1, 0, macA) // exactly the restore time later: another
	_, r := f.end(1e12)
	require.Equal(t, []string{"storm", "storm"}, kinds(r))
	s := r.Storms[0]
	require.Equal(t, []int64{t0 + 300*ms1, 300 * ms1, 2, t0 + 910*ms1}, []int64{s.StartTime, s.DurationNS, int64(s.Flaps), s.LastEnd})
	require.Len(t, s.runs, 3)
	require.Equal(t, []int64{t0 + 1110*ms1, 290 * ms1, 0}, []int64{r.Storms[1].StartTime, r.Storms[1].DurationNS, int64(r.Storms[1].Flaps)})
}

// TestStormOpen: it goes on to the capture's end.
func TestStormOpen(t *testing.T) {
	f := newFeed(t, tenG)
	for at := int64(0); at < 300*ms1; at += ms1 {
		f.pfc(at, 0, macA, 0xffff)
	}
	_, r := f.end(300 * ms1)
	require.Equal(t, []string{"storm"}, kinds(r))
	require.True(t, r.Storms[0].Open)
	require.EqualValues(t, 300*ms1, r.Storms[0].DurationNS)
}

// TestDataBreaksStorm: only what a heeding sender wouldn't have sent counts.
func TestDataBreaksStorm(t *testing.T) {
	for _, c := range []struct {
		name     string
		at       int64
		from, to synth.MAC
		priority uint8
		want     []string
	}{
		{"towards the pauser", 150 * ms1, macB, macA, 3, nil},
		{"away from it", 150 * ms1, macA, macB, 3, []string{"storm"}},
		{"another priority", 150 * ms1, macB, macA, 4, []string{"storm"}},
		{"within the allowance", 10_292, macB, macA, 3, []string{"storm"}},
		{"a ns after it", 10_293, macB, macA, 3, nil},
		{"direction unknown", 150 * ms1, macB, macC, 3, []string{"storm"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFeed(t, tenG)
			sent := false
			for at := int64(0); at <= 300*ms1; at += ms1 {
				if !sent && at > c.at {
					f.data(c.at, 0, c.from, c.to, c.priority, 1)
					sent = true
				}
				f.pfc(at, 0, macA, 0xffff)
			}
			f.pfc(301*ms1, 0, macA, 0)
			_, r := f.end(1e12)
			assert.Equal(t, c.want, kinds(r))
			if c.name == "direction unknown" {
				assert.True(t, r.Storms[0].DirectionUnknown)
			}
			if c.want == nil {
				require.Len(t, r.Violations, 1)
				assert.EqualValues(t, []int64{1, 1, t0 + c.at}, []int64{int64(r.Violations[0].Flow), r.Violations[0].Packets, r.Violations[0].FirstTime})
			} else {
				assert.Empty(t, r.Violations)
			}
		})
	}
}

// TestDataBetweenIntervals: the allowance is for the first XOFF of a storm only;
// data right after a later one were sent in the gap.
func TestDataBetweenIntervals(t *testing.T) {
	for _, sent := range []bool{false, true} {
		f := newFeed(t, tenG)
		f.hold(0, 250*ms1, 0, macA)
		f.pfc(250*ms1+100, 0, macA, 0xffff)
		if sent {
			f.data(250*ms1+200, 0, macB, macA, 3, 0)
		}
		f.hold(251*ms1, 500*ms1, 0, macA)
		_, r := f.end(1e12)
		require.Len(t, r.Storms, 1)
		s := r.Storms[0]
		require.Empty(t, r.Violations)
		if !sent {
			require.EqualValues(t, 500*ms1, s.DurationNS)
			continue
		}
		require.Equal(t, []int64{t0, 250 * ms1, 1}, []int64{s.StartTime, s.DurationNS, int64(s.Flaps)}, "two runs of one storm")
	}
}

// TestDirectionOfFile: pcapng's own direction decides where MACs can't.
func TestDirectionOfFile(t *testing.T) {
	k := Key{Dir: wire.DirIn}
	require.Equal(t, dirTowards, directionOf(&k, wire.DirOut, wire.MAC(macA), wire.MAC(macB)))
	require.Equal(t, dirAway, directionOf(&k, wire.DirIn, wire.MAC(macA), wire.MAC(macB)))
	require.Equal(t, dirUnknown, directionOf(&k, wire.DirUnknown, wire.MAC{}, wire.MAC{}), "zero names nobody")
}

// TestChoppy: 100 releases begun within a second; 99 aren't enough, nor are
// expiries.
func TestChoppy(t *testing.T) {
	for _, c := range []struct {
		n    int
		gap  int64
		xon  bool
		want []string
	}{
		{100, 10 * ms1, true, []string{"choppy"}},
		{99, 10 * ms1, true, nil},
		{100, 10_101_011, true, nil}, // the 100th begins a second after the first
		{100, 10_101_010, true, []string{"choppy"}},
		{100, 10 * ms1, false, nil},
	} {
		f := newFeed(t, tenG)
		for i := range c.n {
			at := int64(i) * c.gap
			f.pfc(at, 0, macA, 100)
			if c.xon {
				f.pfc(at+2000, 0, macA, 0)
			}
		}
		_, r := f.end(1e12)
		assert.Equal(t, c.want, kinds(r), c)
		if c.want != nil {
			assert.EqualValues(t, int64(c.n-1)*c.gap+2000, r.Storms[0].DurationNS)
			assert.EqualValues(t, 2*c.n, r.Storms[0].Frames)
			assert.EqualValues(t, c.n*2000, r.Storms[0].PausedNS)
		}
	}
}

// TestHeavy: more than a tenth of the capture, once a row.
func TestHeavy(t *testing.T) {
	for _, c := range []struct {
		end  int64
		want []string
	}{{1000 * ms1, nil}, {1000*ms1 - 1, []string{"heavy"}}} {
		f := newFeed(t, tenG)
		f.hold(0, 50*ms1, 0, macA)
		f.hold(500*ms1, 550*ms1, 0, macA)
		_, r := f.end(c.end)
		assert.Equal(t, c.want, kinds(r))
	}
}

// TestVictims: a flow that sent each 0.1 ms until the storm and again after it
// is a victim; one that had stopped before, one of another priority and one
// that goes the other way aren't.
func TestVictims(t *testing.T) {
	f := newFeed(t, tenG)
	sendAll := func(at int64) {
		f.data(at, 0, macB, macA, 3, 0)
		f.data(at, 0, macA, macB, 3, 2)
		f.data(at, 0, macB, macA, 3, 4) // never resumes
		f.data(at, 0, macB, macC, 3, 5) // which way?
	}
	for at := int64(0); at <= 100*ms1; at += ms1 / 10 {
		if at < 50*ms1 {
			f.data(at, 0, macB, macA, 3, 3) // stopped long before
		}
		sendAll(at)
	}
	for at := 100*ms1 + int64(1000); at < 400*ms1; at += ms1 {
		f.pfc(at, 0, macA, 0xffff)
		f.data(at, 0, macB, macA, 0, 1)
	}
	f.pfc(400*ms1, 0, macA, 0)
	for _, flow := range []int32{0, 2, 3} {
		to, from := macA, macB
		if flow == 2 {
			to, from = macB, macA
		}
		f.data(401*ms1, 0, from, to, 3, flow)
	}
	f.data(402*ms1, 0, macB, macC, 3, 5)
	_, r := f.end(500 * ms1)
	require.Equal(t, []string{"storm"}, kinds(r))
	require.ElementsMatch(t, []Victim{
		{Part: 0, Flow: 4, QuietNS: 400 * ms1, Open: true},
		{Part: 1, Flow: 5, QuietNS: 302 * ms1, Likely: true},
		{Part: 0, Flow: 0, QuietNS: 301 * ms1},
	}, r.Storms[0].Victims)
	require.EqualValues(t, 4, r.Storms[0].Victims[0].Flow, "longest first")
}

// TestIdleIsNoVictim: who sends once a second sent nothing during the storm,
// but that is its way.
func TestIdleIsNoVictim(t *testing.T) {
	f := newFeed(t, tenG)
	for i := range int64(10) {
		f.data(i*1000*ms1, 0, macB, macA, 3, 0)
	}
	f.hold(9100*ms1, 9900*ms1, 0, macA)
	f.data(10_000*ms1, 0, macB, macA, 3, 0)
	_, r := f.end(10_001 * ms1)
	require.Equal(t, []string{"storm"}, kinds(r))
	require.Empty(t, r.Storms[0].Victims)
}

// TestSpreadOfStorm: who was paused after it began, in order; the root isn't
// paused by another.
func TestSpreadOfStorm(t *testing.T) {
	f := newFeed(t, tenG)
	for at := int64(0); at < 500*ms1; at += ms1 {
		f.pfc(at, 0, macA, 0xffff)
		if at >= 20*ms1 {
			f.pfc(at+1, 1, macB, 0xffff)
		}
		if at >= 50*ms1 {
			f.pfc(at+2, 2, macC, 0xffff)
		}
		if at == 100*ms1 {
			f.pfc(at+3, 3, synth.MAC{2, 9}, 100) // a short pause elsewhere
		}
	}
	_, r := f.end(500 * ms1)
	require.Equal(t, []string{"storm", "storm", "storm"}, kinds(r))
	require.Equal(t, []bool{true, false, false}, []bool{r.Storms[0].Root, r.Storms[1].Root, r.Storms[2].Root})
	var spread []uint16
	for _, h := range r.Storms[0].Spread {
		spread = append(spread, h.Iface)
	}
	require.Equal(t, []uint16{1, 2}, spread)
	require.Empty(t, r.Deadlocks)
}

// TestTwoTaps: the same sender at two taps is one cause, not a spread.
func TestTwoTaps(t *testing.T) {
	f := newFeed(t, tenG)
	for i := range int64(5) {
		f.pfc(i*10*ms1, 0, macA, 1000)
		f.pfc(i*10*ms1+300, 1, macA, 1000)
	}
	_, r := f.end(1e12)
	require.Len(t, r.Sources, 2)
	require.Empty(t, r.Spreads)
	require.Empty(t, r.Roots)
}

// TestDeadlock: both ends of a link hold each other.
func TestDeadlock(t *testing.T) {
	f := newFeed(t, tenG)
	for at := int64(0); at < 300*ms1; at += ms1 {
		f.pfc(at, 0, macA, 0xffff)
		f.pfc(at+5, 0, macB, 0xffff)
	}
	_, r := f.end(300 * ms1)
	require.Len(t, r.Deadlocks, 1)
	require.Len(t, r.Deadlocks[0].Members, 2)
	require.Equal(t, []int64{t0 + 5, 300*ms1 - 5}, []int64{r.Deadlocks[0].StartTime, r.Deadlocks[0].DurationNS})
	require.False(t, r.Storms[0].Root)
	require.False(t, r.Storms[1].Root)
}

// TestRing: a ring of three switches, each with a MAC for every port, is closed
// by the port map alone. A switch also pauses a host, which leads nowhere.
func TestRing(t *testing.T) {
	type link struct {
		iface      uint16
		mac        synth.MAC
		from, to   string
		late, ends int64
	}
	ring := []link{
		{0, synth.MAC{2, 1, 1}, "s1", "h1", 0, 300 * ms1}, // a dead end comes first
		{1, synth.MAC{2, 1, 2}, "s1", "s2", 1, 300 * ms1},
		{2, synth.MAC{2, 2, 2}, "s2", "s3", 5, 300 * ms1},
		{3, synth.MAC{2, 3, 2}, "s3", "s1", 9, 300 * ms1},
	}
	for _, c := range []struct {
		name    string
		change  func(l []link)
		members []string
	}{
		{"closed", func([]link) {}, []string{"s1", "s2", "s3"}},
		{"no map", func(l []link) {
			for i := range l {
				l[i].from = ""
			}
		}, nil},
		{"a link isn't in the map", func(l []link) { l[2].from = "" }, nil},
		{"open", func(l []link) { l[3].to = "h3" }, nil},
		{"never at one time", func(l []link) { l[1].ends = 230 * ms1; l[3].late = 240 * ms1; l[3].ends = 500 * ms1 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			links := slices.Clone(ring)
			c.change(links)
			f := newFeed(t, tenG)
			f.ports = func(k Key) Port {
				for _, l := range links {
					if l.iface == k.Iface && l.from != "" {
						return Port{l.from, l.to}
					}
				}
				return Port{}
			}
			for at := int64(0); at < 500*ms1; at += ms1 {
				for _, l := range links {
					if at >= l.late/ms1*ms1 && at < l.ends {
						f.pfc(at+l.late%ms1, l.iface, l.mac, 0xffff)
					}
				}
			}
			_, r := f.end(600 * ms1)
			require.Len(t, r.Storms, 4)
			if c.members == nil {
				require.Empty(t, r.Deadlocks)
				return
			}
			require.Len(t, r.Deadlocks, 1)
			var names []string
			for _, m := range r.Deadlocks[0].Members {
				names = append(names, m.Device)
			}
			assert.Equal(t, c.members, names)
			assert.Equal(t, t0+9, r.Deadlocks[0].StartTime)
			for i := range r.Storms {
				assert.Equal(t, r.Storms[i].Iface == 0, r.Storms[i].Root, "no root in a cycle")
			}
		})
	}
}

// TestPortsTellCauses: of two pauses at one time on links that have nothing to
// do with one another neither caused the other.
func TestPortsTellCauses(t *testing.T) {
	for _, related := range []bool{true, false} {
		f := newFeed(t, tenG)
		f.ports = func(k Key) Port {
			switch {
			case k.Iface == 0:
				return Port{"host", "leaf1"}
			case related:
				return Port{"leaf1", "spine"}
			}
			return Port{"leaf2", "spine"}
		}
		for i := range int64(5) { // short ones
			f.pfc(i*10*ms1, 0, macA, 10_000)
			f.pfc(i*10*ms1+100_000, 1, macB, 10_000)
		}
		f.hold(1000*ms1, 1400*ms1, 0, macA) // and a storm each
		f.hold(1001*ms1, 1401*ms1, 1, macB)
		_, r := f.end(2000 * ms1)
		require.Len(t, r.Storms, 2)
		assert.Equal(t, []bool{true, !related}, []bool{r.Storms[0].Root, r.Storms[1].Root})
		if related {
			assert.Len(t, r.Spreads, 5)
		} else {
			assert.Empty(t, r.Spreads)
		}
	}
}

// TestLongestRun holds the one-pass search against trying every run.
func TestLongestRun(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 300 {
		f := newFeed(t, tenG)
		at := int64(0)
		for range 12 {
			f.hold(at, at+ms1+rnd.Int63n(20*ms1), 0, macA)
			at = f.last - t0 + 1 + rnd.Int63n(200_000)
		}
		tl := f.tl.Result(t0, f.last)
		r := &tl.rows[0]
		m := newMerger(&tl, nil)
		all := span{0, r.ring.next - 1}
		got, ok := m.longest(r, all)
		var want span
		var length int64
		for i := range r.ring.next {
			for j := i; j < r.ring.next; j++ {
				var paused, gaps int64
				for k := i; k <= j; k++ {
					paused += roundNS(r.ring.get(k).length())
				}
				d := r.spanNS(span{i, j})
				gaps = d - paused
				if paused*10 >= 990*gaps && d > length {
					want, length = span{i, j}, d
				}
			}
		}
		require.True(t, ok)
		require.Equal(t, want, got)
	}
}

// TestSplit: how the data are split among Traffics changes nothing.
func TestSplit(t *testing.T) {
	run := func(split bool) Result {
		f := newFeed(t, tenG)
		rnd := rand.New(rand.NewSource(7))
		for at := int64(0); at < 1000*ms1; at += ms1 / 2 {
			switch rnd.Intn(4) {
			case 0:
				f.pfc(at, 0, macA, uint16(rnd.Intn(0x10000)))
			case 1, 2:
				flow := int32(rnd.Intn(4))
				if !split {
					flow &^= 1 // all into one Traffic
				}
				f.data(at, 0, macB, macA, 3, flow)
			}
		}
		_, r := f.end(1000 * ms1)
		r.Violations = nil // their flows differ, as numbered here
		return r
	}
	require.Equal(t, run(false), run(true))
}
