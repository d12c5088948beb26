package rc

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// TestResultDoesNotDisturb: looks in between change nothing.
func TestResultDoesNotDisturb(t *testing.T) {
	for _, x := range truths(t) {
		t.Run(x.File, func(t *testing.T) {
			c := load(t, &x)
			every := max(len(c.packets)/23, 1)
			for _, noCM := range []bool{false, true} {
				a, b := newFeeder(Options{}), newFeeder(Options{})
				a.noCM, b.noCM = noCM, noCM
				b.check = func(n int) {
					if n%every == 0 {
						b.s.Result()
					}
				}
				require.Equal(t, plain(a.run(c)), plain(b.run(c)))
				require.Equal(t, plain(b.s.Result()), plain(b.s.Result()), "the same twice")
			}
		})
	}
}

// TestOneWay: without the other direction nothing is said about loss.
func TestOneWay(t *testing.T) {
	c := loadCapture(t, filepath.Join(sharedDir(t), "captures", "rxe_write_loss1_before_cap.pcap.gz"))
	one := &capture{}
	for _, p := range c.packets {
		if p.Kind.IsRoCE() && p.RoCE.BTH.DestQP == 24 {
			one.packets = append(one.packets, p)
		}
	}
	res := newFeeder(Options{}).run(one)
	require.Len(t, res.Connections, 1)
	f := res.Connections[0].Flows[0]
	assert.Equal(t, Unpaired, res.Connections[0].Confidence)
	assert.EqualValues(t, 400, f.Messages)
	assert.Equal(t, Count{Reason: ReasonOneWay}, f.Unseen)
	assert.Equal(t, Count{Reason: ReasonOneWay}, f.LostUpstream)
	assert.Equal(t, Count{Reason: ReasonOneWay}, f.Episodes)
	assert.Nil(t, f.Latency[LatencyAck])
}

// TestOverflow: with a tiny ring the pair is found all the same, and what
// didn't fit is only not matched.
func TestOverflow(t *testing.T) {
	c := loadCapture(t, filepath.Join(sharedDir(t), "captures", "rxe_send_bw_64b.pcap.gz"))
	f := newFeeder(Options{MaxPending: 4})
	f.noCM = true
	for i := range c.packets {
		c.packets[i].SrcPort = uint16(50000 + i%2) // no help from ports
	}
	res := f.run(c)
	var messages, packets uint64
	for _, n := range res.Connections {
		for _, x := range n.Flows {
			if x != nil {
				messages, packets = messages+x.Messages, packets+x.Packets
			}
		}
	}
	assert.EqualValues(t, 1500, messages)
	assert.EqualValues(t, 3000, packets)
}

// TestReuse: the same queue pairs used again, without CM and with another PSN,
// after a silence.
func TestReuse(t *testing.T) {
	c := loadCapture(t, filepath.Join(sharedDir(t), "captures", "rxe_send_bw_4k.pcap.gz"))
	both := &capture{packets: append([]wire.Packet(nil), rebase(t, c, 900000, 0).packets...)}
	last := c.packets[len(c.packets)-1].Time - c.packets[0].Time
	for _, p := range rebase(t, c, 1000, 0).packets {
		p.Time += last + 20e6
		p.Number += int64(len(c.packets))
		both.packets = append(both.packets, p)
	}
	res := newFeeder(Options{}).run(both)
	require.Len(t, res.Connections, 2)
	for i, n := range res.Connections {
		assert.EqualValues(t, i, n.Incarnation)
		assert.EqualValues(t, 300, n.Flows[0].Messages)
		assert.EqualValues(t, 300, n.Flows[0].Latency[LatencyAck].Count)
		assert.Zero(t, n.Flows[0].Retransmitted)
	}
	assert.Equal(t, "reused", res.Connections[0].Closed.How)
	assert.EqualValues(t, 900000, res.Connections[0].Flows[0].FirstPSN)
	assert.EqualValues(t, 1000, res.Connections[1].Flows[0].FirstPSN)
}

