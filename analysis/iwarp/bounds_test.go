package iwarp_test

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/pcaps/synth"
)

// small caps, so that tests reach them.
var small = iwarp.Options{Connections: 4, Candidates: 3, Pending: 8, Entries: 32, StreamBuffer: 8 << 10, TotalBuffer: 64 << 10, Holes: 5}

// Behind a hole that is never filled no more waits than may, and the framing
// goes on without it.
func TestBufferCap(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.lost(0, send(1, 1000))
	for i := range uint32(100) {
		x.data(0, send(2+i, 1000))
	}
	tr := iwarp.New(small)
	for i := range x.list {
		tr.Packet(&x.list[i])
		require.LessOrEqual(t, tr.Result(0).WaitingOctets, int64(small.StreamBuffer))
	}
	r := tr.Result(0)
	assert.Equal(t, int64(1), r.Evictions.Buffers)
	assert.Equal(t, map[string]int64{"SEND": 100}, x.flow(r, 0).Opcodes)
	assert.Zero(t, tr.ChunksUsed())
	assert.Equal(t, iwarp.Known(0), x.flow(r, 0).UnseenBytes, "nobody acknowledged it")
	require.Len(t, x.flow(r, 0).Holes, 1)
	assert.Equal(t, iwarp.LostOpen, x.flow(r, 0).Holes[0].Lost)
}

func TestManyConnections(t *testing.T) {
	tr := iwarp.New(small)
	for port := range uint16(200) {
		x := newTalk(false, uint32(port))
		x.port = 10000 + port
		switch port % 4 {
		case 0: // a SYN only
			x.put(0, synth.Segment{Seq: 1, Flags: synth.SYN})
		case 1: // mid-stream, no iWARP
			x.data(0, make([]byte, 300))
		case 2:
			x.open()
			x.data(0, []byte("SSH-2.0-whatever\r\n"))
		case 3:
			x.start(true)
			x.data(0, send(1, 10))
		}
		for i := range x.list {
			tr.Packet(&x.list[i])
			require.True(t, tr.Bounded())
		}
	}
	r := tr.Result(0)
	assert.Len(t, r.Connections, small.Connections)
	assert.Equal(t, int64(50-small.Connections), r.Evictions.Connections)
	assert.Positive(t, r.Evictions.Candidates)
	assert.Positive(t, r.Evictions.Entries)
	for _, c := range r.Connections {
		assert.Equal(t, map[string]int64{"SEND": 1}, c.Flows[0].Opcodes)
	}
}

// A SYN flood takes no more than the pending cap; the connection that works
// among them is found.
func TestSynFlood(t *testing.T) {
	tr := iwarp.New(small)
	x := newTalk(false, 9)
	x.start(true)
	for port := range uint16(1000) {
		f := newTalk(false, 1)
		f.port = 20000 + port
		f.put(0, synth.Segment{Seq: 1, Flags: synth.SYN})
		tr.Packet(&f.list[0])
		if int(port) < len(x.list) {
			tr.Packet(&x.list[port])
		}
		require.True(t, tr.Bounded())
	}
	assert.Len(t, tr.Result(0).Connections, 1)
}

// TestShuffled: segments in any order within a window give the same FPDUs.
func TestShuffled(t *testing.T) {
	x := newTalk(false, 1<<32-3000)
	x.start(true)
	head := len(x.list)
	for i := range uint32(60) {
		x.data(0, send(1+i, 400))
	}
	rnd := rand.New(rand.NewSource(3))
	for range 50 {
		list := append(x.list[:0:0], x.list...)
		for i := head; i < len(list); i++ {
			j := i + rnd.Intn(min(6, len(list)-i))
			list[i], list[j] = list[j], list[i]
		}
		r := track(list, iwarp.Options{})
		f := x.flow(r, 0)
		assert.Equal(t, map[string]int64{"SEND": 60}, f.Opcodes)
		assert.Equal(t, iwarp.Known(60), f.MPA.CRCGood)
		assert.Zero(t, f.TCP.Retransmitted, "all came late, none twice")
		assert.Equal(t, iwarp.Known(0), f.LostUpstream)
	}
}

