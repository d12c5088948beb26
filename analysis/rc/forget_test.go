package rc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// TestConnection: one connection's figures are those of the whole result, in
// the middle and at the end.
func TestConnection(t *testing.T) {
	for _, x := range truths(t) {
		t.Run(x.File, func(t *testing.T) {
			c := load(t, &x)
			f := newFeeder(Options{})
			f.noCM = len(c.packets)%2 == 0
			check := func() {
				res := f.s.Result()
				closed := len(f.s.closed)
				found := map[string]int{}
				for i := range res.Connections {
					found[fmt.Sprint(plain(&Result{Connections: res.Connections[i : i+1]}))]++
				}
				seen := map[string]bool{}
				for id := range int32(len(f.s.flows)) {
					if c, ok := f.s.Connection(id); ok {
						text := fmt.Sprint(plain(&Result{Connections: []Connection{c}}))
						require.NotZero(t, found[text], "flow %d: %s", id, text)
						seen[text] = true
					}
				}
				require.GreaterOrEqual(t, len(seen)+closed, len(found))
			}
			f.check = func(n int) {
				if n == len(c.packets)/2 {
					check()
				}
			}
			f.run(c)
			check()
			f.s.Finish()
			check()
		})
	}
}

// visitor is one connection of WRITEs of three packets, each acknowledged.
type visitor struct {
	id   int32 // of the requester's flow; id+1 answers it
	key  [2]FlowKey
	psn  roce.PSN
	msn  roce.MSN
	ipid [2]uint16
}

func newVisitor(n int, id int32) visitor {
	a, b := wire.AddrV4(uint32(0x0a000000+n%50)), wire.AddrV4(uint32(0x0b000000+n%50))
	v := visitor{id: id, psn: roce.PSN(n*7919) & 0xffffff, ipid: [2]uint16{uint16(n), uint16(n * 3)}}
	v.key[0] = FlowKey{0, wire.KindRoCEv2, a, b, uint32(0x1000+n) & 0xffffff}
	v.key[1] = FlowKey{0, wire.KindRoCEv2, b, a, uint32(0x2000+n) & 0xffffff}
	return v
}

// message sends one message and its ACK; late resends its last packet once.
func (v *visitor) message(s *Shard, p *wire.Packet, late bool) {
	steps := []roce.Opcode{roce.OpcodeRCWriteFirst, roce.OpcodeRCWriteMiddle, roce.OpcodeRCWriteLast}
	for i, op := range steps {
		v.send(s, p, op, v.psn.Add(int64(i)))
	}
	if late {
		p.Time += 5e6
		v.send(s, p, steps[2], v.psn.Add(2))
	}
	v.psn = v.psn.Add(3)
	v.msn = (v.msn + 1) & 0xffffff
	v.send(s, p, roce.OpcodeRCAcknowledge, v.psn.Add(-1))
}

func (v *visitor) send(s *Shard, p *wire.Packet, op roce.Opcode, psn roce.PSN) {
	h := &p.RoCE
	dir := 0
	h.BTH.Opcode, h.BTH.PSN, h.PayloadLen, h.RETH.DMALen = op, psn, 1024, 3072
	if op == roce.OpcodeRCAcknowledge {
		dir = 1
		h.PayloadLen, h.AETH.Syndrome, h.AETH.MSN = 0, 0x1f, v.msn
	}
	h.Present = op.Info().Set
	v.ipid[dir]++
	p.IPID = v.ipid[dir]
	p.SrcPort = 0xc000 | uint16(v.key[0].DestQP*31)&0x3fff
	p.Number++
	p.Time += 1000
	p.Print = Fingerprint(p)
	s.Packet(p, v.id+int32(dir))
}

func blankPacket() *wire.Packet {
	return &wire.Packet{Time: 1e9, Flags: wire.FlagBTH, Kind: wire.KindRoCEv2, IPVersion: 4, Data: make([]byte, 80), TransOff: 42, TransLen: 1052}
}

