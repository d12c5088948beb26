package rc

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// stream makes the packets of many clean connections: WRITEs of four packets,
// each message acknowledged, connections interleaved at random.
type stream struct {
	s     *Shard
	conns []streamConn
	order []int32
	p     wire.Packet
	now   int64
	n     int
}

type streamConn struct {
	psn  roce.PSN
	step int
	ipid [2]uint16
}

func newStream(conns int) *stream {
	x := &stream{s: NewShard(Options{}), conns: make([]streamConn, conns)}
	r := rand.New(rand.NewPCG(7, 7))
	for range 1 << max(16, bits.Len(uint(8*conns))) {
		x.order = append(x.order, int32(r.IntN(conns)))
	}
	for i := range conns {
		a, b := wire.AddrV4(uint32(0x0a000000+i/8)), wire.AddrV4(uint32(0x0b000000+i/8))
		x.s.AddFlow(int32(2*i), FlowKey{0, wire.KindRoCEv2, a, b, uint32(1000 + i)})
		x.s.AddFlow(int32(2*i+1), FlowKey{0, wire.KindRoCEv2, b, a, uint32(500000 + i)})
		x.s.CMConnect(CMConnect{A: a, B: b, QPNA: uint32(500000 + i), QPNB: uint32(1000 + i), MTU: 1024, AckTimeoutExp: 14})
		x.conns[i].psn = roce.PSN(i * 977)
	}
	x.p.Flags = wire.FlagBTH | wire.FlagNet | wire.FlagPorts
	x.p.Kind, x.p.IPVersion, x.p.Proto = wire.KindRoCEv2, 4, 17
	x.p.Data = make([]byte, 128)
	x.p.TransOff, x.p.TransLen = 42, 1052
	return x
}

var writeOps = [...]roce.Opcode{roce.OpcodeRCWriteFirst, roce.OpcodeRCWriteMiddle, roce.OpcodeRCWriteMiddle, roce.OpcodeRCWriteLast}

// next feeds one packet.
func (x *stream) next() {
	i := x.order[x.n&(len(x.order)-1)]
	x.n++
	x.now += 100
	c, p := &x.conns[i], &x.p
	p.Number, p.Time = int64(x.n), x.now
	h := &p.RoCE
	h.BTH.PSN = c.psn & 0xffffff
	id := 2 * i
	if c.step < 4 {
		h.BTH.Opcode, h.PayloadLen = writeOps[c.step], 1024
		h.Present = h.BTH.Opcode.Info().Set
		h.RETH.DMALen = 4096
		c.ipid[0]++
		p.IPID = c.ipid[0]
		p.Wire = 1098
		if c.step++; c.step < 4 {
			c.psn++
		}
	} else {
		h.BTH.Opcode, h.PayloadLen = roce.OpcodeRCAcknowledge, 0
		h.Present = h.BTH.Opcode.Info().Set
		h.AETH.Syndrome = 0x1f
		h.AETH.MSN++
		c.ipid[1]++
		p.IPID = c.ipid[1]
		p.Wire = 62
		c.step = 0
		c.psn++
		id++
	}
	p.Print = Fingerprint(p)
	x.s.Packet(p, id)
}

func benchStream(b *testing.B, conns int) {
	x := newStream(conns)
	for range 20 * conns {
		x.next()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		x.next()
	}
}

func BenchmarkClean2000(b *testing.B)   { benchStream(b, 2000) }
func BenchmarkClean1(b *testing.B)      { benchStream(b, 1) }
func BenchmarkClean100000(b *testing.B) { benchStream(b, 100000) }

// TestZeroAllocations: a clean stream allocates nothing per packet.
func TestZeroAllocations(t *testing.T) {
	x := newStream(50)
	for range 20000 {
		x.next()
	}
	assert.Zero(t, testing.AllocsPerRun(5000, x.next))
	for _, c := range x.s.Result().Connections {
		require.Empty(t, c.Flows[0].Violations)
		require.Zero(t, c.Flows[0].Retransmitted)
	}
}

// bytesPerConnection measures what the shard of a clean stream holds.
func bytesPerConnection(conns, packets int) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := newStream(conns)
	for range packets * conns {
		x.next()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	ours := 4*cap(x.order) + int(unsafe.Sizeof(streamConn{}))*conns
	runtime.KeepAlive(x)
	return float64(int(after.HeapAlloc-before.HeapAlloc)-ours) / float64(conns)
}

// BenchmarkManyConnections states the memory of a connection, with few packets
// and with so many that every latency has its sketch.
func BenchmarkManyConnections(b *testing.B) {
	for range b.N {
		b.ReportMetric(bytesPerConnection(100_000, 20), "B/quiet")
		b.ReportMetric(bytesPerConnection(20_000, 200), "B/busy")
	}
}

// TestMemoryPerConnection pins what the package's documentation promises.
func TestMemoryPerConnection(t *testing.T) {
	assert.Less(t, bytesPerConnection(20_000, 20), 1200.0)
}
