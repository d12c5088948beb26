package marking

import (
	"runtime"
	"testing"

	"rdmascope/analysis/prefetch"
	"rdmascope/pcaps/synth"
)

// benchFlows is many more flows than any cache holds.
const benchFlows = 100_000

// BenchmarkPacket feeds packets of many flows, interleaved at random: what
// counts is how much memory one packet touches.
func BenchmarkPacket(b *testing.B) {
	f := newFeed(Options{})
	there, _ := host(1, 2, tosECT)
	p := f.decoded(0, synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5, Payload: make([]byte, 64)}))
	before := heap()
	for id := range int32(benchFlows) {
		p.Src.Lo = uint64(id >> 4)
		f.tr.AddFlow(id)
		f.tr.Packet(p, id)
	}
	after := heap()
	x := uint64(1)
	var near prefetch.List
	b.ReportAllocs()
	for b.Loop() {
		// A batch is asked for, then taken, as the engine does.
		var ids [16]int32
		for i := range ids {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			ids[i] = int32(x % benchFlows)
			f.tr.Ahead(&near, ids[i])
		}
		near.Fetch()
		for _, id := range ids {
			p.Time++
			p.Number++
			f.tr.Packet(p, id)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/packet")
	b.ReportMetric(float64(after-before)/benchFlows, "B/flow")
}

// BenchmarkResult is what a snapshot of many flows costs.
func BenchmarkResult(b *testing.B) {
	f := newFeed(Options{})
	there, _ := host(1, 2, tosECT)
	p := f.decoded(0, synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5, Payload: make([]byte, 64)}))
	for id := range int32(benchFlows) {
		p.Src.Lo = uint64(id >> 4)
		f.tr.AddFlow(id)
		f.tr.Packet(p, id)
	}
	b.ReportAllocs()
	for b.Loop() {
		f.tr.Result(p.Time, nil)
	}
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
