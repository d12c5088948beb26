package prefetch

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnyAddress: nothing that is asked for can do harm, what the list has no
// room for included, and it is empty afterwards.
func TestAnyAddress(t *testing.T) {
	var l List
	l.Fetch()
	x := make([]byte, 1<<20)
	for _, p := range []unsafe.Pointer{nil, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[len(x)-1])} {
		l.Add(p)
	}
	require.Equal(t, 3, l.n)
	for _, nowhere := range []uintptr{1, 1 << 30, 1 << 31, ^uintptr(0)} { // what no pointer may be
		l.at[l.n] = nowhere
		l.n++
	}
	l.Fetch()
	require.Zero(t, l.n)
	for i := range 3 * room {
		l.Add(unsafe.Pointer(&x[i*64]))
	}
	require.Equal(t, room, l.n)
	l.Fetch()
	require.Zero(t, l.n)
	for _, b := range x {
		require.Zero(t, b)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		l.Add(unsafe.Pointer(&x[0]))
		l.Fetch()
	}))
}

// BenchmarkFetch is a walk through memory that no cache holds, eight lines at a
// time as the engine does, asked for eight lines ahead and not.
func BenchmarkFetch(b *testing.B) {
	const lines, batch = 1 << 20, 8
	x := make([]uint64, lines*8)
	for i := range x {
		x[i] = uint64(i)
	}
	for _, ahead := range []bool{false, true} {
		b.Run(map[bool]string{false: "read", true: "ahead"}[ahead], func(b *testing.B) {
			var l List
			var sum, now, next uint64 = 0, 1, 1
			at := func(n *uint64) *uint64 {
				*n = *n*6364136223846793005 + 1442695040888963407
				return &x[*n>>44*8]
			}
			for range batch {
				at(&next)
			}
			for b.Loop() {
				for range batch {
					if p := at(&next); ahead {
						l.Add(unsafe.Pointer(p))
					}
				}
				l.Fetch()
				for range batch {
					sum = sum*31 + *at(&now)>>(sum&3)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/line")
			x[0] = sum
		})
	}
}
