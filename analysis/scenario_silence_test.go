package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// TestScenarioUnanswered: a sender that falls silent in the middle of a message is
// told of, as surely as the silence is long beside what answers took; one whose
// requests were all answered, that had just begun, that said goodbye, or that gave
// up after repeating is not.
func TestScenarioUnanswered(t *testing.T) {
	answered := func(c *synth.Conn) {
		for range 5 {
			c.Write(synth.SideA, 0x1000, 7, make([]byte, 4096))
		}
	}
	inside := func(c *synth.Conn) { // two of four packets
		data := make([]byte, 4*1024)
		f := c.Flow[synth.SideA]
		for i := range 2 {
			c.Emit(synth.SideA, f.WritePacket(c.PSN[synth.SideA], 0x1000, 7, data, i), 1000)
		}
	}
	for _, x := range []struct {
		name   string
		play   func(c *synth.Conn)
		after  int64 // of the silence, ns
		want   analysis.Severity
		packet int64
	}{
		{"all answered", answered, 2000 * msec, "", 0},
		{"silent for long", func(c *synth.Conn) { answered(c); inside(c) }, 2000 * msec, analysis.SeverityWarning, 2},
		{"silent", func(c *synth.Conn) { answered(c); inside(c) }, 50 * msec, analysis.SeverityNotice, 2},
		{"just begun", func(c *synth.Conn) { answered(c); inside(c) }, 9 * msec, "", 2},
		{"closed", func(c *synth.Conn) { answered(c); inside(c); c.Disconnect(synth.SideA) }, 2000 * msec, "", 2},
		{"gave up", func(c *synth.Conn) {
			answered(c)
			for range 9 {
				inside(c)
				c.Now += 100 * msec
			}
		}, 2000 * msec, "", 2},
	} {
		p := &pauses{}
		c := synth.NewConn(&p.Scenario, pathAB(), [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
		c.Connect(4420, nil)
		x.play(c)
		p.Add(c.Now+x.after, synth.AppendPause(nil, macB, 0)) // somebody else's
		s := played(t, &p.Scenario, synth.PcapngOptions{}, analysis.Options{})
		require.Len(t, s.Connections, 1, x.name)
		fl := &s.Connections[0].Flows[0]
		require.NotNil(t, fl.Unanswered, x.name)
		assert.Equal(t, x.packet, *fl.Unanswered, x.name)
		var got analysis.Severity
		for _, f := range s.Findings {
			if f.Rule == "rc.unanswered" {
				got = f.Severity
				assert.EqualValues(t, x.packet, f.Metrics["unanswered_packets"])
				assert.InDelta(t, float64(x.after), float64(f.Metrics["silence_ns"]), float64(msec))
				assert.Contains(t, string(f.Meaning), "in the middle of a message")
			}
		}
		assert.Equal(t, x.want, got, x.name)
	}
}
