package rc

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

// TestEventStore: lists of all lengths keep their events, whatever the others
// do, and what is handed back is used again.
func TestEventStore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s eventStore
	lists := make([]eventList, 300)
	want := make([][]event, len(lists))
	most := 0
	for n := range 200_000 {
		i := r.IntN(len(lists))
		if r.IntN(40) == 0 {
			s.free(&lists[i])
			want[i] = nil
			continue
		}
		e := event{time: int64(n), num: int64(n) << 20 & (1<<40 - 1), psn: roce.PSN(n) & 0xffffff, n: 1, payload: r.Uint32(), wire: r.Uint32() >> 8,
			print: r.Uint32(), data: uint16(n), hop: uint8(r.Uint32() & hopMask), target: r.Uint32(), ipid: uint16(n), op: roce.Opcode(r.IntN(0x12)), flags: evRequest}
		if e.op.Operation() == roce.OperationReadRequest {
			e.n = 0
		}
		if r.IntN(2) == 0 {
			e.flags, e.msn, e.syn = evAeth, roce.MSN(n&0xffffff), roce.Syndrome(n)
		} else {
			e.dma = r.Uint32()
		}
		s.add(&lists[i], &e)
		want[i] = append(want[i], e)
		most = max(most, s.used)
	}
	for i := range lists {
		k := 0
		for c := s.read(&lists[i]); c.next(); k++ {
			require.Equal(t, want[i][k], c.event)
		}
		require.Len(t, want[i], k)
	}
	assert.Less(t, int(s.next), most/chunkEvents+2*len(lists), "chunks are used again")
	for i := range lists {
		s.free(&lists[i])
	}
	assert.Zero(t, s.used)
	assert.Len(t, s.pages, sparePages)
	for range sparePages*pageChunks + 1 {
		s.empty()
	}
	assert.EqualValues(t, sparePages*pageChunks+1, s.next, "all of the kept ones were spare, each once")
}
