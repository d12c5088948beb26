package taps

import (
	"net/netip"
	"runtime"
	"testing"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// benchFlows is many more flows than any cache holds.
const benchFlows = 100_000

// BenchmarkPacket feeds packets of many flows, interleaved at random, each seen
// at two interfaces.
func BenchmarkPacket(b *testing.B) {
	f := newFeed()
	f.packet(0, 0, 64, 1, 0)
	f.packet(1, 0, 64, 2, 1)
	path := synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), TOS: dscp26}
	frame := synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 17, PSN: 5})
	var p [2]wire.Packet
	for i := range p {
		p[i] = wire.Packet{Number: 9, Data: frame, Wire: uint32(len(frame)), Iface: uint16(i), Link: 1}
		f.dec.Decode(&p[i])
	}
	crc := frame[len(frame)-4:]
	x := uint64(1)
	pair := func() {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		for i := range 4 {
			crc[i] = byte(x >> (8 * i))
		}
		id := int32(x>>32) % benchFlows
		for i := range p {
			p[i].Number++
			f.Packet(&p[i], id)
		}
	}
	before := heap()
	for range 20 * benchFlows {
		pair()
	}
	after := heap()
	b.ReportAllocs()
	for b.Loop() {
		pair()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/packet")
	b.ReportMetric(float64(after-before)/benchFlows, "B/flow")
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
