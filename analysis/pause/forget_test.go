package pause

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// packet returns a data packet of priority 3 that can be sent again and again.
func (f *feed) packet(from, to synth.MAC) *wire.Packet {
	path := synth.Path{SrcMAC: from, DstMAC: to, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: 3, VID: 10}}}
	return f.decoded(0, 0, 0, synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5}))
}

// TestForgetMillions: flows come and go for ever, through storms that silence
// them, and the memory stays that of those alive. What stays all the time has
// the figures that it would have alone.
func TestForgetMillions(t *testing.T) {
	const alive, survivors = 1000, 10
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	crowd := newFeed(t, Options{LinkSpeedBps: 10e9, MaxFlows: alive})
	alone := newFeed(t, Options{LinkSpeedBps: 10e9, MaxFlows: alive})
	a, b := crowd.parts[0], alone.parts[0]
	p := crowd.packet(macA, macB)
	var early int64
	for k := range n {
		at := int64(k) * 10_000 // a storm of 300 ms every two seconds
		if k%200 == 0 && at%2e9 < 3e8 {
			for _, f := range []*feed{crowd, alone} {
				f.pfc(at, 0, macB, 0xffff)
			}
		}
		id := int32(k % alive)
		if at%2e9 < 3e8 && k%2e5 > 100 {
			continue // silent
		}
		p.Time, p.Number = t0+at, int64(k)
		a.Data(p, id)
		if id < survivors {
			b.Data(p, id)
		} else if k%7 == 0 {
			a.Forget(id)
		}
		if early == 0 && k > n/10 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4+1<<18, "memory grows")
	assert.Less(t, a.flows.Len(), 2*alive)
	end := t0 + int64(n)*10_000
	of := func(r TrafficResult) (l []Quiet) {
		for _, q := range r.Quiet {
			if q.Flow >= 0 && q.Flow < survivors {
				l = append(l, q)
			}
		}
		return l
	}
	got, want := a.Result(end), b.Result(end)
	require.NotEmpty(t, of(want))
	// Silences are kept for the newest: compare the common end.
	g, w := of(got), of(want)
	assert.Equal(t, w[len(w)-min(len(w), len(g)):], g)
	assert.LessOrEqual(t, len(got.Quiet), 4096+alive)
}

// TestForgetVictim: a victim and a violator whose flow is forgotten stay what
// they are, under another number, and aren't taken for the next owner of theirs.
func TestForgetVictim(t *testing.T) {
	for _, c := range []struct {
		name   string
		forget func(tr *Traffic)
		flow   int32
	}{
		{"never", func(*Traffic) {}, 4},
		{"for good", func(tr *Traffic) { tr.Forget(4) }, -1},
		{"as another", func(tr *Traffic) { tr.ForgetAs(4, -7) }, -7},
	} {
		for _, returns := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				f := newFeed(t, Options{LinkSpeedBps: 10e9})
				for i := range int64(20) {
					f.data(i*us1*100, 0, macA, macB, 3, 4)
				}
				f.hold(2*ms1, 402*ms1, 0, macB)
				f.data(500*ms1, 0, macB, macA, 3, 6) // time goes on
				if returns {
					f.data(500*ms1, 0, macA, macB, 3, 4)
				}
				c.forget(f.parts[0])
				f.data(501*ms1, 0, macA, macB, 3, 4) // the next owner of the number
				_, r := f.end(600 * ms1)
				require.Len(t, r.Storms, 1)
				require.Len(t, r.Storms[0].Victims, 1)
				assert.Equal(t, c.flow, r.Storms[0].Victims[0].Flow)
				if returns {
					assert.EqualValues(t, 500*ms1-1900*us1, r.Storms[0].Victims[0].QuietNS)
				}
			})
		}
	}
}

func TestForgetViolators(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9})
	f.pfc(0, 0, macB, 0xffff)
	for i := range int32(5) {
		f.data(ms1+int64(i), 0, macA, macB, 3, 2*i)
	}
	tr := f.parts[0]
	tr.Forget(2)
	tr.Forget(4)
	tr.ForgetAs(6, -9)
	tr.Forget(100)
	tr.Forget(-1)
	_, r := f.end(10 * ms1)
	require.Len(t, r.Violations, 4)
	packets := map[int32]int64{}
	for _, v := range r.Violations {
		packets[v.Flow] = v.Packets
	}
	assert.Equal(t, map[int32]int64{0: 1, 8: 1, -1: 2, -9: 1}, packets)
}

// TestQuietRing: of too many silences the newest are kept, as of pauses.
func TestQuietRing(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9, MaxQuiet: 3})
	for i := range int64(5) {
		at := i * 1000 * ms1
		for k := range int64(20) {
			f.data(at+k*us1*100, 0, macA, macB, 3, 4)
		}
		f.hold(at+2*ms1, at+402*ms1, 0, macB)
	}
	f.data(5000*ms1, 0, macA, macB, 3, 4)
	r := f.parts[0].Result(t0 + 5000*ms1)
	require.Len(t, r.Quiet, 3)
	assert.EqualValues(t, 2, r.QuietDropped)
	for i, q := range r.Quiet {
		assert.EqualValues(t, t0+int64(i+3)*1000*ms1, q.First)
	}
}

// TestHostileMACs: a flood of made-up senders drives out neither the memory nor
// the sender that pauses in earnest; when it is over there is room again.
func TestHostileMACs(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9, MaxRows: 64})
	f.hold(0, 300*ms1, 0, macA) // a storm
	mac := func(i int) synth.MAC { return synth.MAC{2, 9, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)} }
	var early int64
	const flood = 300_000
	for i := range flood {
		f.pfc(400*ms1+int64(i)*ms1, uint16(i%8), mac(i), 1)
		if i == flood/2 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4+1<<18)
	after := int64(400*ms1+flood*ms1) + 11_000*ms1
	f.hold(after, after+300*ms1, 0, macB)
	f.hold(after, after+300*ms1, 9, macC)
	_, r := f.end(after + 400*ms1)
	require.Len(t, r.Storms, 3)
	assert.Equal(t, []string{wire.MAC(macA).String(), wire.MAC(macB).String(), wire.MAC(macC).String()},
		[]string{r.Storms[0].MAC.String(), r.Storms[1].MAC.String(), r.Storms[2].MAC.String()})
	assert.Len(t, r.Sources, 64)
	assert.Positive(t, r.RowsEvicted)
	assert.EqualValues(t, flood+3, int(r.RowsEvicted)+int(r.RowsRefused)+len(r.Sources), "each is counted once")
}

// TestEvictedRow: what a shard knew of the row before isn't held against the
// one in its place.
func TestEvictedRow(t *testing.T) {
	f := newFeed(t, Options{LinkSpeedBps: 10e9, MaxRows: 1})
	f.pfc(0, 0, macC, 0xffff)
	f.data(2*ms1, 0, macA, macC, 3, 4) // a violation, in the first interval
	f.pfc(9_000*ms1, 0, macB, 1)       // too early for it to be idle
	f.hold(11_000*ms1, 11_300*ms1, 0, macB)
	_, r := f.end(12_000 * ms1)
	require.Len(t, r.Storms, 1)
	assert.Equal(t, wire.MAC(macB), r.Storms[0].MAC)
	assert.Empty(t, r.Violations)
	assert.EqualValues(t, 1, r.RowsEvicted)
	assert.EqualValues(t, 1, r.RowsRefused)
}
