package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// stream is a connection without end: segments of one direction and an ACK for
// every second, made from three packets whose numbers are moved on. Their
// checksums are left as they are: the bytes don't change.
type stream struct {
	data, ack wire.Packet
	step      uint32
	n         int64
}

func newStream(x *talk, payload []byte) *stream {
	x.data(0, payload)
	x.all(1)
	s := &stream{data: x.list[len(x.list)-2], ack: x.list[len(x.list)-1], step: uint32(len(payload))}
	x.list = x.list[:len(x.list)-2]
	return s
}

// next feeds one packet.
func (s *stream) next(t *iwarp.Tracker) {
	s.n++
	if s.n%3 == 0 {
		s.ack.TCP.Ack = s.data.TCP.Seq
		s.ack.Time = s.data.Time + 1000
		s.ack.IPID++
		t.Packet(&s.ack)
		return
	}
	t.Packet(&s.data)
	s.data.TCP.Seq += s.step
	s.data.Time += 2000
	s.data.IPID++
}

func write(n int) []byte {
	return synth.AppendFPDU(nil, synth.Tagged(synth.RDMAPWrite, true, 7, 0, make([]byte, n)), true)
}

func TestNoAllocations(t *testing.T) {
	for name, payload := range map[string][]byte{
		"iwarp": write(1400), "small messages": append(append(write(64), write(64)...), write(64)...),
		"reads": readRequest(1, 7, 0, 100),
	} {
		x := newTalk(false, 5)
		x.start(true)
		s := newStream(x, payload)
		tr := iwarp.New(iwarp.Options{})
		for i := range x.list {
			tr.Packet(&x.list[i])
		}
		for range 100_000 {
			s.next(tr)
		}
		n := testing.AllocsPerRun(10_000, func() { s.next(tr) })
		require.Zero(t, n, name)
		require.Len(t, tr.Result(0).Connections, 1)
	}
	// Every tenth segment comes after its successor.
	x := newTalk(false, 5)
	x.start(true)
	s := newStream(x, write(1400))
	tr := iwarp.New(iwarp.Options{})
	for i := range x.list {
		tr.Packet(&x.list[i])
	}
	late := func() {
		d := &s.data
		d.TCP.Seq, d.IPID = d.TCP.Seq+s.step, d.IPID+1
		tr.Packet(d)
		d.TCP.Seq, d.IPID = d.TCP.Seq-s.step, d.IPID-1
		tr.Packet(d)
		d.TCP.Seq, d.IPID = d.TCP.Seq+2*s.step, d.IPID+2
		for range 9 {
			s.next(tr)
		}
	}
	for range 1000 {
		late()
	}
	require.Zero(t, testing.AllocsPerRun(1000, late))
	f := x.flow(tr.Result(0), 0)
	require.Equal(t, int64(2001), f.TCP.OutOfOrder)
	require.Zero(t, f.TCP.Retransmitted)
	require.Zero(t, f.MPA.Desyncs)
}

// BenchmarkPlain is bulk TCP that is no iWARP, over 64 connections.
func BenchmarkPlain(b *testing.B) {
	tr := iwarp.New(iwarp.Options{})
	var streams []*stream
	for port := range uint16(64) {
		x := newTalk(false, 5)
		x.port = 1000 + port
		x.open()
		x.data(0, []byte("GET / HTTP/1.0\r\n\r\n"))
		s := newStream(x, make([]byte, 1448))
		for i := range x.list {
			tr.Packet(&x.list[i])
		}
		streams = append(streams, s)
	}
	b.ReportAllocs()
	for i := range b.N {
		streams[i&63].next(tr)
	}
	require.Empty(b, tr.Result(0).Connections)
}

// BenchmarkCandidate is the search through the first octets of a connection
// caught in mid-stream.
func BenchmarkCandidate(b *testing.B) {
	x := newTalk(false, 5)
	s := newStream(x, make([]byte, 1448))
	tr := iwarp.New(iwarp.Options{SearchSegments: 1 << 60, SearchOctets: 1 << 60})
	b.SetBytes(1448)
	for b.Loop() {
		s.next(tr)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"64", 64}, {"1400", 1400}} {
		b.Run(c.name, func(b *testing.B) {
			x := newTalk(false, 5)
			x.start(true)
			s := newStream(x, write(c.n))
			tr := iwarp.New(iwarp.Options{})
			for i := range x.list {
				tr.Packet(&x.list[i])
			}
			b.ReportAllocs()
			b.SetBytes(int64(c.n))
			for b.Loop() {
				s.next(tr)
			}
		})
	}
}