// FuzzSegments makes a conversation of hostile segments out of its input. No
// figure goes below zero, no list grows past its cap.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 20, 0, 1, 0, 4, 0, 30, 1})
	f.Add([]byte("\x02\x00\x10\x00\x40\x03\x01\xff\xff\xff\x40\x10\x00\x00\x00\x00\x00\x08"))
	rnd := rand.New(rand.NewSource(1))
	for range 4 {
		b := make([]byte, 600)
		rnd.Read(b)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newTalk(false, 1<<32-500)
		x.start(true)
		for len(b) >= 6 && len(x.list) < 300 {
			op, delta, n, arg := b[0], int16(binary.LittleEndian.Uint16(b[1:])), int(b[3])*int(b[0]>>5&3+1), b[4]
			hostile(x, op, int32(delta), n, arg, b[5])
			b = b[6:]
		}
		tr := iwarp.New(small)
		var gone []*iwarp.Connection
		for i := range x.list {
			tr.Packet(&x.list[i])
			if !tr.Bounded() {
				t.Fatal("a list is past its cap")
			}
			if len(b) > 0 && i%(8+int(b[0])) == 7 { // what is left of the script
				gone = append(gone, tr.Age(x.list[i].Time-int64(b[0])*20_000)...)
			}
		}
		if len(b) > 0 && b[0]&1 != 0 {
			gone = append(gone, tr.Age(1<<62)...)
			if tr.Known() != 0 || len(tr.Result(0).Connections) != 0 {
				t.Fatal("a connection outlived everybody's end")
			}
		}
		tr.Finish()
		if tr.Chunks() > small.TotalBuffer/2048 {
			t.Fatal("more memory than the cap")
		}
		for _, c := range append(gone, tr.Result(0).Connections...) {
			for _, fl := range c.Flows {
				if fl.UnseenBytes.N < 0 || fl.LostDownstream.N < 0 || fl.TCPPayloadBytes < 0 || fl.ChecksumBad < 0 || fl.TCP.DataSegments < 0 ||
					fl.Reads.MaxOutstanding < 0 || fl.MPA.Aligned > fl.MPA.FPDUs {
					t.Fatalf("%+v", fl)
				}
			}
		}
		if tr.ChunksUsed() != 0 {
			t.Fatal("memory of waiting payload was not given back")
		}
	})
}

// hostile adds one segment that the fuzzer describes.
func hostile(x *talk, op byte, delta int32, n int, arg, extra byte) {
	i := int(op & 1)
	s := synth.Segment{Seq: x.seq[i] + uint32(delta), Ack: x.seq[1-i] + uint32(int8(arg))*64, Flags: synth.ACKFlag, Window: uint16(extra) + 1}
	switch op >> 1 & 7 {
	case 0: // in order
		s.Seq, s.Payload = x.seq[i], send(uint32(extra), n)
		x.seq[i] += uint32(len(s.Payload))
	case 1:
		s.Payload = send(uint32(extra), n)
	case 2:
		s.Payload = response(extra&1 == 0, uint32(arg), uint64(extra), n)
	case 3:
		s.Payload, s.Seq = readRequest(uint32(extra), uint32(arg), uint64(extra), uint32(n)), x.seq[i]
		x.seq[i] += uint32(len(s.Payload))
	case 4:
		s.Options = synth.TCPSACK(x.seq[1-i]+uint32(delta), x.seq[1-i]+uint32(delta)+uint32(n))
	case 5:
		s.Seq = x.seq[i] + uint32(delta)<<18
		s.Payload = make([]byte, n)
	case 6:
		s.BadChecksum, s.Payload = true, send(uint32(extra), n)
	case 7:
		s.Flags |= extra & (synth.FIN | synth.SYN | synth.RST)
		s.Payload = make([]byte, n&15)
	}
	x.put(i, s)
	if op == 0xff { // twice
		x.frame(x.list[len(x.list)-1].Data)
	}
}

// TestResegmented: however a stream is cut into segments, its FPDUs are the same.
func TestResegmented(t *testing.T) {
	var whole []byte
	for i := range uint32(40) {
		whole = append(whole, send(1+i, int(i*i*7%1300))...)
	}
	rnd := rand.New(rand.NewSource(5))
	for range 30 {
		x := newTalk(false, 1<<32-5000)
		x.start(true)
		for rest := whole; len(rest) > 0; {
			n := min(1+rnd.Intn(3000), len(rest))
			x.data(0, rest[:n])
			rest = rest[n:]
		}
		x.all(1)
		f := x.flow(x.result(), 0)
		assert.Equal(t, iwarp.Known(40), f.MPA.CRCGood)
		assert.Equal(t, int64(40), f.Messages)
		assert.Equal(t, int64(len(whole))+24, f.TCPPayloadBytes)
	}
}
