package pause

import (
	"net/netip"
	"testing"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

const (
	t0       = int64(1_767_225_600_000_000_000)
	us1, ms1 = 1000, 1_000_000
)

// feed drives a time line and two Traffics with synthetic frames.
type feed struct {
	t      testing.TB
	tl     *Timeline
	ports  Ports // the user's port map
	parts  []*Traffic
	dec    *wire.Decoder
	number int64
	last   int64
}

func newFeed(t testing.TB, o Options) *feed {
	tl := NewTimeline(o)
	return &feed{t: t, tl: tl, parts: []*Traffic{NewTraffic(tl), NewTraffic(tl)}, dec: wire.NewDecoder(wire.Config{SkipICRC: true})}
}

func (f *feed) decoded(at int64, iface uint16, dir wire.Dir, b []byte) *wire.Packet {
	f.number++
	f.last = max(f.last, t0+at)
	p := &wire.Packet{Number: f.number, Time: t0 + at, Data: b, Wire: uint32(len(b)), Iface: iface, Link: 1, Dir: dir}
	f.dec.Decode(p)
	return p
}

func (f *feed) frame(at int64, iface uint16, b []byte) { f.tl.Frame(f.decoded(at, iface, 0, b)) }

var (
	macA, macB, macC = synth.MAC{2, 0, 0, 0, 0, 1}, synth.MAC{2, 0, 0, 0, 0, 2}, synth.MAC{2, 0, 0, 0, 0, 3}
	ipA, ipB         = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
)

// pfc pauses (or with 0 quanta releases) priority 3 on behalf of mac.
func (f *feed) pfc(at int64, iface uint16, mac synth.MAC, quanta uint16) {
	f.frame(at, iface, synth.AppendPFCPriority(nil, mac, 3, quanta))
}

// data sends a packet of a priority, tagged, from one MAC to another.
func (f *feed) data(at int64, iface uint16, from, to synth.MAC, priority uint8, flow int32) {
	path := synth.Path{SrcMAC: from, DstMAC: to, Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: priority, VID: 10}}}
	p := synth.Packet{Opcode: synth.WriteOnly, DestQP: 5, PSN: uint32(f.number)}
	f.parts[uint32(flow)%2].Data(f.decoded(at, iface, 0, synth.AppendRoCEv2(nil, &path, &p)), flow)
}

// end gives the results of a capture from t0 to the time at.
func (f *feed) end(at int64) (TimelineResult, Result) {
	tl := f.tl.Result(t0, t0+at)
	return tl, Merge(tl, []TrafficResult{f.parts[0].Result(t0 + at), f.parts[1].Result(t0 + at)}, f.ports)
}

// hold keeps priority 3 paused from…to at 10G, with a refresh each millisecond
// and an XON at the end.
func (f *feed) hold(from, to int64, iface uint16, mac synth.MAC) {
	for t := from; t < to; t += ms1 {
		f.pfc(t, iface, mac, 0xffff)
	}
	f.pfc(to, iface, mac, 0)
}
