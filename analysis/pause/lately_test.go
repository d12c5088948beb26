package pause

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// sources lets n senders pause once, one after the other.
func (f *feed) sources(n int, quanta uint16) {
	for i := range n {
		f.pfc(int64(i)*us1, 0, sourceMAC(i), quanta)
	}
}

func sourceMAC(i int) synth.MAC { return synth.MAC{2, 0, 0, 1, byte(i >> 8), byte(i)} }

// TestManySources: behind the mirror of a switch a hundred hosts pause, each of
// which has its row; a bound there is nonetheless.
func TestManySources(t *testing.T) {
	f := newFeed(t, Options{})
	f.sources(100, 100)
	tl, _ := f.end(10 * ms1)
	require.Len(t, tl.rows, 100)
	assert.Zero(t, tl.RowsRefused+tl.RowsEvicted)

	f.sources(1000, 100)
	tl, _ = f.end(10 * ms1)
	assert.Len(t, tl.rows, rowsPerPriority)
	assert.EqualValues(t, 1000-rowsPerPriority, tl.RowsRefused)
	for i := range tl.rows[:100] {
		assert.EqualValues(t, 2, tl.rows[i].frames)
	}
}

// TestNothingLeftToMark: rows that a data packet passes over are those of which
// it would change nothing, whatever the order of times, directions and
// addresses.
func TestNothingLeftToMark(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		f := newFeed(t, Options{LinkSpeedBps: 10e9, MaxRows: 40, RowIdleNS: us1})
		skips, asks := f.parts[0], f.parts[1]
		mac := func() synth.MAC {
			if r.UintN(8) == 0 {
				return synth.MAC{}
			}
			return sourceMAC(r.IntN(9))
		}
		dir := func() wire.Dir { return wire.Dir(r.UintN(3)) }
		now, violators := int64(0), 0
		for range 20_000 {
			now += r.Int64N(20 * us1)
			at := now
			if r.UintN(20) == 0 { // a clock that steps back
				at -= r.Int64N(300 * us1)
			}
			iface, priority := uint16(r.UintN(2)), uint8(3+r.UintN(2))
			if r.UintN(6) == 0 {
				b := synth.AppendPFCPriority(nil, mac(), priority, uint16(r.UintN(3)*1000))
				f.tl.Frame(f.decoded(at, iface, dir(), b))
				continue
			}
			path := synth.Path{SrcMAC: mac(), DstMAC: mac(), Src: ipA, Dst: ipB, VLANs: []synth.VLAN{{PCP: priority, VID: 10}}}
			p := f.decoded(at, iface, dir(), synth.AppendRoCEv2(nil, &path, &synth.Packet{Opcode: synth.WriteOnly, DestQP: 5}))
			flow := int32(r.IntN(5))
			skips.Data(p, flow)
			asks.keepPace(p, flow, priority)
			for _, i := range f.tl.port(iface).rows[priority] {
				asks.mark(p, i, flow)
			}
		}
		for i := range f.tl.rows {
			row := &f.tl.rows[i]
			a, b := skips.row(int32(i)), asks.row(int32(i))
			for n := row.ring.first(); n < row.ring.next; n++ {
				require.Equal(t, b.mark(n), a.mark(n), "seed %d, row %d, interval %d", seed, i, n)
			}
			require.Equal(t, b.violators, a.violators, "seed %d, row %d", seed, i)
			violators += len(b.violators)
		}
		require.Positive(t, violators)
		require.Positive(t, f.tl.evicted, "rows change places")
	}
}
