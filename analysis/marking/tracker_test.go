package marking

import (
	"math/rand"
	"net/netip"
	"sort"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/sketch"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

const (
	us = int64(1000)
	ms = int64(1_000_000)
	t0 = int64(1_767_225_600_000_000_000)
)

// feed drives a tracker with synthetic packets.
type feed struct {
	tr     *Tracker
	dec    *wire.Decoder
	number int64
	last   int64
}

func newFeed(o Options) *feed {
	return &feed{tr: New(o), dec: wire.NewDecoder(wire.Config{})}
}

// host returns the path between two hosts, and the way back.
func host(a, b byte, tos uint8) (there, back synth.Path) {
	there = synth.Path{SrcMAC: synth.MAC{2, a}, DstMAC: synth.MAC{2, b}, Src: netip.AddrFrom4([4]byte{10, 0, 0, a}),
		Dst: netip.AddrFrom4([4]byte{10, 0, 0, b}), SrcPort: 50000, TOS: tos}
	return there, there.Reverse()
}

func (f *feed) decoded(at int64, b []byte) *wire.Packet {
	f.number++
	f.last = t0 + at
	p := &wire.Packet{Number: f.number, Time: t0 + at, Data: b, Wire: uint32(len(b)), Link: 1}
	f.dec.Decode(p)
	return p
}

func (f *feed) send(at int64, id int32, path synth.Path, p synth.Packet) {
	f.tr.Packet(f.decoded(at, synth.AppendRoCEv2(nil, &path, &p)), id)
}

const (
	tosECT = 26<<2 | 2
	tosCE  = 26<<2 | 3
	tosCNP = 48 << 2
)

func (f *feed) data(at int64, id int32, path synth.Path, tos uint8) {
	path.TOS = tos
	f.send(at, id, path, synth.Packet{Opcode: synth.WriteOnly, DestQP: uint32(id), Payload: make([]byte, 1000)})
}

func (f *feed) cnp(at int64, id int32, path synth.Path) {
	path.TOS = tosCNP
	f.send(at, id, path, synth.Packet{Opcode: synth.CongestionNotif, DestQP: uint32(id), BECN: true})
}

// xor1 pairs flows 0 and 1, 2 and 3, …: even ones carry data.
func xor1(id int32) int32 { return id ^ 1 }

func TestKinds(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 26<<2)
	for i, c := range []struct {
		op   uint8
		path synth.Path
		want Kind
	}{
		{synth.SendFirst, there, KindData}, {synth.UD | synth.SendOnly, there, KindData}, {synth.ReadRequest, there, KindRequest},
		{synth.FetchAdd, there, KindRequest}, {synth.CompareSwap, there, KindRequest}, {synth.Acknowledge, back, KindAck},
		{synth.AtomicAck, back, KindAck}, {synth.ReadRespMiddle, back, KindReadResponse}, {synth.CongestionNotif, back, KindCNP},
	} {
		f.send(int64(i), int32(i), c.path, synth.Packet{Opcode: c.op})
		got := f.tr.Result(f.last, nil).Flow(int32(i))
		require.Len(t, got.Markings, 1)
		require.Equal(t, Marking{Kind: c.want, DSCP: 26, Packets: 1, FirstPacket: int64(i + 1)}, got.Markings[0])
	}
}

// TestMarkings: combinations are told apart, also beyond those that lie inline;
// what is beyond all bounds is still counted.
func TestMarkings(t *testing.T) {
	f := newFeed(Options{})
	there, _ := host(1, 2, 0)
	n := int64(0)
	for dscp := range 64 {
		for range dscp + 1 {
			there.TOS = uint8(dscp<<2 | 1)
			there.VLANs = []synth.VLAN{{PCP: uint8(dscp & 7), VID: uint16(100 + dscp)}}
			f.send(n, 0, there, synth.Packet{Opcode: synth.WriteOnly})
			n++
		}
	}
	there.VLANs = nil
	for range 5 {
		f.send(n, 0, there, synth.Packet{Opcode: synth.ReadRequest})
		n++
	}
	r := f.tr.Result(f.last, nil).Flow(0)
	require.Len(t, r.Markings, inline+maxMore)
	require.EqualValues(t, 5, r.Other)
	require.Equal(t, n, r.Packets)
	require.Equal(t, Marking{KindData, 63, 1, true, 7, 163, 64, 64*63/2 + 1}, r.Markings[0])
	require.Equal(t, n-5, r.ECNCapable)
}

