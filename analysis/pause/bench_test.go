package pause

import (
	"fmt"
	"runtime"
	"testing"

	"rdmascope/analysis/prefetch"
	"rdmascope/pcaps/synth"
)

// benchFlows is many more flows than any cache holds.
const benchFlows = 100_000

// BenchmarkData feeds packets of many flows, interleaved at random: what counts
// is how much memory one packet touches.
func BenchmarkData(b *testing.B) {
	f := newFeed(b, Options{MaxFlows: benchFlows})
	f.pfc(0, 0, macB, 0xffff)
	path := synth.Path{SrcMAC: macA, DstMAC: macB, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: 3, VID: 10}}}
	p := f.decoded(1, 0, 0, synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5}))
	t := NewTraffic(f.tl)
	before := heap()
	for id := range int32(benchFlows) {
		t.Data(p, id)
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
			t.Ahead(&near, ids[i])
		}
		near.Fetch()
		for _, id := range ids {
			p.Time += 10
			p.Number++
			t.Data(p, id)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/packet")
	b.ReportMetric(float64(after-before)/benchFlows, "B/flow")
}

// BenchmarkResult is what a snapshot of many flows costs.
func BenchmarkResult(b *testing.B) {
	f := newFeed(b, Options{MaxFlows: benchFlows})
	f.pfc(0, 0, macB, 0xffff)
	path := synth.Path{SrcMAC: macA, DstMAC: macB, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: 3, VID: 10}}}
	p := f.decoded(1, 0, 0, synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5}))
	t := NewTraffic(f.tl)
	for id := range int32(benchFlows) {
		t.Data(p, id)
	}
	b.ReportAllocs()
	for b.Loop() {
		t.Result(p.Time)
	}
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkManySources is what a data packet costs behind the mirror of a switch
// whose hosts all have paused, but not now.
func BenchmarkManySources(b *testing.B) {
	for _, n := range []int{1, 16, 64, 250} {
		f := newFeed(b, Options{})
		f.sources(n, 100)
		path := synth.Path{SrcMAC: macA, DstMAC: macB, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: 3, VID: 10}}}
		p := f.decoded(1, 0, 0, synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5}))
		b.Run(fmt.Sprintf("packet/%d", n), func(b *testing.B) {
			t := NewTraffic(f.tl)
			p.Time = t0 + 1000*ms1
			b.ReportAllocs()
			for b.Loop() {
				p.Time += 10
				t.Data(p, 5)
			}
		})
		b.Run(fmt.Sprintf("latency/%d", n), func(b *testing.B) {
			var sum int64
			for b.Loop() {
				sum += f.tl.Overlap(0, 3, t0+1000*ms1, t0+1001*ms1)
			}
			runtime.KeepAlive(sum)
		})
	}
}
