package marking

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// passing is a host pair's short life: some data, some of it marked, a CNP or
// two, then it is forgotten.
type passing struct {
	data, back int32
	a, b       wire.Addr
	left       int
}

// traffic drives trackers with a fixed pair of packets, so that a million flows
// take seconds.
type traffic struct {
	f         *feed
	data, cnp *wire.Packet
}

func newTraffic() *traffic {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	there.TOS, back.TOS = tosCE, tosCNP
	return &traffic{f: f, data: f.decoded(0, synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly, Payload: make([]byte, 64)})),
		cnp: f.decoded(0, synth.AppendRoCEv2(nil, &back, &synth.Packet{Opcode: synth.CongestionNotif, BECN: true}))}
}

func (x *traffic) step(w *passing, number int64) {
	p, id := x.data, w.data
	p.Src, p.Dst = w.a, w.b
	if w.left%3 == 0 {
		p, id = x.cnp, w.back
		p.Src, p.Dst = w.b, w.a
	}
	p.Time, p.Number = t0+number*us, number
	w.left--
	x.f.tr.Packet(p, id)
}

func addr(n uint64) wire.Addr { return wire.Addr{Hi: 1, Lo: n} }

// TestForgetMillions: flows come and go for ever on the ids of those before,
// and the memory stays that of those alive. What stays all the time has the
// figures that it would have alone.
func TestForgetMillions(t *testing.T) {
	const alive, survivors, total = 1000, 20, 500_000 // pairs of flows
	n := total
	if testing.Short() {
		n = 50_000
	}
	crowd, alone := newTraffic(), newTraffic()
	rnd := rand.New(rand.NewSource(1))
	var free []int32
	next := int32(0)
	take := func(tr *Tracker) (id int32) {
		if k := len(free) - 1; k >= 0 {
			id, free = free[k], free[:k]
		} else {
			id, next = next, next+1
		}
		tr.AddFlow(id)
		return id
	}
	born := uint64(0)
	pairs := make([]passing, alive)
	birth := func(i int) {
		born++
		// Hosts have several connections, some with survivors' hosts.
		pairs[i] = passing{take(crowd.f.tr), take(crowd.f.tr), addr(born / 4 % 512), addr(1000 + born/4%512), 1 + rnd.Intn(5)}
	}
	for i := range pairs {
		birth(i)
		if i < survivors {
			pairs[i].left = 1 << 30
			pairs[i].a, pairs[i].b = addr(5000+uint64(i)), addr(6000+uint64(i))
		}
	}
	var early int64
	for number := int64(1); born < uint64(n); number++ {
		i := rnd.Intn(alive)
		w := pairs[i]
		crowd.step(&pairs[i], number)
		if i < survivors {
			w.data, w.back = int32(2*i), int32(2*i+1)
			alone.step(&w, number)
		}
		if pairs[i].left == 0 {
			ids := []int32{w.data, w.back}
			crowd.f.tr.Forget(ids[rnd.Intn(2)])
			crowd.f.tr.Forget(ids[0])
			crowd.f.tr.Forget(ids[1])
			free = append(free, ids...)
			birth(i)
		}
		if early == 0 && born > uint64(n)/10 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4, "memory grows")
	tr := crowd.f.tr
	assert.LessOrEqual(t, int(tr.n), 2*alive)
	assert.LessOrEqual(t, int(tr.usedPairs), 2*alive)
	assert.LessOrEqual(t, tr.links, tr.opt.Links)
	assert.Len(t, tr.index, int(tr.usedPairs)-len(tr.freePairs))

	got, want := tr.Result(t0+1<<50, nil), alone.f.tr.Result(t0+1<<50, nil)
	for i := range survivors {
		for k, id := range []int32{pairs[i].data, pairs[i].back} {
			other := []int32{pairs[i].back, pairs[i].data}[k]
			g, w := tr.Flow(id, other, t0+1<<50), alone.f.tr.Flow(int32(2*i+k), int32(2*i+1-k), t0+1<<50)
			g.ID, w.ID = 0, 0
			if g.Throttle != nil {
				g.Throttle.CNPFlow, w.Throttle.CNPFlow = 0, 0
			}
			require.Equal(t, w, g, "survivor %d", i)
		}
	}
	assert.Zero(t, got.LinksRefused+want.LinksRefused)
}

// TestForgottenPeer: after a CNP flow's id went to another connection, its
// CNPs aren't added to those of the flow before.
func TestForgottenPeer(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	f.data(0, 0, there, tosCE)
	f.cnp(us, 1, back)
	f.cnp(2*us, 1, back)
	require.EqualValues(t, 2, f.tr.Result(f.last, xor1).Flow(0).Throttle.CNPs)
	f.tr.Forget(1)
	require.Nil(t, f.tr.Result(f.last, xor1).Flow(0).Throttle)
	f.cnp(3*us, 1, back)
	require.EqualValues(t, 1, f.tr.Result(f.last, xor1).Flow(0).Throttle.CNPs)
	require.Equal(t, 1, f.tr.links, "in the place of the one before")
	f.tr.SetPeer(0, 1)
	f.tr.Forget(0)
	require.Zero(t, f.tr.links)
	require.Zero(t, f.tr.flows.At(1).peer)
	require.Equal(t, Flow{ID: 0}, f.tr.Flow(0, -1, f.last))
}

// TestForgetPacing: what a flow that is gone sent isn't paced with what the next
// one on its id sends; the budget of events comes back.
func TestForgetPacing(t *testing.T) {
	f := newFeed(Options{Paced: 10})
	there, back := host(1, 2, 0)
	f.data(0, 0, there, tosCE)
	f.data(0, 2, there, tosCE)
	for i := range int64(6) {
		f.cnp(i*100*us, 1, back)
		f.cnp(i*100*us+us, 3, back)
	}
	r := f.tr.Result(f.last, nil)
	require.EqualValues(t, 2, r.PacedRefused)
	require.EqualValues(t, 10, Pacings(r)[0].CNPs)
	f.tr.Forget(1)
	require.EqualValues(t, 5, Pacings(f.tr.Result(f.last, nil))[0].CNPs)
	require.EqualValues(t, 100*us, Pacings(f.tr.Result(f.last, nil))[0].IntervalNS)
	require.Equal(t, 5, f.tr.paced)
	f.tr.Forget(3)
	require.Zero(t, f.tr.paced)
	require.Empty(t, Pacings(f.tr.Result(f.last, nil)))
}

// TestForgetWhatNeverWas is harmless.
func TestForgetWhatNeverWas(t *testing.T) {
	tr := New(Options{})
	tr.Forget(7)
	tr.AddFlow(3)
	tr.Forget(3)
	tr.Forget(2)
	require.Equal(t, Flow{ID: 3}, tr.Flow(3, -1, 0))
	require.Equal(t, Flow{ID: 9}, tr.Flow(9, -1, 0))
}