func TestStateSize(t *testing.T) {
	require.Equal(t, uintptr(64), unsafe.Sizeof(flow{}), "one cache line")
}

// TestBadICRC: a corrupted packet's marks count for nothing.
func TestBadICRC(t *testing.T) {
	f := newFeed(Options{})
	there, _ := host(1, 2, tosCE)
	b := synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly})
	b[len(b)-1] ^= 1
	f.tr.AddFlow(0)
	f.tr.Packet(f.decoded(0, b), 0)
	require.Zero(t, f.tr.Result(f.last, nil).Flow(0).Packets)
}

// TestCEAnswered: which marks and CNPs belong together, and which don't.
func TestCEAnswered(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	f.data(0, 0, there, tosECT)
	f.data(10*us, 0, there, tosCE)
	f.data(20*us, 0, there, tosCE)
	f.cnp(23*us, 1, back) // answers both, 3 µs after the newest
	f.cnp(80*us, 1, back) // again, with no new mark
	f.data(100*us, 0, there, tosCE)
	f.cnp(100*us+ms, 1, back) // just in time
	f.data(3*ms, 0, there, tosCE)
	f.cnp(4*ms+1, 1, back) // a nanosecond too late: a mark and a CNP on their own
	f.data(9*ms, 0, there, tosCE)
	r := f.tr.Result(t0+10*ms, xor1)
	d := r.Flow(0)
	require.EqualValues(t, 5, d.CE)
	require.EqualValues(t, 1, d.CEUnanswered, "the last one's time isn't over")
	require.Equal(t, []int64{4, 2, 1, 1, 0}, []int64{d.Throttle.CNPs, d.Throttle.Answered, d.Throttle.Repeated, d.Throttle.Causeless, d.Throttle.SlowStart})
	require.Equal(t, &sketch.Summary{Count: 2, Min: 3 * us, P50: 3 * us, P90: ms, P99: ms, P999: ms, Max: ms, MeanDown: (ms + 3*us) / 2}, d.Throttle.CEToCNP)
	require.EqualValues(t, 2, f.tr.Result(t0+10*ms+1, xor1).Flow(0).CEUnanswered)
	require.Equal(t, t0+10*us, d.FirstCETime)
	require.EqualValues(t, 2, d.FirstCEPacket)
	require.Equal(t, []int64{4, 3, 57 * us}, []int64{r.Flow(1).CNPs, r.Flow(1).CNPGap.Count, r.Flow(1).CNPGap.MinNS})
}

// TestAckCE: a mark on an ACK asks for no CNP.
func TestAckCE(t *testing.T) {
	f := newFeed(Options{})
	_, back := host(1, 2, tosCE)
	f.send(0, 1, back, synth.Packet{Opcode: synth.Acknowledge})
	r := f.tr.Result(t0+10*ms, xor1).Flow(1)
	require.Equal(t, []int64{1, 0, 0}, []int64{r.CE, r.DataCE, r.CEUnanswered})
}

// TestSlowRestart: a CNP without a mark, soon after a NAK.
func TestSlowRestart(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	f.data(0, 0, there, tosECT)
	f.cnp(us, 1, back)
	f.send(2*us, 1, back, synth.Packet{Opcode: synth.Acknowledge, Syndrome: synth.NAKSequence})
	f.cnp(3*us, 1, back)
	f.send(4*us, 1, back, synth.Packet{Opcode: synth.Acknowledge, Syndrome: synth.SyndromeACK})
	f.cnp(5*us+ms, 1, back)
	th := f.tr.Result(f.last, xor1).Flow(0).Throttle
	require.Equal(t, []int64{3, 1}, []int64{th.Causeless, th.SlowStart})
}

