package rc

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/pcaps/synth"
)

// spoken is a connection between two hosts, packet by packet.
type spoken struct {
	c  capture
	s  synth.Scenario
	cn *synth.Conn
}

func newSpoken() *spoken {
	x := &spoken{}
	x.cn = synth.NewConn(&x.s, synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2},
		Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: 0xc011},
		[2]uint32{0x11, 0x12}, [2]uint32{100, 900}, 1e18)
	for i := range x.cn.Flow {
		x.cn.Flow[i].MTU, x.cn.Flow[i].AutoID = 1024, true
	}
	x.cn.Connect(7471, nil)
	return x
}

func (x *spoken) requester(t *testing.T) *FlowFigures {
	for i := range x.s.Frames {
		f := &x.s.Frames[i]
		x.c.add(f.Data, f.Time, uint32(f.WireLen()), 0, 1)
	}
	for _, n := range newFeeder(Options{}).run(&x.c).Connections {
		for _, f := range n.Flows {
			if f != nil && f.Key.DestQP == 0x12 {
				return f
			}
		}
	}
	require.Fail(t, "no requester")
	return nil
}

// TestPSNReused: a PSN sent again as another operation, or a READ asked again
// with another end, breaks the rule; a plain resend doesn't.
func TestPSNReused(t *testing.T) {
	data := synth.Pattern(1, 3000)
	for _, x := range []struct {
		name          string
		first, second func(f *synth.Flow) synth.Packet
		broken        uint64
	}{
		{"the same READ", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) }, 0},
		{"the rest of a READ", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(101, 1024, 1, 1976) }, 0},
		{"a longer READ", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 9000) }, 1},
		{"an atomic for a READ", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.FetchAddRequest(100, 0, 1, 1) }, 1},
		{"a WRITE for a READ", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) }, 1},
		{"a READ for a WRITE", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) },
			func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 1024) }, 1},
		{"the same WRITE", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) },
			func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) }, 0},
		{"a READ of other memory", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(100, 4096, 1, 3000) }, 1},
		{"a READ with another key", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 2, 3000) }, 1},
		{"the rest of a READ from where it began", func(*synth.Flow) synth.Packet { return synth.Read(100, 0, 1, 3000) },
			func(*synth.Flow) synth.Packet { return synth.Read(101, 0, 1, 1976) }, 1},
		{"a WRITE elsewhere", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) },
			func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 8, 1, data, 0) }, 1},
		{"a WRITE of another length", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) },
			func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data[:2900], 0) }, 1},
		{"a WRITE with other data", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data, 0) },
			func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, synth.Pattern(2, 3000), 0) }, 1},
		{"a SEND for a WRITE", func(f *synth.Flow) synth.Packet { return f.WritePacket(100, 0, 1, data[:9], 0) },
			func(f *synth.Flow) synth.Packet { return f.SendPacket(100, data[:9], 0) }, 1},
		{"the same atomic", func(*synth.Flow) synth.Packet { return synth.FetchAddRequest(100, 0, 1, 1) },
			func(*synth.Flow) synth.Packet { return synth.FetchAddRequest(100, 0, 1, 1) }, 0},
		{"an atomic with another operand", func(*synth.Flow) synth.Packet { return synth.FetchAddRequest(100, 0, 1, 1) },
			func(*synth.Flow) synth.Packet { return synth.FetchAddRequest(100, 0, 1, 2) }, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newSpoken()
			f := &s.cn.Flow[synth.SideA]
			s.cn.Emit(synth.SideA, x.first(f), 1000)
			s.cn.Emit(synth.SideA, x.second(f), 5_000_000)
			var n uint64
			for _, v := range s.requester(t).Violations {
				require.Equal(t, RulePSNReused, v.Rule, v.Rule.String())
				n += v.Count
			}
			assert.Equal(t, x.broken, n)
		})
	}
}

// TestLivelockByGoodput: ten packets and more in a second of which less than a
// tenth is new.
func TestLivelockByGoodput(t *testing.T) {
	for _, x := range []struct {
		name    string
		packets int // a second
		fresh   int // every so many
		want    bool
	}{
		{"one of twenty", 400, 20, true},
		{"one of five", 400, 5, false},
		{"all again", 50, 1 << 30, true},
		{"a retry now and then", 4, 1 << 30, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			var w sendRate
			found := false
			psn := roce.PSN(1<<24 - 5)
			for i := range 4 * x.packets {
				s := sent{time: int64(i) * 1e9 / int64(x.packets), psn: psn, end: psn.Add(1)}
				found = w.add(&s, i%x.fresh == x.fresh-1) || found
				psn = psn.Add(1)
			}
			assert.Equal(t, x.want, found)
		})
	}
}
