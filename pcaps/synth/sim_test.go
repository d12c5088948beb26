package synth

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check holds what must be true of every run.
func check(t *testing.T, s *Scenario, truth *Truth) {
	t.Helper()
	require.Equal(t, len(s.Frames), truth.Captured[0]+truth.Captured[1])
	for i := 1; i < len(s.Frames); i++ {
		require.LessOrEqual(t, s.Frames[i-1].Time, s.Frames[i].Time)
	}
	copies := 0
	for _, v := range truth.Sightings {
		if v.Copy {
			copies++
		}
	}
	lost, doubled, doubledBehind := 0, 0, 0
	for side := range 2 {
		up, down := &truth.Stretch[upstream(side)], &truth.Stretch[downstream(side)]
		sumUp, sumDup := 0, 0
		for k := range kinds {
			sumUp += up.Lost[k]
			sumDup += up.Duplicated[k]
			lost += down.Lost[k] + down.Corrupted[k]
			doubledBehind += down.Duplicated[k]
		}
		doubled += sumDup
		require.Equal(t, truth.Sent[side]-sumUp+sumDup, truth.AtTap[side], "side %d", side)
	}
	require.Equal(t, doubled, copies)
	lostSeen := 0
	for _, v := range truth.Sightings {
		if v.Lost {
			lostSeen++
		}
	}
	require.Equal(t, lost, lostSeen)
	sent := 0
	for i := range truth.Half {
		h := &truth.Half[i]
		sent += h.Requests + h.Responses + h.ACKs + h.NAKs + h.RNRs
		resent := 0
		for _, e := range h.Episodes {
			require.Positive(t, e.Resent)
			resent += e.Resent
		}
		require.Equal(t, h.Retransmitted, resent)
		if h.Failed {
			continue
		}
		require.Equal(t, len(h.Messages), h.Completed)
		for j, m := range h.Messages {
			require.True(t, m.Completed, "message %d", j)
		}
	}
	require.Equal(t, truth.Sent[0]+truth.Sent[1], sent)
}

func TestSimulateClean(t *testing.T) {
	mix := []Op{OpWrite, OpSend, OpRead, OpFetchAdd}
	s, truth := Simulate(SimConfig{Seed: 1, Both: true, Mix: mix, StartPSN: [2]uint32{0xfffff0, 7}, AckDelay: 2000})
	check(t, s, truth)
	for i := range truth.Half {
		h := &truth.Half[i]
		assert.Zero(t, h.Retransmitted)
		assert.Zero(t, h.NAKs+h.RNRs+h.Duplicates+h.Repeated)
		assert.Empty(t, h.Episodes)
		for j, m := range h.Messages {
			name := fmt.Sprintf("half %d message %d %+v", i, j, m)
			require.GreaterOrEqual(t, m.FirstSeen, int64(0), name)
			if m.Op == OpRead || m.Op == OpFetchAdd {
				require.Greater(t, m.FirstResponse, m.LastSeen, name)
				require.GreaterOrEqual(t, m.LastResponse, m.FirstResponse, name)
			} else {
				require.Greater(t, m.Covered, m.LastSeen, name)
			}
		}
	}
	assert.Positive(t, len(s.Frames))
}

// TestSimulateOneLoss knows by construction what must happen.
func TestSimulateOneLoss(t *testing.T) {
	for _, c := range []struct {
		name     string
		at       Stretch
		up, down int
	}{{"before the tap", AToTap, 1, 0}, {"behind the tap", TapToB, 0, 1}} {
		t.Run(c.name, func(t *testing.T) {
			s, truth := Simulate(SimConfig{
				Messages: 20, MaxSize: 4096,
				Drop: func(at Stretch, k Kind, psn uint32, nth int) bool {
					return at == c.at && k == KindRequest && psn == 10 && nth == 0
				},
			})
			check(t, s, truth)
			assert.Equal(t, c.up, truth.LostUpstream(SideA))
			assert.Equal(t, c.down, truth.LostDownstream(SideA))
			h := &truth.Half[SideA]
			assert.Equal(t, 1, h.NAKs)
			require.Len(t, h.Episodes, 1)
			assert.Equal(t, TriggerNAK, h.Episodes[0].Trigger)
			assert.Equal(t, uint32(10), h.Episodes[0].PSN)
			assert.Greater(t, h.Episodes[0].Resent, 1, "go-back-N sends more than the lost one")
		})
	}
}

