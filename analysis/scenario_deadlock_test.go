package analysis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// ring is three switches that stop one another, each with a MAC for every port,
// seen at three taps; the last one's pauses begin at the time given.
func ring(t *testing.T, last int64, ports analysis.PortMap) *analysis.Snapshot {
	p := &pauses{}
	for i := range uint16(3) {
		from := int64(i) * 100 * usec
		if i == 2 {
			from = last
		}
		for at := from; at < 400*msec; at += msec {
			b := synth.AppendPFCPriority(nil, synth.MAC{2, 0, 0, 0, byte(i + 1), 2}, 3, 0xffff)
			p.Frames = append(p.Frames, synth.Frame{Time: epoch + at, Data: b, Iface: int(i)})
		}
	}
	p.end(500 * msec)
	var faces []synth.NGInterface
	for i := range 3 {
		faces = append(faces, synth.NGInterface{TSResol: 9, Name: fmt.Sprintf("tap%d", i+1)})
	}
	return played(t, &p.Scenario, synth.PcapngOptions{Interfaces: faces}, analysis.Options{LinkSpeed: tenG, PortMap: ports})
}

// TestScenarioRing: a ring of three devices is a suspected deadlock once the
// port map tells whose ports these are; without it, or where the ring isn't
// closed, it is a storm with a root that spread.
func TestScenarioRing(t *testing.T) {
	mapped := func(last string) analysis.PortMap {
		return analysis.PortMap{{Interface: "tap1", Device: "leaf1", Peer: "spine"}, {Interface: "tap2", EthSrc: "02:00:00:00:02:02", Device: "spine", Peer: "leaf2"},
			{Interface: "tap3", Device: "leaf2", Peer: last}, {Interface: "tap3", Device: "never", Peer: "reached"}}
	}
	s := ring(t, 7*msec, mapped("leaf1"))
	require.Len(t, s.PFC.Deadlocks, 1)
	d := s.PFC.Deadlocks[0]
	assert.Equal(t, analysis.PFCDeadlock{Priority: 3, StartTime: analysis.Time(epoch + 7*msec), DurationNS: d.DurationNS, Members: analysis.List[analysis.PFCMember]{
		{Interface: "tap1", EthSrc: "02:00:00:00:01:02", Device: "leaf1", Stops: "spine"},
		{Interface: "tap2", EthSrc: "02:00:00:00:02:02", Device: "spine", Stops: "leaf2"},
		{Interface: "tap3", EthSrc: "02:00:00:00:03:02", Device: "leaf2", Stops: "leaf1"}}}, d)
	// The shortest of the three ends 65535 quanta after its last frame.
	assert.EqualValues(t, 399*msec+3_355_392-7*msec, d.DurationNS)
	assert.Contains(t, rulesOf(s, "pfc."), "pfc.deadlock")
	for _, f := range s.Findings {
		if f.Rule == "pfc.deadlock" {
			assert.Contains(t, string(f.Meaning), "priority 3: leaf1 stops spine stops leaf2 stops leaf1, for 395")
			assert.Equal(t, analysis.SeverityCritical, f.Severity)
		}
	}
	for _, st := range s.PFC.Storms {
		assert.False(t, st.Root)
	}

	for name, ports := range map[string]analysis.PortMap{"no map": nil, "open": mapped("leaf3"), "a link is missing": mapped("leaf1")[:2]} {
		s := ring(t, 7*msec, ports)
		assert.Empty(t, s.PFC.Deadlocks, name)
		require.Len(t, s.PFC.Storms, 3, name)
		assert.True(t, s.PFC.Storms[0].Root, name)
		assert.Len(t, s.PFC.Storms[0].Spread, 2, name)
	}
}

