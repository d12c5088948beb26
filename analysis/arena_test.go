package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

// TestArenaGivesEachAPlace: what was handed out stays as it is, however much
// follows, and what is appended to a list falls on nobody else's places.
func TestArenaGivesEachAPlace(t *testing.T) {
	var a arena
	var figures []*int64
	var lists []List[int64]
	for i := range int64(1000) {
		figures = append(figures, a.int(i))
		l := a.list(int(i % 3))
		for k := range i % 3 {
			l = append(l, i+k)
		}
		lists = append(lists, append(l, -1)) // beyond its room
	}
	for i, f := range figures {
		require.EqualValues(t, i, *f)
		want := List[int64]{}
		for k := range i % 3 {
			want = append(want, int64(i+k))
		}
		require.Equal(t, append(want, -1), lists[i])
	}
	assert.Nil(t, a.list(0), "as an unknown list is")
	assert.Nil(t, a.known(-1))
	assert.Nil(t, a.quotient(1, 0))
	assert.EqualValues(t, 0.25, *a.quotient(1, 4))
}

// TestArenaChunksAreSmall: one figure that is kept keeps a kilobyte, not what
// all connections pointed to.
func TestArenaChunksAreSmall(t *testing.T) {
	var chunk []int64
	first := take(&chunk, 1)
	assert.LessOrEqual(t, 8*(len(first)+len(chunk)), chunkBytes)
	assert.Len(t, take(&chunk, 10_000), 10_000, "more than a chunk has")
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for range chunkBytes / 8 {
			place(&chunk, 1)
		}
	}), 1.0)
}

func TestArenaWords(t *testing.T) {
	var a arena
	for range 2 {
		for i := range uint32(20) { // more than it remembers
			addr := wire.AddrV4(10<<24 | i)
			assert.Equal(t, addr.String(), a.address(addr))
			assert.Equal(t, addr.String(), a.address(addr))
			m := wire.MAC{2, 0, 0, 0, 0, byte(i)}
			assert.EqualValues(t, m.String(), a.mac(m))
		}
	}
	assert.Equal(t, wire.Addr{}.String(), new(arena).address(wire.Addr{}), "the zero key isn't one that is known")
	assert.EqualValues(t, wire.MAC{}.String(), new(arena).mac(wire.MAC{}))
}