func TestSimulateSelective(t *testing.T) {
	_, truth := Simulate(SimConfig{
		Messages: 20, MaxSize: 4096, Scheme: Selective,
		Drop: func(at Stretch, k Kind, psn uint32, nth int) bool {
			return at == TapToB && k == KindRequest && psn == 10 && nth == 0
		},
	})
	h := &truth.Half[SideA]
	require.Len(t, h.Episodes, 1)
	assert.Equal(t, 1, h.Retransmitted)
	assert.Equal(t, 1, h.NAKs)
}

func TestSimulateReadResponseLost(t *testing.T) {
	s, truth := Simulate(SimConfig{
		Messages: 4, MaxSize: 65536, Mix: []Op{OpRead}, Seed: 5,
		Drop: func(at Stretch, k Kind, psn uint32, nth int) bool {
			return at == BToTap && k == KindResponse && psn == 3 && nth == 0
		},
	})
	check(t, s, truth)
	h := &truth.Half[SideA]
	require.Len(t, h.Episodes, 1)
	assert.Equal(t, TriggerImplied, h.Episodes[0].Trigger)
	assert.Equal(t, uint32(3), h.Episodes[0].PSN, "the retry is a READ in the middle of the first")
	assert.Equal(t, 1, truth.LostUpstream(SideB))
	assert.Positive(t, h.Repeated)
	assert.Zero(t, h.NAKs)
}

func TestSimulateTailLoss(t *testing.T) {
	_, truth := Simulate(SimConfig{
		Messages: 3, Window: 1, MaxSize: 100,
		Drop: func(at Stretch, k Kind, psn uint32, nth int) bool {
			return at == TapToA && k == KindACK && psn == 1 && nth == 0
		},
	})
	h := &truth.Half[SideA]
	require.Len(t, h.Episodes, 1)
	assert.Equal(t, TriggerTimeout, h.Episodes[0].Trigger)
	assert.Equal(t, 1, h.Duplicates)
}

func TestSimulateRNR(t *testing.T) {
	_, truth := Simulate(SimConfig{Messages: 60, Mix: []Op{OpSend}, RNR: 0.2, Seed: 3})
	h := &truth.Half[SideA]
	require.Positive(t, h.RNRs)
	assert.Positive(t, h.NAKs, "messages in flight behind an RNR NAK draw a sequence NAK")
	require.Len(t, h.Episodes, h.RNRs)
	for _, e := range h.Episodes {
		assert.Equal(t, TriggerRNR, e.Trigger)
	}
	assert.Zero(t, truth.LostUpstream(0)+truth.LostDownstream(0))
}

func TestSimulateDeadPeer(t *testing.T) {
	_, truth := Simulate(SimConfig{Messages: 5, RetryCount: 3, Drop: func(at Stretch, _ Kind, psn uint32, _ int) bool {
		return at == TapToB && psn >= 2
	}})
	h := &truth.Half[SideA]
	assert.True(t, h.Failed)
	assert.Less(t, h.Completed, 5)
}

// TestSimulateSeeds runs everything at once, over many seeds.
func TestSimulateSeeds(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 20
	}
	for seed := range uint64(seeds) {
		p := float64(seed%5) * 0.01
		im := Impair{Loss: [kinds]float64{p, p, p, p}, Duplicate: float64(seed%3) * 0.01, Reorder: float64(seed%4) * 0.01, Corrupt: float64(seed%2) * 0.005}
		cfg := SimConfig{
			Seed: seed, Both: seed%2 == 0, Mix: []Op{OpWrite, OpSend, OpRead, OpFetchAdd}, RNR: float64(seed%3) * 0.02,
			Impair: [4]Impair{im, im, im, im}, Scheme: Scheme(seed / 2 % 2), CaptureLoss: float64(seed%7) * 0.002,
			AckDelay: int64(seed%3) * 1000, StartPSN: [2]uint32{0xffffe0, 0},
		}
		s, truth := Simulate(cfg)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, s, truth) })
		if seed%10 == 0 {
			again, _ := Simulate(cfg)
			require.Equal(t, s, again, "the same seed gives the same capture")
		}
	}
}