// TestForget: connections that come and go leave nothing behind, and those that
// stay are told as if they had been alone.
func TestForget(t *testing.T) {
	const alive, stay = 500, 5 // connections at a time, of them to the end
	total := 50_000
	if os.Getenv("RDMASCOPE_SEEDS") != "" {
		total = 500_000 // a million flows
	}
	run := func(others bool) (*Shard, *Result, []uint64) {
		s := NewShard(Options{})
		p := blankPacket()
		r := rand.New(rand.NewPCG(3, 3))
		at := make([]visitor, alive)
		arrive := func(i, n int) {
			at[i] = newVisitor(n, int32(2*i))
			s.AddFlow(int32(2*i), at[i].key[0])
			s.AddFlow(int32(2*i+1), at[i].key[1])
			if n%2 == 1 {
				k := at[i].key[0]
				s.CMConnect(CMConnect{A: k.Src, B: k.Dst, QPNA: at[i].key[1].DestQP, QPNB: k.DestQP, PSNA: uint32(at[i].psn), MTU: 1024, Time: p.Time, Number: p.Number + 1})
			}
		}
		var heap []uint64
		for i := range stay {
			arrive(i, i)
			for range 10 {
				at[i].message(s, p, false)
			}
		}
		for n := stay; n < total; n++ {
			i := stay + n%(alive-stay)
			num, now := p.Number, p.Time
			if others {
				if n >= alive {
					id := at[i].id
					if r.IntN(2) == 0 {
						id++
					}
					peer := s.Peer(id)
					require.True(t, peer < 0 || peer == id^1)
					if n%5 == 0 {
						_, ok := s.Connection(id)
						require.True(t, ok)
					}
					if r.IntN(4) == 0 {
						s.CMDisconnect(CMDisconnect{From: at[i].key[0].Src, To: at[i].key[0].Dst, RemoteQPN: at[i].key[0].DestQP, Time: now, Number: num})
					}
					s.Forget(id)
					s.Forget(id ^ 1)
				}
				arrive(i, n)
				for range 1 + r.IntN(2) {
					at[i].message(s, p, n%17 == 0)
				}
			}
			p.Number, p.Time = num+12, now+20_000_000 // whoever was there
			if n%100 == 0 {
				k := n / 100 % stay
				at[k].message(s, p, n%1000 == 0)
				p.Number, p.Time = num+20, now+40_000_000
			}
			if n%(total/4) == total/4-1 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap = append(heap, m.HeapAlloc)
			}
		}
		s.bounded(t)
		return s, s.Result(), heap
	}
	alone, want, _ := run(false)
	s, got, heap := run(true)
	for id := range int32(2 * stay) {
		a, okA := alone.Connection(id)
		b, okB := s.Connection(id)
		require.True(t, okA && okB)
		assert.Equal(t, plain(&Result{Connections: []Connection{a}}), plain(&Result{Connections: []Connection{b}}))
	}
	require.Len(t, want.Connections, stay)
	require.Len(t, got.Connections, alive)
	assert.Less(t, heap[3], heap[1]+heap[1]/10, "memory grows: %v", heap)
	for id := range int32(2 * alive) {
		s.Forget(id)
	}
	assert.Empty(t, s.groups)
	assert.Zero(t, s.byKey.n)
	assert.Zero(t, s.events.used)
	assert.Empty(t, s.Result().Connections)
	assert.LessOrEqual(t, len(s.cms.by), 2*s.opt.MaxConnects)
}

// TestForgetHalf: what is left of a pair is followed on its own.
func TestForgetHalf(t *testing.T) {
	s := NewShard(Options{})
	v := newVisitor(1, 0)
	s.AddFlow(0, v.key[0])
	s.AddFlow(1, v.key[1])
	p := blankPacket()
	for range 20 {
		v.message(s, p, false)
	}
	require.EqualValues(t, 1, s.Peer(0))
	s.Forget(1)
	require.EqualValues(t, -1, s.Peer(0))
	require.EqualValues(t, -1, s.Peer(1))
	for i, op := range writeOps {
		v.send(s, p, op, v.psn.Add(int64(i)))
	}
	c, ok := s.Connection(0)
	require.True(t, ok)
	assert.Nil(t, c.Flows[1])
	assert.EqualValues(t, 21, c.Flows[0].Messages)
	assert.Equal(t, Unpaired, c.Confidence)
	s.Forget(0)
	s.Forget(0)
	s.AddFlow(1, v.key[0]) // another id for the same key, in any order
	s.AddFlow(0, v.key[1])
	v.id = 1
	v.send(s, p, roce.OpcodeRCWriteOnly, v.psn)
	require.EqualValues(t, 1, s.Result().Connections[0].Flows[0].Packets)
}

// TestFlowIndex compares the table with a map.
func TestFlowIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var x flowIndex
	flows := make([]*flow, 600)
	want := map[cmKey]int32{}
	for range 100_000 {
		id := int32(r.IntN(len(flows)))
		if f := flows[id]; f != nil {
			x.remove(flows, f)
			delete(want, f.cmKey())
			flows[id] = nil
			continue
		}
		f := &flow{id: id, qpn: uint32(r.IntN(1000)), src: wire.AddrV4(uint32(r.IntN(3))), dst: wire.AddrV4(7)}
		if _, there := want[f.cmKey()]; there {
			continue
		}
		flows[id] = f
		x.add(flows, f)
		want[f.cmKey()] = id
		k := cmKey{0, wire.AddrV4(uint32(r.IntN(3))), wire.AddrV4(7), uint32(r.IntN(1000))}
		got := x.find(flows, k)
		if id, there := want[k]; there {
			require.NotNil(t, got)
			require.Equal(t, id, got.id)
		} else {
			require.Nil(t, got)
		}
		require.Equal(t, len(want), x.n)
	}
}

// TestMaxClosed: of many incarnations the newest are kept, and the others
// counted.
func TestMaxClosed(t *testing.T) {
	s := NewShard(Options{MaxClosed: 8})
	v := newVisitor(1, 0)
	s.AddFlow(0, v.key[0])
	s.AddFlow(1, v.key[1])
	p := blankPacket()
	for range 30 {
		v.message(s, p, false)
		s.renew(s.flows[0], Moment{How: "reused", Time: p.Time, Number: p.Number})
		require.LessOrEqual(t, len(s.closed), 8)
	}
	res := s.Result()
	assert.EqualValues(t, 30, len(s.closed)+int(res.EvictedIncarnated))
	for i := range s.closed {
		assert.EqualValues(t, 30-len(s.closed)+i, s.closed[i].Incarnation)
	}
}