// TestScenarioBothEnds: the two ends of one link stop each other. No map is
// needed for that.
func TestScenarioBothEnds(t *testing.T) {
	p := &pauses{}
	p.hold(0, 300*msec, macA)
	p.hold(msec/2, 300*msec, macB)
	p.end(400 * msec)
	s := p.play(t)
	require.Len(t, s.PFC.Deadlocks, 1)
	assert.Equal(t, []string{"02:00:00:00:00:01", "02:00:00:00:00:02"}, []string{s.PFC.Deadlocks[0].Members[0].EthSrc, s.PFC.Deadlocks[0].Members[1].EthSrc})
}

// TestScenarioPriorityMap: untagged packets have the priority that the user's
// map gives their DSCP. RoCE in DSCP 26 then falls silent in priority 5, and a
// pause of priority 3 has nothing to do with it.
func TestScenarioPriorityMap(t *testing.T) {
	build := func(priority uint8) *synth.Scenario {
		p := &pauses{}
		path := pathAB()
		path.VLANs = nil
		c := synth.NewConn(&p.Scenario, path, [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
		for at := int64(0); at < 10*msec; at += 50 * usec {
			c.Now = epoch + at
			c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		for at := 10 * msec; at < 310*msec; at += msec {
			p.Add(epoch+at, synth.AppendPFCPriority(nil, macB, priority, 0xffff))
		}
		p.end(400 * msec)
		return &p.Scenario
	}
	moved := analysis.UsualPriorities()
	moved[26] = 5
	for _, c := range []struct {
		paused     uint8
		priorities *analysis.Priorities
		victims    int
		want       []string
	}{
		{3, nil, 1, []string{"pfc.storm", "pfc.victim"}},
		{5, &moved, 1, []string{"pfc.storm", "pfc.victim"}},
		{5, nil, 0, []string{"pfc.no_roce", "pfc.storm"}},
		{3, &moved, 0, []string{"pfc.no_roce", "pfc.storm"}},
	} {
		s := played(t, build(c.paused), synth.PcapngOptions{}, analysis.Options{LinkSpeed: tenG, Priorities: c.priorities})
		require.Len(t, s.PFC.Storms, 1)
		assert.Len(t, s.PFC.Storms[0].Victims, c.victims)
		assert.Equal(t, c.want, rulesOf(s, "pfc."))
	}
}

// TestScenarioWhoPauses: the sender of a storm is a host that takes in too
// slowly, one that ran out of buffers, the target of an incast, or none of the
// hosts.
func TestScenarioWhoPauses(t *testing.T) {
	for _, c := range []struct {
		name    string
		senders int
		rnr     bool
		mac     synth.MAC
		want    string
	}{
		{"slow receiver", 1, false, macB, "sent by host 192.0.2.2, which sent no RNR NAK: its NIC or memory takes in too slowly"},
		{"no buffers", 1, true, macB, "sent by host 192.0.2.2, which ran out of receive buffers too (1 RNR NAK)"},
		{"incast", 3, false, macB, "; 3 hosts sent to it at a time (incast)"},
		{"a switch", 1, false, macSwitch, "the sender is no RDMA host of this capture: congestion at a switch"},
	} {
		p := newCongested(c.senders, 1)
		for _, x := range p.conns {
			for at := int64(0); at < 10*msec; at += 100 * usec {
				x.Now = epoch + at
				x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
			}
		}
		if x := p.conns[0]; c.rnr {
			x.Emit(synth.SideB, synth.RNR(x.PSN[synth.SideA], x.MSN[synth.SideA], 1), usec)
		}
		for at := 11 * msec; at < 311*msec; at += msec {
			p.Add(epoch+at, synth.AppendPFCPriority(nil, c.mac, 3, 0xffff))
		}
		for _, x := range p.conns {
			x.Now = epoch + 320*msec
			x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		s := played(t, &p.Scenario, synth.PcapngOptions{}, analysis.Options{LinkSpeed: tenG})
		found := false
		for _, f := range s.Findings {
			if f.Rule == "pfc.storm" {
				found = true
				assert.Contains(t, string(f.Meaning), c.want, c.name)
			}
		}
		assert.True(t, found, c.name)
	}
}
