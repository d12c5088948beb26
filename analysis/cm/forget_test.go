package cm

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/synth"
)

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestIdle: a dialogue without a message for long is told of and dropped, be it
// over, open, or without a reply; its messages stay counted.
func TestIdle(t *testing.T) {
	f := newFeedOf(t, Options{IdleNS: 5e9})
	var dropped []Dialogue
	f.tr.events.Drop = func(d *Dialogue) { dropped = append(dropped, *d) }
	f.from(A, req(7))
	f.from(B, rep(7))
	f.from(A, synth.RTU(7, idA, idB, nil))
	first := f.now
	f.now += 4e9
	f.from(B, synth.DREQ(8, idB, idA, qpnA, nil))
	require.Equal(t, Disconnecting, f.only().State, "not idle: its last message counts")
	require.Equal(t, []int64{0}, []int64{int64(len(dropped))})

	lone := synth.REQ{LocalCommID: 77, LocalQPN: 5, RemoteCMTimeout: 3}
	f.now += 4e9
	f.from(A, lone.MAD(9))
	require.Len(t, f.result().Dialogues, 2)
	f.tr.Age(f.now + 2e9)
	require.Len(t, dropped, 1)
	assert.Equal(t, Disconnecting, dropped[0].State)
	assert.Equal(t, first, dropped[0].Seen[RTU].LastTime, "with all that was known")
	assert.EqualValues(t, qpnB, dropped[0].B.QPN)

	f.now += 10e9
	f.from(B, synth.DREQ(8, idB, idA, qpnA, nil)) // a retry, much too late
	require.Len(t, dropped, 2)
	assert.Equal(t, NoReply, dropped[1].State)
	r := f.result()
	require.Len(t, r.Dialogues, 1)
	assert.False(t, r.Dialogues[0].InitiatorKnown, "another dialogue as far as is known")
	assert.Equal(t, [NoReply + 1]int64{Disconnecting: 1, NoReply: 1}, r.Expired)
	assert.Zero(t, r.Evicted)
	counts := map[string]int64{}
	for _, c := range r.MADs {
		counts[c.Name()] = c.Count
	}
	assert.Equal(t, map[string]int64{"REQ": 2, "REP": 1, "RTU": 1, "DREQ": 2}, counts)
	assert.Equal(t, [NoReply + 1]int64{Disconnecting: 2, NoReply: 2}, Merge(r, r).Expired)
}

// TestNeverIdle: without a limit only the table's end drops anything.
func TestNeverIdle(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.now += 1e18
	f.tr.Age(f.now)
	f.from(B, rep(7))
	require.Equal(t, Replied, f.only().State)
}

// TestMillions: dialogues begin and end for ever, and the memory stays that of
// those that had a message lately. What stays has the figures that it would
// have alone.
func TestMillions(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	const survivors = 10
	crowd, alone := newFeedOf(t, Options{IdleNS: 1e9}), newFeedOf(t, Options{IdleNS: 1e9})
	var dropped int
	crowd.tr.events.Drop = func(*Dialogue) { dropped++ }
	crowd.tr.events.Connect = nil
	send := func(f *feed, now int64, side Side, m synth.MAD) {
		f.now = now
		f.from(side, m)
	}
	dialogue := func(id uint32) (q, p synth.MAD) {
		r := synth.REQ{LocalCommID: id, LocalQPN: 100 + id%4096, RemoteCMTimeout: 10}
		s := synth.REP{LocalCommID: id + 1, RemoteCommID: id, LocalQPN: 200}
		return r.MAD(uint64(id)), s.MAD(uint64(id))
	}
	var early int64
	for k := range n {
		now := int64(1e18) + int64(k)*1e6 // a thousand in a second
		id := uint32(2*k + 2)
		if k < survivors {
			q, _ := dialogue(id)
			send(crowd, now, A, q)
			send(alone, now, A, q)
			continue
		}
		q, p := dialogue(id)
		send(crowd, now, A, q)
		send(crowd, now, B, p)
		if k%100 < survivors { // retried for ever
			q, _ = dialogue(uint32(2*(k%100) + 2))
			send(crowd, now, A, q)
			send(alone, now, A, q)
		}
		if early == 0 && k > n/10 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4+1<<18, "memory grows")
	assert.LessOrEqual(t, len(crowd.tr.entries), 1100)
	assert.LessOrEqual(t, len(crowd.tr.index), 2200)
	got, want := crowd.result(), alone.result()
	require.Len(t, want.Dialogues, survivors)
	for i := range survivors {
		g, w := got.Dialogues[i], want.Dialogues[i]
		assert.Equal(t, w.TransactionID, g.TransactionID)
		assert.Equal(t, w.State, g.State)
		assert.Equal(t, w.Requests(), g.Requests())
	}
	assert.Equal(t, n, dropped+len(got.Dialogues))
	assert.Zero(t, got.Evicted)
}
