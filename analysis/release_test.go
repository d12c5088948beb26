package analysis_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// lending is a source that lends its own memory, and overwrites it as soon as
// it has it back: who still looks at it sees other packets than there were.
type lending struct {
	small
	end error // what comes after the last block, nil for the usual end
	bad int   // block of which a record lies outside

	mu    sync.Mutex
	out   map[*byte]bool
	lent  int
	wrong int // released twice
}

func lend(src analysis.Source, n int) *lending {
	return &lending{small: small{Source: src, n: n}, out: map[*byte]bool{}}
}

func (l *lending) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	own, recs, err := l.small.ReadBlock(make([]byte, 0, 64), recs)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.end != nil {
			err = l.end
		}
		return buf, recs, err
	}
	if l.lent++; l.lent == l.bad {
		recs[0].Cap = 1 << 20
	}
	l.out[unsafe.SliceData(own)] = true
	return own, recs, nil
}

func (l *lending) Release(buf []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cap(buf) == 0 {
		return buf
	}
	if first := unsafe.SliceData(buf); l.out[first] {
		delete(l.out, first)
	} else {
		l.wrong++
	}
	for i := range buf {
		buf[i] = 0xaa
	}
	return nil
}

// settled checks that each block came back, once.
func (l *lending) settled(t *testing.T, name string) {
	t.Helper()
	assert.Empty(t, l.out, "%s: still out", name)
	assert.Zero(t, l.wrong, "%s: released, but not out", name)
}

func openCapture(t *testing.T, path string) *pcaps.Files {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// TestNobodyKeepsABlock: no report depends on the bytes of a block after it was
// given back, which happens once for each, and neither what wraps a source.
func TestNobodyKeepsABlock(t *testing.T) {
	wrap := map[string]func(analysis.Source) analysis.Source{
		"bare": func(s analysis.Source) analysis.Source { return s },
		"stamped": func(s analysis.Source) analysis.Source {
			return analysis.NewStamped(s, wire.Config{}, analysis.ClockAuto)
		},
		"trailer": func(s analysis.Source) analysis.Source {
			return analysis.NewStamped(s, wire.Config{}, analysis.ClockTrailer)
		},
		"filtered": func(s analysis.Source) analysis.Source {
			f, err := filter.CompilePacket("tcp or infiniband.bth.opcode == 0x11 or frame.len > 200")
			require.NoError(t, err)
			return filter.Source(analysis.Stamped(s, wire.Config{}, analysis.ClockAuto), f, wire.Config{})
		},
	}
	for _, path := range captures(t, "*.pcap*") {
		for name, w := range wrap {
			want, err := analysis.Analyze(context.Background(), w(openCapture(t, path)), analysis.Options{Workers: 1})
			require.NoError(t, err)
			src := lend(openCapture(t, path), 30)
			e := analysis.New(w(src), analysis.Options{Workers: 3})
			e.RequestSnapshot()
			got, err := e.Run(context.Background())
			require.NoError(t, err)
			name = filepath.Base(path) + ", " + name
			src.settled(t, name)
			one, err := json.Marshal(want)
			require.NoError(t, err)
			two, err := json.Marshal(got)
			require.NoError(t, err)
			require.Equal(t, string(one), string(two), name)
		}
	}
}

// TestAllIsReleased: every block comes back before Run ends, however it ends.
func TestAllIsReleased(t *testing.T) {
	path := captures(t, "*.pcap*")[0]
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		src := lend(openCapture(t, path), 1)
		cancel()
		_, err := analysis.Analyze(ctx, src, analysis.Options{Workers: 3})
		require.NoError(t, err)
		src.settled(t, "stopped")
	})
	t.Run("failed", func(t *testing.T) {
		src := lend(openCapture(t, path), 2)
		src.end = io.ErrNoProgress
		_, err := analysis.Analyze(context.Background(), src, analysis.Options{Workers: 3})
		require.ErrorIs(t, err, io.ErrNoProgress)
		src.settled(t, "failed")
	})
	t.Run("bad", func(t *testing.T) {
		src := lend(openCapture(t, path), 2)
		src.bad = 3
		_, err := analysis.Analyze(context.Background(), src, analysis.Options{Workers: 3})
		require.ErrorContains(t, err, "outside its block")
		assert.Equal(t, 3, src.lent)
		src.settled(t, "bad")
		src = lend(openCapture(t, path), 2)
		src.bad = 3
		require.ErrorContains(t, analysis.Packets(src, wire.Config{}, func(*wire.Packet) bool { return true }), "outside its block")
		src.settled(t, "bad, one after the other")
	})
	t.Run("packets", func(t *testing.T) {
		for _, most := range []int{3, 1 << 30} {
			src := lend(openCapture(t, path), 2)
			n := 0
			require.NoError(t, analysis.Packets(src, wire.Config{}, func(*wire.Packet) bool { n++; return n < most }))
			assert.GreaterOrEqual(t, n, 3)
			src.settled(t, "packets")
		}
	})
}

// reused is a source without a wish to have anything back.
type reused struct {
	n     int
	fresh int // blocks for which there was no room
}

func (r *reused) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if r.n++; r.n > 1000 {
		return buf, recs, io.EOF
	}
	if cap(buf) == 0 {
		r.fresh++
	}
	return append(buf, make([]byte, 60)...), append(recs, analysis.Record{Time: int64(r.n), Cap: 60, Wire: 60, Link: 1}), nil
}
func (*reused) Interfaces() []analysis.Interface { return []analysis.Interface{{Link: 1}} }
func (*reused) Inputs() []analysis.InputInfo     { return []analysis.InputInfo{{Complete: true}} }

// TestBuffersAreReused: a source that lends nothing gets its buffers again, also
// through what wraps it.
func TestBuffersAreReused(t *testing.T) {
	for _, wrap := range []func(analysis.Source) analysis.Source{
		func(s analysis.Source) analysis.Source { return s },
		func(s analysis.Source) analysis.Source {
			return analysis.NewStamped(s, wire.Config{}, analysis.ClockAuto)
		},
	} {
		opt := analysis.Options{Workers: 2}
		src := &reused{}
		_, err := analysis.Analyze(context.Background(), wrap(src), opt)
		require.NoError(t, err)
		assert.LessOrEqual(t, src.fresh, opt.Blocks())
		src = &reused{}
		require.NoError(t, analysis.Packets(wrap(src), wire.Config{}, func(*wire.Packet) bool { return true }))
		assert.Equal(t, 1, src.fresh)
	}
}