// TestPeers: CNPs count for the true peer only, whether it is told early or at
// the end; marks that other flows' CNPs followed are unanswered.
func TestPeers(t *testing.T) {
	for _, early := range []bool{false, true} {
		f := newFeed(Options{})
		there, back := host(1, 2, 0)
		if early {
			f.tr.SetPeer(0, 1)
			f.tr.SetPeer(2, 3)
		}
		for i := range int64(20) {
			f.data(i*100*us, 0, there, tosCE)
			f.data(i*100*us, 2, there, tosCE)
			f.cnp(i*100*us+5*us, 1, back)
		}
		r := f.tr.Result(t0+100*ms, xor1)
		require.EqualValues(t, 20, r.Flow(0).Throttle.Answered)
		require.Nil(t, r.Flow(2).Throttle)
		require.EqualValues(t, 0, r.Flow(0).CEUnanswered)
		require.EqualValues(t, 20, r.Flow(2).CEUnanswered, "early=%t", early)
		links := 2
		if early {
			links = 1
		}
		require.Equal(t, links, f.tr.links)
	}
}

// TestExclusion: a flow whose peer is known isn't meant by another's CNPs.
func TestExclusion(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	f.tr.SetPeer(0, 1)
	f.data(0, 0, there, tosCE)
	f.data(0, 2, there, tosCE)
	f.cnp(us, 3, back)
	require.Empty(t, f.tr.congs[f.tr.flows.At(0).cong-1].links)
	require.Len(t, f.tr.congs[f.tr.flows.At(2).cong-1].links, 1)
	f.cnp(us, 5, back)
	require.Len(t, f.tr.congs[f.tr.flows.At(2).cong-1].links, 2)
	require.Zero(t, f.tr.Result(f.last, nil).Unconnected)
}

// TestUntold: of flows beyond those that a CNP is held against, the number of
// their peers' CNPs is known, and that nothing else is. Where the peer is told
// first they are as any other.
func TestUntold(t *testing.T) {
	for _, early := range []bool{false, true} {
		f := newFeed(Options{PairFlows: 2})
		there, back := host(1, 2, 0)
		for id := int32(0); id < 8; id += 2 {
			tos := uint8(tosCE)
			if id == 6 {
				tos = tosECT // no mark: no state of congestion
			}
			f.data(int64(id), id, there, tos)
			if early {
				f.tr.SetPeer(id, id+1)
			}
		}
		for id := int32(1); id < 8; id += 2 {
			f.cnp(us+int64(id), id, back)
			f.cnp(2*us+int64(id), id, back)
		}
		r := f.tr.Result(t0+10*ms, xor1)
		for id := int32(0); id < 8; id += 2 {
			fl := r.Flow(id)
			require.NotNil(t, fl.Throttle)
			require.EqualValues(t, 2, fl.Throttle.CNPs)
			require.Equal(t, !early && id >= 4, fl.Throttle.Untold, id)
			require.Zero(t, fl.CEUnanswered)
			require.Equal(t, fl, f.tr.Flow(id, id+1, t0+10*ms))
		}
	}
}

