package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/pcaps/synth"
)

// lossBeforeTap is a Send that the tap doesn't see, three that follow, and what
// the caller makes of it.
func lossBeforeTap(six bool, heal func(t *talk, seq uint32, b []byte)) (*talk, *iwarp.Flow) {
	t := newTalk(six, 1<<32-200) // the numbers wrap on the way
	t.noID = six
	t.start(true)
	t.data(0, send(1, 100))
	t.all(1)
	seq, b := t.seq[0], send(2, 100)
	t.lost(0, b)
	for i := range uint32(3) {
		t.data(0, send(3+i, 100))
	}
	heal(t, seq, b)
	t.all(1)
	return t, t.flow(t.result(), 0)
}

func TestTimeout(t *testing.T) {
	_, f := lossBeforeTap(false, func(t *talk, seq uint32, b []byte) {
		t.now += 200 * ms
		t.again(0, seq, b)
	})
	assert.Equal(t, int64(1), f.TCP.Retransmitted)
	assert.Equal(t, iwarp.Known(1), f.TCP.Timeouts)
	assert.Equal(t, iwarp.Known(1), f.LostUpstream)
	assert.Equal(t, int64(len(send(2, 100))), f.TCP.RetransmittedBytes)
	assert.Equal(t, map[string]int64{"SEND": 5}, f.Opcodes)
	require.Len(t, f.Holes, 1)
	assert.Equal(t, iwarp.LostUpstream, f.Holes[0].Lost)
	assert.Equal(t, int64(3), f.Holes[0].Delayed)
	assert.Equal(t, iwarp.Known(int64(200*ms+3*50*us)), f.Holes[0].Blocked)
	assert.Equal(t, iwarp.Known(0), f.UnseenBytes)
}

func TestFastRetransmit(t *testing.T) {
	_, f := lossBeforeTap(false, func(t *talk, seq uint32, b []byte) {
		end := seq + uint32(len(b))
		for i := range uint32(3) {
			t.acks(1, seq, end, end+(i+1)*uint32(len(b)))
		}
		t.again(0, seq, b)
	})
	assert.Equal(t, iwarp.Known(1), f.TCP.Fast)
	assert.Equal(t, iwarp.Known(3), f.TCP.DuplicateAcks)
	assert.Equal(t, iwarp.Known(1), f.LostUpstream)
}

func TestReordered(t *testing.T) {
	for name, six := range map[string]bool{"by identification": false, "by timestamp": true} {
		t.Run(name, func(t *testing.T) {
			x := newTalk(six, 1000)
			x.noID = six
			if six {
				x.stamp[0] = 10
			}
			x.start(true)
			for i := range uint32(3) {
				x.data(0, send(1+i, 100))
			}
			late := len(x.list)
			x.data(0, send(4, 100))
			x.stamp[0] *= 2
			x.data(0, send(5, 100))
			x.list[late], x.list[late+1] = x.list[late+1], x.list[late]
			x.all(1)
			f := x.flow(x.result(), 0)
			assert.Zero(t, f.TCP.Retransmitted)
			assert.Equal(t, int64(1), f.TCP.OutOfOrder)
			assert.Equal(t, !six, f.TCP.IdentificationUsable)
			assert.Equal(t, iwarp.Known(0), f.LostUpstream)
			assert.Equal(t, map[string]int64{"SEND": 5}, f.Opcodes)
			require.Len(t, f.Holes, 1)
			assert.Equal(t, iwarp.LostReorder, f.Holes[0].Lost)
		})
	}
}

// Neither identification nor timestamps: only that the receiver asked tells.
func TestOrderUnknown(t *testing.T) {
	_, f := lossBeforeTap(true, func(t *talk, seq uint32, b []byte) {
		t.acks(1, seq)
		t.acks(1, seq)
		t.again(0, seq, b)
	})
	assert.Equal(t, int64(1), f.TCP.Retransmitted)
	assert.Equal(t, int64(1), f.TCP.Likely)
	_, f = lossBeforeTap(true, func(t *talk, seq uint32, b []byte) { t.again(0, seq, b) })
	assert.Zero(t, f.TCP.Retransmitted)
	assert.Equal(t, int64(1), f.TCP.OutOfOrder)
}

func TestSpurious(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	b := send(1, 100)
	seq := x.seq[0]
	x.data(0, b)
	x.now += 300 * ms
	x.again(0, seq, b) // the ACK was late: a DSACK says so
	x.all(1)
	x.acks(1, x.seq[0], seq, seq+uint32(len(b)))
	x.again(0, seq, b) // its ACK has passed
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(2), f.TCP.Retransmitted)
	assert.Equal(t, iwarp.Known(2), f.TCP.Spurious)
	assert.Equal(t, iwarp.Known(1), f.TCP.DSACKs)
	assert.Equal(t, iwarp.Known(0), f.LostDownstream)
	assert.Equal(t, map[string]int64{"SEND": 1}, f.Opcodes)
}

