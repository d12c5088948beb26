package iwarp_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/pcaps/synth"
)

// at moves a conversation to another time and port.
func (x *talk) at(now time.Duration, port uint16) *talk {
	x.now, x.port = now, port
	return x
}

func feed(tr *iwarp.Tracker, x *talk) {
	for i := range x.list {
		tr.Packet(&x.list[i])
	}
	x.list = x.list[:0]
}

// TestAge: who was silent for long is returned once and forgotten, in whatever
// stage; who spoke stays.
func TestAge(t *testing.T) {
	tr := iwarp.New(iwarp.Options{})
	old := newTalk(false, 5).at(time.Hour, 1)
	old.start(true)
	old.data(0, send(1, 100))
	old.lost(0, send(2, 100))
	old.data(0, send(3, 100)) // a hole that nobody fills
	renewed := newTalk(false, 5).at(time.Hour, 2)
	renewed.start(true)
	renewed.data(0, send(1, 100))
	renewed.at(time.Hour+8*time.Second, 2)
	renewed.seq = [2]uint32{90_000, 80_000}
	renewed.start(true)
	syn := newTalk(false, 5).at(time.Hour, 3)
	syn.put(0, synth.Segment{Seq: 1, Flags: synth.SYN})
	plain := newTalk(false, 5).at(time.Hour, 4)
	plain.open()
	plain.data(0, []byte("SSH-2.0-whatever\r\n"))
	middle := newTalk(false, 5).at(time.Hour, 5)
	middle.data(0, make([]byte, 300))
	number := int64(0)
	for _, x := range []*talk{old, renewed, syn, plain, middle} {
		for i := range x.list {
			number++
			x.list[i].Number = number
		}
		feed(tr, x)
	}
	want := tr.Result(0)
	require.Len(t, want.Connections, 3)
	require.Equal(t, []int{1, 1, 1}, []int{want.Plain, want.Candidates, want.Pending})

	assert.Empty(t, tr.Age(int64(time.Hour)), "nobody is older than that")
	gone := tr.Age(int64(time.Hour + 6*time.Second))
	require.Len(t, gone, 2)
	assert.Equal(t, []uint16{1, 2}, []uint16{gone[0].Key.APort, gone[1].Key.APort})
	assert.Zero(t, gone[1].Incarnation, "the former connection of the ports")
	f := gone[0].Flows[0]
	assert.Equal(t, map[string]int64{"SEND": 2}, f.Opcodes, "what waited behind the hole was read")
	require.Len(t, f.Holes, 1)
	assert.Equal(t, iwarp.LostOpen, f.Holes[0].Lost)
	got := tr.Result(0)
	require.Len(t, got.Connections, 1)
	assert.Equal(t, []int{0, 0, 0}, []int{got.Plain, got.Candidates, got.Pending})
	assert.Same(t, want.Connections[2], got.Connections[0], "nothing happened to it, so nothing was made anew")
	assert.EqualValues(t, 1, got.Connections[0].Incarnation)
	assert.Zero(t, tr.ChunksUsed())
	assert.Empty(t, tr.Age(int64(time.Hour+6*time.Second)), "once")

	old.at(time.Hour+9*time.Second, 1)
	old.data(0, send(4, 100))
	old.data(0, send(5, 100))
	feed(tr, old)
	list := tr.Result(0).Connections
	require.Len(t, list, 2, "it goes on, as one caught in mid-stream")
	for _, c := range list {
		assert.Equal(t, c.Key.APort != 1, c.Handshake)
	}
}

// TestEvictedAreTold: the figures of a connection that the cap throws out aren't
// lost to a caller that wants them.
func TestEvictedAreTold(t *testing.T) {
	var ports []uint16
	opt := small
	opt.Evicted = func(c *iwarp.Connection) {
		ports = append(ports, c.Key.APort)
		assert.Equal(t, map[string]int64{"SEND": 1}, c.Flows[0].Opcodes)
	}
	tr := iwarp.New(opt)
	for port := range uint16(10) {
		x := newTalk(false, 5).at(time.Hour+time.Duration(port)*time.Second, port)
		x.start(true)
		x.data(0, send(1, 10))
		feed(tr, x)
	}
	assert.Equal(t, []uint16{0, 1, 2, 3, 4, 5}, ports)
	assert.EqualValues(t, 6, tr.Result(0).Evictions.Connections)
}

// TestAgeMillions: connections come and go for ever, and the memory stays that
// of those alive; what stays all the time has the figures that it would have
// alone.
func TestAgeMillions(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 3_000
	}
	const survivors = 5
	crowd, alone := iwarp.New(iwarp.Options{}), iwarp.New(iwarp.Options{})
	stay := make([]*talk, survivors)
	for i := range stay {
		stay[i] = newTalk(false, uint32(i)).at(time.Hour+time.Duration(i)*ms, uint16(i+1))
		stay[i].start(true)
		for k := range stay[i].list {
			crowd.Packet(&stay[i].list[k])
		}
		feed(alone, stay[i])
	}
	var early int64
	var closed, plain int
	for k := range n {
		now := time.Hour + time.Duration(k+10)*10*ms
		x := newTalk(false, uint32(k)).at(now, uint16(1000+k%60_000))
		switch k % 4 {
		case 0:
			x.put(0, synth.Segment{Seq: 1, Flags: synth.SYN})
		case 1:
			x.open()
			x.data(0, []byte("GET / HTTP/1.0\r\n\r\n"))
			plain++
		default:
			x.start(true)
			x.lost(0, send(1, 100))
			x.data(0, send(2, 100))
		}
		feed(crowd, x)
		s := stay[k%survivors].at(now+5*ms, uint16(k%survivors+1))
		s.data(0, send(uint32(1+k/survivors), 100))
		s.all(1)
		for i := range s.list {
			crowd.Packet(&s.list[i])
		}
		feed(alone, s)
		if k%100 == 0 {
			closed += len(crowd.Age(int64(now - 2*time.Second)))
			require.True(t, crowd.Bounded())
		}
		if early == 0 && k > n/5 {
			early = heap()
		}
	}
	assert.Less(t, heap(), early+early/4+1<<18, "memory grows")
	assert.Less(t, crowd.Known(), 600, "connections of three seconds")
	end := int64(time.Hour + time.Duration(n+10)*10*ms)
	got, want := crowd.Result(end), alone.Result(end)
	assert.Equal(t, n/2, closed+len(got.Connections)-survivors, "each was told of once")
	for i := range survivors {
		assert.Equal(t, want.Connections[i], got.Connections[i])
	}
	assert.Equal(t, iwarp.Evictions{}, got.Evictions)
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkResult is what a snapshot of many connections costs, one in a hundred
// of which had a packet since the one before.
func BenchmarkResult(b *testing.B) {
	const connections = 1000
	tr := iwarp.New(iwarp.Options{})
	talks := make([]*talk, connections)
	for i := range talks {
		talks[i] = newTalk(false, 5).at(time.Hour, uint16(1000+i))
		talks[i].start(true)
		talks[i].data(0, send(1, 100))
		talks[i].all(1)
		feed(tr, talks[i])
	}
	tr.Result(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < connections; i += 100 {
			talks[i].all(1)
			feed(tr, talks[i])
		}
		tr.Result(0)
	}
}