// TestCNPFormat: each fault is counted; the PSN is information only.
func TestCNPFormat(t *testing.T) {
	for _, c := range []struct {
		name      string
		p         synth.Packet
		reserved  byte
		faults    [FaultCount]int64
		malformed int64
	}{
		{"good", synth.Packet{BECN: true}, 0, [FaultCount]int64{}, 0},
		{"migreq is nobody's business", synth.Packet{BECN: true, MigReq: true}, 0, [FaultCount]int64{}, 0},
		{"no BECN", synth.Packet{}, 0, [FaultCount]int64{FaultBECN: 1}, 1},
		{"reserved", synth.Packet{BECN: true}, 7, [FaultCount]int64{FaultReserved: 1}, 1},
		{"payload", synth.Packet{BECN: true, Payload: []byte{1, 2, 3, 4}}, 0, [FaultCount]int64{FaultPad: 1}, 1},
		{"pad", synth.Packet{BECN: true, Payload: []byte{1, 2, 3}}, 0, [FaultCount]int64{FaultPad: 1}, 1},
		{"AckReq", synth.Packet{BECN: true, AckReq: true}, 0, [FaultCount]int64{FaultAckReq: 1}, 1},
		{"PSN", synth.Packet{BECN: true, PSN: 9}, 0, [FaultCount]int64{FaultPSN: 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &feed{tr: New(Options{}), dec: wire.NewDecoder(wire.Config{SkipICRC: true})}
			_, back := host(1, 2, tosCNP)
			c.p.Opcode = synth.CongestionNotif
			b := synth.AppendRoCEv2(nil, &back, &c.p)
			b[14+20+8+12+3] = c.reserved
			f.tr.Packet(f.decoded(0, b), 0)
			r := f.tr.Result(f.last, nil).Flow(0)
			assert.Equal(t, c.faults, r.CNPFaults)
			assert.Equal(t, c.malformed, r.MalformedCNPs)
			assert.EqualValues(t, 1, r.CNPs)
		})
	}
}

// TestDeaf: one sender halves its rate for 50 µs after each CNP, one for 15 µs
// only, one not at all.
func TestDeaf(t *testing.T) {
	for _, c := range []struct {
		name  string
		slow  int64 // time at half rate after a CNP
		every int64 // between CNPs
		deaf  bool
		least int64 // per mille cut at least
	}{
		{"cuts", 75 * us, 200 * us, false, 400},
		{"cuts for a moment", 15 * us, 200 * us, false, -1000},
		{"deaf", 0, 200 * us, true, -1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFeed(Options{})
			there, back := host(1, 2, 0)
			next, last := c.every, int64(-1e9)
			rnd := rand.New(rand.NewSource(5))
			for at := int64(0); at < 20*c.every; {
				f.data(at, 0, there, tosCE)
				if at >= next {
					f.cnp(at+rnd.Int63n(us), 1, back) // in no step with the packets
					next += c.every
					last = at
				}
				gap := us
				if at-last < c.slow {
					gap = 2 * us
				}
				at += gap
			}
			th := f.tr.Result(f.last, xor1).Flow(0).Throttle
			assert.GreaterOrEqual(t, th.RateSamples, int64(18))
			assert.Equal(t, c.deaf, th.Deaf, "%+v", th)
			assert.GreaterOrEqual(t, th.MedianCutPermille, c.least)
			if c.deaf {
				assert.InDelta(t, 0, th.MedianCutPermille, 30)
			}
		})
	}
}

// TestScope: receivers that pace at 4 and 50 µs, by queue pair, by pair of
// hosts, by port. Marks come at random in all flows; a CNP goes out when the
// scope's time is over.
func TestScope(t *testing.T) {
	for _, interval := range []int64{4 * us, 50 * us} {
		for _, scope := range []Scope{ScopeQP, ScopePair, ScopePort} {
			t.Run(scope.String(), func(t *testing.T) {
				rnd := rand.New(rand.NewSource(3))
				type mark struct {
					at     int64
					id     int32
					sender byte
				}
				var marks []mark
				for id := int32(0); id < 12; id += 2 { // six flows from two senders to host 9
					for range 2000 {
						marks = append(marks, mark{rnd.Int63n(2000 * interval), id, byte(1 + id/6)})
					}
				}
				sort.Slice(marks, func(i, j int) bool { return marks[i].at < marks[j].at })
				// Two trackers, as two shards would have one host pair each.
				fs := []*feed{newFeed(Options{}), newFeed(Options{})}
				last := map[[2]int32]int64{}
				for _, m := range marks {
					there, back := host(m.sender, 9, 0)
					f := fs[m.sender-1]
					f.data(m.at, m.id, there, tosCE)
					k := [2]int32{}
					switch scope {
					case ScopeQP:
						k = [2]int32{int32(m.sender), m.id}
					case ScopePair:
						k = [2]int32{int32(m.sender), -1}
					}
					if t, ok := last[k]; ok && m.at-t < interval {
						continue
					}
					last[k] = m.at
					f.cnp(m.at, m.id+1, back)
				}
				a, b := fs[0].tr.Result(t0, xor1), fs[1].tr.Result(t0, xor1)
				p := Pacings(a, b)
				require.Len(t, p, 1)
				assert.Equal(t, scope, p[0].Scope)
				assert.GreaterOrEqual(t, p[0].IntervalNS, interval)
				assert.Less(t, p[0].IntervalNS, interval*11/10)
				assert.Equal(t, p, Pacings(b, a), "in whatever order the shards come")
			})
		}
	}
}

