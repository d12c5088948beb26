package analysis

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

// TestFlowTable plays additions and removals against a Go map.
func TestFlowTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, want, free := newFlowTable(300), map[FlowKey]int32{}, []int32{}
	for step := range 200_000 {
		// Few distinct keys, so that many come again and chains are long.
		key := FlowKey{Kind: wire.KindRoCEv2, DestQP: r.Uint32N(500), Iface: uint16(r.UintN(2))}
		id, known := want[key]
		got := table.find(key.hash(), &key)
		if !known {
			require.EqualValues(t, -1, got, step)
			if table.isFull() {
				continue
			}
			id = int32(len(table.keys))
			if n := len(free); n > 0 {
				id, free = free[n-1], free[:n-1]
			}
			table.insert(key.hash(), &key, id)
			want[key] = id
			continue
		}
		require.Equal(t, id, got, step)
		if r.UintN(2) == 0 {
			table.remove(id)
			delete(want, key)
			free = append(free, id)
		}
	}
	require.Equal(t, len(want), table.used)
	require.LessOrEqual(t, len(table.keys), 300, "numbers come again")
	for key, id := range want {
		require.Equal(t, id, table.find(key.hash(), &key))
	}
}

// TestGenerations: a flow that comes back has another generation than every
// row of it that is still listed.
func TestGenerations(t *testing.T) {
	var a aged
	key := func(qp uint32) FlowKey { return FlowKey{DestQP: qp} }
	row := func(qp uint32, generation int32, trouble int64) *draft {
		return &draft{keys: []FlowKey{key(qp)}, generation: generation, Connection: Connection{Flows: List[Flow]{{Retransmitted: Int(trouble)}}}}
	}
	k := key(1)
	require.Zero(t, a.generation(&k))
	a.add(row(1, 0, 5))
	a.add(row(1, 1, 3))
	require.EqualValues(t, 2, a.generation(&k))
	for i := range uint32(maxAgedRows - 2) {
		a.add(row(100+i, 0, 9))
	}
	a.add(row(99, 0, 7)) // in place of the second row
	require.EqualValues(t, 1, a.generation(&k), "the first row is still there")
	a.add(row(98, 0, 8))
	require.Zero(t, a.generation(&k))
	a.add(row(97, 0, 1))
	k = key(97)
	require.Zero(t, a.generation(&k), "not worth a row")
	require.Len(t, a.rows, maxAgedRows)
	require.EqualValues(t, 3, a.totals.Connections)
}

// TestFlowLayout: what every packet touches of a flow lies on two cache lines.
func TestFlowLayout(t *testing.T) {
	var f flow
	require.EqualValues(t, 64, unsafe.Offsetof(f.opcodes))
	require.EqualValues(t, 128, unsafe.Offsetof(f.more))
	require.Zero(t, unsafe.Sizeof(f)%64)
	for n := leastFlows; n < 1<<16; n *= 2 {
		flows := make([]flow, 0, n)
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(flows)))%64, "%d flows", n)
	}
}

// TestVerdictOnNothing: a capture without packets isn't called OK.
func TestVerdictOnNothing(t *testing.T) {
	v := verdict(&Snapshot{})
	require.Equal(t, SeverityNotice, v.Severity)
	require.Equal(t, "the capture holds no packet: nothing was judged", v.Headline)
	require.Equal(t, SeverityOK, verdict(&Snapshot{Capture: Capture{Packets: 1}}).Severity)
}

// TestManagementIsBounded: hosts without end take no memory without end, and
// what isn't counted is.
func TestManagementIsBounded(t *testing.T) {
	m := management{}
	refused := 0
	for i := range maxManagement + 10 {
		if !m.packet(&wire.Packet{Dst: wire.Addr{Lo: uint64(i)}}) {
			refused++
		}
	}
	require.Len(t, m, maxManagement)
	require.Equal(t, 10, refused)
	require.True(t, m.packet(&wire.Packet{Dst: wire.Addr{Lo: 5}}), "a pair that is known")
}