func TestTailProbe(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	b := send(1, 100)
	seq := x.seq[0]
	x.data(0, b)
	x.now += 20 * ms
	x.again(0, seq, b)
	x.all(1)
	f := x.flow(x.result(), 0)
	assert.Equal(t, iwarp.Known(1), f.TCP.TailProbes)
	assert.Equal(t, iwarp.Known(1), f.LostDownstream)
	require.Len(t, f.Holes, 1)
	assert.False(t, f.Holes[0].Blocked.OK(), "nothing tells since when the receiver waited")
}

func TestCopies(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	seq := x.seq[0]
	x.data(0, send(1, 100))
	x.frame(x.list[len(x.list)-1].Data)
	x.all(1)
	x.frame(x.list[len(x.list)-1].Data)
	x.acks(1, x.seq[0], seq, x.seq[0])
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(2), f.Copies, "one with data, one ACK of them")
	assert.Equal(t, int64(1), f.NetworkCopies)
	assert.Zero(t, f.TCP.Retransmitted)
	assert.Equal(t, iwarp.Known(0), f.TCP.DuplicateAcks)
	assert.Equal(t, iwarp.Known(0), f.TCP.Spurious)
}

func TestBrokenChecksum(t *testing.T) {
	for _, repaired := range []bool{true, false} {
		x := newTalk(false, 5)
		x.start(true)
		x.data(0, send(1, 100))
		seq, b := x.seq[0], send(2, 100)
		x.put(0, synth.Segment{Seq: seq, Ack: x.ack[0], Flags: synth.ACKFlag, Payload: b, BadChecksum: true})
		x.seq[0] += uint32(len(b))
		x.data(0, send(3, 100))
		if repaired {
			x.acks(1, seq)
			x.now += 200 * ms
			x.again(0, seq, b)
		}
		x.all(1)
		f := x.flow(x.result(), 0)
		assert.Equal(t, map[string]int64{"SEND": 3}, f.Opcodes)
		assert.Equal(t, iwarp.Known(0), f.UnseenBytes)
		assert.Equal(t, iwarp.Known(0), f.LostUpstream)
		if repaired {
			assert.Equal(t, int64(1), f.ChecksumBad)
			assert.Equal(t, int64(1), f.CorruptHoles)
			assert.Equal(t, iwarp.LostCorrupt, f.Holes[0].Lost)
			continue
		}
		assert.Zero(t, f.ChecksumBad, "the receiver found it right")
		assert.Zero(t, f.TCP.Retransmitted)
	}
}

func TestUnseenAndWindow(t *testing.T) {
	x, f := lossBeforeTap(false, func(t *talk, seq uint32, b []byte) {
		t.put(1, synth.Segment{Seq: t.seq[1], Ack: t.seq[0], Flags: synth.ACKFlag})
	})
	assert.Equal(t, iwarp.Known(int64(len(send(2, 100)))), f.UnseenBytes)
	assert.Equal(t, map[string]int64{"SEND": 4}, f.Opcodes)
	assert.Zero(t, f.TCP.Retransmitted)
	assert.Empty(t, x.flow(x.result(), 1).Holes)
}

func TestOneWay(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	for i := range uint32(8) {
		x.data(0, send(1+i, 100))
	}
	var list = x.list[:0:0]
	for _, p := range x.list {
		if p.SrcPort == x.port {
			list = append(list, p)
		}
	}
	x.list = list
	f := x.flow(x.result(), 0)
	assert.Equal(t, map[string]int64{"SEND": 8}, f.Opcodes)
	for _, c := range []iwarp.Count{f.UnseenBytes, f.LostDownstream, f.TCP.DuplicateAcks, f.TCP.Fast, f.TCP.Timeouts, f.TCP.ZeroWindows} {
		assert.False(t, c.OK())
		assert.NotEmpty(t, c.Why)
	}
	assert.Nil(t, f.TCP.RTT)
}

func TestZeroWindow(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	zero := func() {
		x.put(1, synth.Segment{Seq: x.seq[1], Ack: x.seq[0], Flags: synth.ACKFlag, Window: 1})
		p := &x.list[len(x.list)-1]
		p.TCP.Window = 0
	}
	for range 2 { // closed twice, told twice each time
		x.data(0, send(1, 10))
		zero()
		zero()
		x.all(1)
	}
	f := x.flow(x.result(), 0)
	assert.Equal(t, iwarp.Known(2), f.TCP.ZeroWindows)
}

// The numbers jump: after three packets that can't belong, the direction begins
// anew.
func TestResync(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, send(1, 100))
	x.all(1)
	x.seq[0] += 1 << 31
	for i := range uint32(12) {
		x.data(0, send(2+i, 100))
	}
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(3), f.TCP.Implausible)
	assert.GreaterOrEqual(t, f.Opcodes["SEND"], int64(10))
	assert.Equal(t, iwarp.Known(0), f.UnseenBytes)
}