// TestBounds: many flows of one pair, many CNPs.
func TestBounds(t *testing.T) {
	f := newFeed(Options{PairFlows: 8, Links: 20})
	there, back := host(1, 2, 0)
	for id := int32(0); id < 200; id += 2 {
		f.data(int64(id), id, there, tosCE)
	}
	for id := int32(1); id < 200; id += 2 {
		f.cnp(1000+int64(id), id, back)
	}
	r := f.tr.Result(f.last, xor1)
	require.Equal(t, 20, f.tr.links)
	require.EqualValues(t, 2, f.tr.usedPairs)
	require.Len(t, f.tr.pairs.At(0).flows, 8)
	require.EqualValues(t, 100*8-20, r.LinksRefused)
	require.Equal(t, 200, r.Len())
	for i := range 5000 {
		f.cnp(2000+int64(i), 1, back)
	}
	require.Len(t, f.tr.pairs.At(1).cnps.events, maxLog)
	require.Equal(t, f.tr.Result(f.last, xor1), f.tr.Result(f.last, xor1), "a result disturbs nothing")
}

// TestAllocations: none per packet, congested or not.
func TestAllocations(t *testing.T) {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	for i := range int64(1000) { // fill the samples
		f.data(i*200*us, 0, there, tosCE)
		f.cnp(i*200*us+us, 1, back)
	}
	there.TOS, back.TOS = tosCE, tosCNP
	d := f.decoded(300*ms, synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly}))
	c := f.decoded(300*ms, synth.AppendRoCEv2(nil, &back, &synth.Packet{Opcode: synth.CongestionNotif, BECN: true}))
	require.Equal(t, roce.OpcodeCNP, c.RoCE.BTH.Opcode)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		d.Time += 100 * us
		c.Time = d.Time + us
		f.tr.Packet(d, 0)
		f.tr.Packet(c, 1)
	}))
}

// FuzzPacket: no bytes and times break the counting.
func FuzzPacket(f *testing.F) {
	there, back := host(1, 2, tosCE)
	f.Add(synth.AppendRoCEv2(nil, &there, &synth.Packet{Opcode: synth.WriteOnly}), synth.AppendRoCEv2(nil, &back, &synth.Packet{Opcode: synth.CongestionNotif}), int64(1000), uint8(0))
	f.Fuzz(func(t *testing.T, x, y []byte, step int64, cut uint8) {
		fd := &feed{tr: New(Options{Links: 2}), dec: wire.NewDecoder(wire.Config{SkipICRC: true})}
		step %= 1 << 40
		taken := int64(0)
		for i := range int64(8) {
			for id, b := range [][]byte{x, y} {
				b = b[:max(0, len(b)-int(cut))]
				p := fd.decoded(i*step, b)
				if p.Kind.IsRoCE() && p.Has(wire.FlagBTH) {
					fd.tr.Packet(p, int32(id))
					taken++
				}
			}
		}
		r := fd.tr.Result(fd.last, xor1)
		var sum int64
		for i := range int32(r.Len()) {
			sum += r.Flow(i).Packets
			if r.Flow(i).CEUnanswered > r.Flow(int32(i)).DataCE || r.Flow(int32(i)).CE > r.Flow(int32(i)).ECNCapable {
				t.Fatalf("%+v", r.Flow(i))
			}
		}
		if sum != taken {
			t.Fatalf("%d of %d packets counted", sum, taken)
		}
	})
}
