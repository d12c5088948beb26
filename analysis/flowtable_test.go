package analysis

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/decode"
)

// TestFlowTable plays additions and removals against a Go map.
func TestFlowTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, want, free := newFlowTable(300), map[FlowKey]int32{}, []int32{}
	for step := range 200_000 {
		// Few distinct keys, so that many come again and chains are long.
		key := FlowKey{Kind: decode.KindRoCEv2, DestQP: r.Uint32N(500), Iface: uint16(r.UintN(2))}
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
