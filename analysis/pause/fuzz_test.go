package pause

import (
	"encoding/binary"
	"testing"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// FuzzTimeline: any frames at any times leave intervals in order, without
// overlap, whose sum is the paused time.
func FuzzTimeline(f *testing.F) {
	f.Add([]byte{0, 0, 0xff, 0xff, 1, 0, 0, 0}, uint32(100_000))
	f.Add(synth.AppendPFCPriority(nil, macA, 3, 100), uint32(10_000))
	f.Fuzz(func(t *testing.T, script []byte, mbps uint32) {
		fd := newFeed(t, Options{LinkSpeedBps: uint64(mbps) * 1e6, WindowNS: 1000, MaxRows: 2 + int(mbps%4), RowIdleNS: 20_000, MaxQuiet: 2})
		var at int64
		for ; len(script) >= 4; script = script[4:] {
			at += int64(int16(binary.LittleEndian.Uint16(script))) * 1000 // also backwards
			q := binary.LittleEndian.Uint16(script[2:])
			switch q & 3 {
			case 0:
				fd.pfc(at, 0, macA, q>>8)
			case 1:
				fd.pfc(at, uint16(q>>2&1), macB, q)
			case 2:
				flow := int32(q >> 2 & 3)
				if q>>4&3 == 3 {
					fd.parts[flow%2].ForgetAs(flow, -1-int32(q>>6&1))
					continue
				}
				fd.data(at, 0, macB, macA, 3, flow)
			default:
				fd.frame(at, 0, synth.AppendPause(nil, macA, q))
			}
		}
		tl, r := fd.end(max(at, 0))
		for _, s := range r.Sources {
			var sum int64
			l := tl.Intervals(s.Key)
			for i, v := range l {
				if v.End < v.Start || i > 0 && v.Start < l[i-1].End-1 {
					t.Fatalf("interval %d: %v after %v", i, v, l[max(i-1, 0)])
				}
				sum += v.End - v.Start
			}
			if d := sum - s.PausedNS; d > int64(len(l)) || -d > int64(len(l)) {
				t.Fatalf("intervals sum to %d, paused_ns is %d", sum, s.PausedNS)
			}
		}
	})
}

// FuzzFrame: a frame of any bytes is taken or passed over, never more.
func FuzzFrame(f *testing.F) {
	f.Add(synth.AppendPFC(nil, macA, 0xffff, [8]uint16{1, 2, 3}), uint16(60))
	f.Add(synth.AppendPause(nil, macA, 5), uint16(17))
	f.Fuzz(func(t *testing.T, b []byte, onWire uint16) {
		fd := newFeed(t, Options{})
		p := &wire.Packet{Number: 1, Time: t0, Data: b, Wire: max(uint32(onWire), uint32(len(b))), Link: 1}
		fd.dec.Decode(p)
		fd.tl.Frame(p)
		fd.parts[0].Data(p, -1)
		fd.last = t0
		fd.end(1000)
	})
}
