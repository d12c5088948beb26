package rc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/synth"
)

// simulated is what we say about one simulation.
type simulated struct {
	flow [2]*FlowFigures // by the side that sends on it
	conn int
}

func simulate(t *testing.T, cfg synth.SimConfig) (simulated, *synth.Truth) {
	t.Helper()
	sc, truth := synth.Simulate(cfg)
	c := &capture{}
	for i := range sc.Frames {
		f := &sc.Frames[i]
		c.add(f.Data, f.Time, uint32(f.WireLen()), 0, 1)
	}
	res := newFeeder(Options{}).run(c)
	var s simulated
	for _, n := range res.Connections {
		s.conn++
		for _, f := range n.Flows {
			switch {
			case f == nil:
			case f.Key.DestQP == 0x12:
				s.flow[0] = f
			case f.Key.DestQP == 0x11:
				s.flow[1] = f
			}
		}
	}
	return s, truth
}

// randomConfig draws traffic; impairments are the caller's.
func randomConfig(seed uint64) synth.SimConfig {
	r := rand.New(rand.NewPCG(seed, 99))
	mixes := [][]synth.Op{{synth.OpWrite}, {synth.OpSend}, {synth.OpRead}, {synth.OpFetchAdd},
		{synth.OpSend, synth.OpWrite, synth.OpRead}, {synth.OpWrite, synth.OpFetchAdd, synth.OpSend, synth.OpRead}}
	return synth.SimConfig{
		Seed: seed, Messages: 40 + r.IntN(80), MaxSize: []int{600, 4096, 20000}[r.IntN(3)], Mix: mixes[r.IntN(len(mixes))],
		Window: 1 + r.IntN(12), Both: r.IntN(3) == 0, Scheme: synth.Scheme(r.IntN(2)), CM: r.IntN(2) == 0,
		AckDelay: int64(r.IntN(3)) * 3000, StartPSN: [2]uint32{r.Uint32() & 0xffffff, 1<<24 - uint32(r.IntN(90))},
		ConstantID: false,
	}
}

const simSeeds = 150

// bounds checks what must hold whatever the network did: never more lost than
// was, every message counted, every NAK.
func (s *simulated) bounds(t *testing.T, truth *synth.Truth) {
	t.Helper()
	for side := range 2 {
		f := s.flow[side]
		if f == nil {
			continue
		}
		assert.LessOrEqual(t, f.LostUpstream.N, uint64(truth.LostUpstream(side)), "upstream, side %d", side)
		assert.LessOrEqual(t, f.LostDownstream.N, uint64(truth.LostDownstream(side)), "downstream, side %d", side)
		assert.Empty(t, f.Violations)
	}
}

// TestSimulatedLoss: lower bounds stay lower bounds.
func TestSimulatedLoss(t *testing.T) {
	var found, real uint64
	for seed := range uint64(simSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cfg := randomConfig(seed)
			r := rand.New(rand.NewPCG(seed, 3))
			for i := range cfg.Impair {
				if r.IntN(2) == 0 {
					cfg.Impair[i] = synth.LossAll(float64(r.IntN(4)) / 100)
				}
			}
			s, truth := simulate(t, cfg)
			s.bounds(t, truth)
			for side := range 2 {
				f := s.flow[side]
				if f == nil {
					continue
				}
				found += f.LostUpstream.N + f.LostDownstream.N
				real += uint64(truth.LostUpstream(side) + truth.LostDownstream(side))
				h := &truth.Half[side]
				// A packet whose first sending was the last one sent and lost
				// before the tap looks new when it is sent again.
				assert.LessOrEqual(t, f.Retransmitted, uint64(h.RetransAtTap), "retransmitted, side %d", side)
				assert.GreaterOrEqual(t, f.Retransmitted+uint64(truth.LostUpstream(side)), uint64(h.RetransAtTap))
				assert.LessOrEqual(t, f.EpisodesBy.Total, uint64(len(h.Episodes)))
				assert.Zero(t, f.OutOfOrder)
				assert.Zero(t, f.Duplicates)
				assert.Zero(t, f.Unseen.N, "unseen, side %d", side)
			}
		})
	}
	assert.Greater(t, found*2, real, "found %d of %d", found, real)
}

// TestSimulatedHarmless: reordering, doubling and capture loss lose nothing.
func TestSimulatedHarmless(t *testing.T) {
	for seed := range uint64(simSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cfg := randomConfig(seed)
			for i := range cfg.Impair {
				before := synth.Stretch(i) == synth.AToTap || synth.Stretch(i) == synth.BToTap
				switch {
				case seed%3 == 0 && before: // behind the tap it looks like a loss there
					cfg.Impair[i].Reorder = 0.02
				case seed%3 == 1:
					cfg.Impair[i].Duplicate = 0.02
				}
			}
			if seed%3 == 2 {
				cfg.CaptureLoss = 0.02
			}
			s, truth := simulate(t, cfg)
			s.bounds(t, truth)
			if seed%3 == 1 {
				for side := range 2 {
					if f := s.flow[side]; f != nil {
						assert.Zero(t, f.Retransmitted)
						assert.Zero(t, f.EpisodesBy.Total)
					}
				}
			}
		})
	}
}

// TestSimulatedLatency: without impairments every sample is known.
func TestSimulatedLatency(t *testing.T) {
	for seed := range uint64(simSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, truth := simulate(t, randomConfig(seed))
			for side := range 2 {
				f := s.flow[side]
				h := &truth.Half[side]
				if len(h.Messages) == 0 {
					continue
				}
				require.NotNil(t, f)
				assert.EqualValues(t, len(h.Messages), f.Messages)
				var want [latencyKinds][]int64
				for _, m := range h.Messages {
					switch m.Op {
					case synth.OpRead:
						want[LatencyReadFirst] = append(want[LatencyReadFirst], m.FirstResponse-m.FirstSeen)
						want[LatencyReadLast] = append(want[LatencyReadLast], m.LastResponse-m.FirstSeen)
					case synth.OpFetchAdd:
						want[LatencyAtomic] = append(want[LatencyAtomic], m.FirstResponse-m.FirstSeen)
					default:
						if m.Covered >= 0 && !m.Coalesced {
							want[LatencyMessage] = append(want[LatencyMessage], m.Covered-m.FirstSeen)
							want[LatencyAck] = append(want[LatencyAck], m.Covered-m.LastSeen)
						}
					}
				}
				for k, w := range want {
					l := f.Latency[k]
					if len(w) == 0 {
						assert.Nil(t, l, LatencyNames[k])
						continue
					}
					require.NotNil(t, l, LatencyNames[k])
					lo, hi := w[0], w[0]
					for _, x := range w {
						lo, hi = min(lo, x), max(hi, x)
					}
					assert.Equal(t, []int64{int64(len(w)), lo, hi}, []int64{int64(l.Count), l.MinNS, l.MaxNS}, LatencyNames[k])
				}
			}
		})
	}
}