// randomPackets feeds a shard with packets that no sender would send.
func randomPackets(s *Shard, r *rand.Rand, n int) {
	addr := [2]wire.Addr{wire.AddrV4(0x0a000001), wire.AddrV4(0x0a000002)}
	flows := 1 + r.IntN(6)
	for i := range flows {
		a := r.IntN(2)
		s.AddFlow(int32(i), FlowKey{0, wire.KindRoCEv2, addr[a], addr[1-a], uint32(10 + i)})
	}
	ops := []roce.Opcode{0, 1, 2, 4, 6, 7, 8, 0xa, 0xc, 0xd, 0xe, 0xf, 0x10, 0x11, 0x11, 0x11, 0x12, 0x13, 0x14, 0x1c, 0x1d, 0x24, 0x81, 0xa4, 0xff}
	base := roce.PSN(r.Uint32() & 0xffffff)
	span := []int{4, 64, 3000, 1 << 24}[r.IntN(4)]
	now := int64(1e9)
	p := &wire.Packet{Flags: wire.FlagBTH, Kind: wire.KindRoCEv2, IPVersion: 4, Data: make([]byte, 80), TransOff: 42}
	for i := range n {
		now += r.Int64N(1<<uint(r.IntN(28))) - 50
		h := &p.RoCE
		p.Number, p.Time = int64(i+1), now
		h.BTH.Opcode = ops[r.IntN(len(ops))]
		h.BTH.PSN = base.Add(int64(i/3%span) + r.Int64N(int64(span)))
		if r.IntN(3) > 0 {
			h.BTH.PSN = base.Add(int64(i / 2))
		}
		h.BTH.AckReq = r.IntN(2) == 0
		h.Present = h.BTH.Opcode.Info().Set
		if r.IntN(9) == 0 {
			h.Present = 1
		}
		h.PayloadLen = []int{0, 1, 256, 1024, 4096, 65536}[r.IntN(6)]
		h.RETH.DMALen = uint32(r.Uint64() >> uint(32+r.IntN(32)))
		h.AETH.Syndrome = []roce.Syndrome{0x1f, 0x1f, 0x60, 0x60, 0x2c, 0x61, 0xff, 0}[r.IntN(8)]
		h.AETH.MSN = roce.MSN(r.Uint32() & 0xffffff)
		p.IPID = uint16(i)
		if r.IntN(4) == 0 {
			p.IPID = uint16(r.Uint32())
		}
		p.SrcPort = uint16(50000 + r.IntN(2))
		p.TransLen = uint32(r.IntN(100))
		p.ICRC = roce.ICRCState(r.IntN(3))
		if p.ICRC == roce.ICRCBad && r.IntN(3) > 0 {
			p.ICRC = roce.ICRCOK
		}
		p.Print = Fingerprint(p)
		s.Packet(p, int32(r.IntN(flows)))
		if r.IntN(300) == 0 {
			id := int32(r.IntN(flows))
			s.Connection(id)
			s.Forget(id)
			a := r.IntN(2)
			s.AddFlow(id, FlowKey{0, wire.KindRoCEv2, addr[a], addr[1-a], uint32(10 + r.IntN(flows))})
		}
		if r.IntN(400) == 0 {
			s.CMConnect(CMConnect{A: addr[0], B: addr[1], QPNA: uint32(10 + r.IntN(6)), QPNB: uint32(10 + r.IntN(6)), MTU: 1024, Time: now})
			s.CMDisconnect(CMDisconnect{From: addr[0], To: addr[1], RemoteQPN: uint32(10 + r.IntN(6)), Time: now})
		}
	}
}

// bounded checks the caps of every ring.
func (s *Shard) bounded(t *testing.T) {
	for _, f := range s.flows {
		if f == nil {
			continue
		}
		if f.wait != nil {
			require.LessOrEqual(t, int(f.wait.events.n), s.opt.MaxPending)
			require.LessOrEqual(t, len(f.wait.cands), s.opt.MaxCandidates)
		}
		r := f.own
		if r == nil {
			continue
		}
		require.LessOrEqual(t, int(r.msgs.n), s.opt.MaxOutstanding)
		if q := r.rsp; q != nil {
			require.LessOrEqual(t, len(q.asked), maxAsked)
			require.LessOrEqual(t, len(q.missed), 2*maxHoles)
			require.LessOrEqual(t, len(q.late), int(r.msgs.n))
		}
		if r.t != nil {
			require.LessOrEqual(t, len(r.t.tap.preds), maxPredictions+1)
			require.LessOrEqual(t, len(r.t.win)-r.t.head, s.opt.SendWindow+1)
			require.LessOrEqual(t, len(r.t.holes), 2*maxHoles)
			require.LessOrEqual(t, len(r.t.open), maxOpenEpisodes)
			require.LessOrEqual(t, len(r.t.reported), s.opt.MaxRecoveries)
		}
	}
}

// TestHostile: nothing that arrives makes it panic or grow without bound.
func TestHostile(t *testing.T) {
	for seed := range uint64(300) {
		s := NewShard(Options{MaxPending: 32, MaxOutstanding: 64})
		randomPackets(s, rand.New(rand.NewPCG(seed, 1)), 3000)
		s.bounded(t)
		a := plain(s.Result())
		require.Equal(t, a, plain(s.Result()))
	}
}

func FuzzHostile(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint16(500))
	f.Fuzz(func(t *testing.T, a, b uint64, n uint16) {
		s := NewShard(Options{MaxPending: 16, MaxOutstanding: 32, SendWindow: 8})
		randomPackets(s, rand.New(rand.NewPCG(a, b)), int(n))
		s.bounded(t)
		s.Result()
	})
}
