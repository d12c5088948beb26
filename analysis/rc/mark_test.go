package rc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/synth"
)

// marked counts the packets with each mark; noisy asks for results in between.
func marked(c *capture, noCM, noisy bool) (*Result, [Marks]uint64) {
	got := map[int64]Mark{}
	f := newFeeder(Options{Mark: func(number int64, m Mark) { got[number] |= m }})
	f.noCM = noCM
	if noisy {
		f.check = func(n int) {
			if n%97 == 0 {
				f.s.Result()
			}
		}
	}
	f.run(c)
	f.s.Finish()
	res := f.s.Result()
	var n [Marks]uint64
	for _, m := range got {
		for i := range n {
			n[i] += uint64(m >> i & 1)
		}
	}
	return res, n
}

// checkMarks compares the marks with the figures of their names. Those of two
// interfaces are each other's copies and share no packet.
func checkMarks(t *testing.T, c *capture, noCM bool) {
	t.Helper()
	res, n := marked(c, noCM, false)
	_, again := marked(c, noCM, true)
	require.Equal(t, n, again, "results in between mark nothing")
	if res.RevisedPairings > 0 {
		return // what was marked under a pairing that was taken back stays
	}
	var want [Marks]uint64
	for _, x := range res.Connections {
		for _, f := range x.Flows {
			if f == nil {
				continue
			}
			want[0] += f.Retransmitted
			want[1] += f.OutOfOrder
			want[3] += f.Duplicates
			want[4] += f.RepeatedAnswers.N
			want[5] += f.EpisodesBy.Total
		}
	}
	want[2] = n[2] // no figure counts duplicate ACKs
	assert.Equal(t, want, n, "retransmission, out of order, –, duplicate, repeated response, episode")
}

// TestMarks: as many packets are marked as the figures count.
func TestMarks(t *testing.T) {
	for _, x := range truths(t) {
		t.Run(x.File, func(t *testing.T) {
			c := load(t, &x)
			checkMarks(t, c, false)
			checkMarks(t, c, true)
		})
	}
}

// TestMarksOfSimulations is that over whatever can happen to a connection.
func TestMarksOfSimulations(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cfg := randomConfig(seed)
			impaired(rand.New(rand.NewPCG(seed, 17)), &cfg)
			sc, _ := synth.Simulate(cfg)
			c := &capture{}
			for i := range sc.Frames {
				f := &sc.Frames[i]
				c.add(f.Data, f.Time, uint32(f.WireLen()), 0, 1)
			}
			checkMarks(t, c, false)
		})
	}
}

// TestMarksOfLostFlows: what was sent again is marked when the flow is dropped
// or begins anew, though it waited for late packets.
func TestMarksOfLostFlows(t *testing.T) {
	for name, end := range map[string]func(s *Shard){
		"forgotten": func(s *Shard) { s.Forget(0); s.Forget(1) },
		"renewed":   func(s *Shard) { s.renew(s.flows[0], Moment{How: "reused"}) },
	} {
		t.Run(name, func(t *testing.T) {
			var again []int64
			s := NewShard(Options{Mark: func(number int64, m Mark) {
				if m == MarkRetransmission {
					again = append(again, number)
				}
			}})
			v := newVisitor(1, 0)
			s.AddFlow(0, v.key[0])
			s.AddFlow(1, v.key[1])
			p := blankPacket()
			for range 20 {
				v.message(s, p, false)
			}
			v.psn = v.psn.Add(-3) // the last message again
			for i, op := range writeOps[:2] {
				v.send(s, p, op, v.psn.Add(int64(i)))
			}
			last := p.Number
			end(s)
			assert.Equal(t, []int64{last - 1, last}, again)
		})
	}
}
