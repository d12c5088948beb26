package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// captures lists the real captures that tests may use: those of the
// repository, or more of them where the whole corpus lies beside it.
func captures(t testing.TB, pattern string) []string {
	t.Helper()
	dirs := []string{filepath.Join("..", "pcaps", "testdata"), os.Getenv("RDMASCOPE_SHARED"), filepath.Join("..", "..", "shared")}
	for _, dir := range dirs[1:] {
		if dir == "" {
			continue
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "captures", pattern)); len(files) > 0 {
			return withoutNotes(files)
		}
	}
	files, err := filepath.Glob(filepath.Join(dirs[0], pattern))
	require.NoError(t, err)
	return withoutNotes(files)
}

func withoutNotes(files []string) []string {
	var list []string
	for _, f := range files {
		if ext := filepath.Ext(f); ext != ".json" && ext != ".md" {
			list = append(list, f)
		}
	}
	return list
}

func analyze(t testing.TB, path string, opt analysis.Options) *analysis.Snapshot {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	s, err := analysis.Analyze(context.Background(), src, opt)
	require.NoError(t, err)
	return s
}

// small makes blocks small, so that even a short capture has many of them.
type small struct {
	analysis.Source
	n    int
	buf  []byte
	recs []analysis.Record
}

func (s *small) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if len(s.recs) == 0 {
		var err error
		if s.buf, s.recs, err = s.Source.ReadBlock(nil, nil); err != nil {
			return buf, recs, err
		}
	}
	for len(recs) < s.n && len(s.recs) > 0 {
		r := s.recs[0]
		at := uint32(len(buf))
		buf = append(buf, s.buf[r.Off:r.Off+r.Cap]...)
		r.Off = at
		recs, s.recs = append(recs, r), s.recs[1:]
	}
	return buf, recs, nil
}

// TestWorkersDontMatter: neither the number of workers nor the size of blocks
// nor snapshots taken on the way may change a report by a byte.
func TestWorkersDontMatter(t *testing.T) {
	for _, path := range captures(t, "*.pcap*") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := json.Marshal(analyze(t, path, analysis.Options{Workers: 1}))
			require.NoError(t, err)
			for _, c := range []struct{ workers, block int }{{2, 1}, {3, 7}, {8, 64}, {2 * runtime.NumCPU(), 1000}} {
				src, err := pcaps.Open([]string{path}, pcaps.Options{})
				require.NoError(t, err)
				e := analysis.New(&small{Source: src, n: c.block}, analysis.Options{Workers: c.workers})
				e.RequestSnapshot()
				s, err := e.Run(context.Background())
				require.NoError(t, err)
				require.NoError(t, src.Close())
				got, err := json.Marshal(s)
				require.NoError(t, err)
				require.JSONEq(t, string(want), string(got), "%d workers, %d packets a block", c.workers, c.block)
				require.Equal(t, string(want), string(got))
			}
		})
	}
}

// broken is a source that fails, or whose records lie outside their block.
type broken struct {
	err  error
	recs []analysis.Record
}

func (b *broken) ReadBlock(buf []byte, _ []analysis.Record) ([]byte, []analysis.Record, error) {
	return buf, b.recs, b.err
}
func (*broken) Interfaces() []analysis.Interface { return nil }
func (*broken) Inputs() []analysis.InputInfo     { return nil }

func TestBrokenSource(t *testing.T) {
	boom := errors.New("disk on fire")
	_, err := analysis.Analyze(context.Background(), &broken{err: boom}, analysis.Options{})
	assert.ErrorIs(t, err, boom)
	_, err = analysis.Analyze(context.Background(), &broken{recs: []analysis.Record{{Off: 1, Cap: 1 << 31}}}, analysis.Options{})
	assert.ErrorContains(t, err, "outside its block")
	s, err := analysis.Analyze(context.Background(), &broken{err: io.EOF}, analysis.Options{})
	require.NoError(t, err)
	assert.Zero(t, s.Capture.Packets)
	assert.Nil(t, s.Capture.DurationNS)
}

// TestCancel: a stopped analysis gives the result of what was read.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src, err := pcaps.Open(captures(t, "*.pcap*")[:1], pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	s, err := analysis.Analyze(ctx, src, analysis.Options{})
	require.NoError(t, err)
	require.NotNil(t, s)
}

// silent is a pipe that brings a whole capture, then nothing until it is told
// to end.
type silent struct {
	analysis.Source
	end chan struct{}
}

func (s *silent) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	buf, recs, err := s.Source.ReadBlock(buf, recs)
	if err != nil {
		<-s.end
	}
	return buf, recs, err
}

// TestSnapshotInSilence: a source that falls silent, as a pipe does when the
// traffic stalls, doesn't keep its last packets from being shown, and the final
// result is that of a source that never paused.
func TestSnapshotInSilence(t *testing.T) {
	const capture = "../pcaps/testdata/rxe_exact_write_every50.pcap.gz"
	want, err := json.Marshal(analyze(t, capture, analysis.Options{}))
	require.NoError(t, err)
	for _, workers := range []int{1, 2, 5} {
		src, err := pcaps.Open([]string{capture}, pcaps.Options{})
		require.NoError(t, err)
		s := &silent{Source: &small{Source: src, n: 100}, end: make(chan struct{})}
		e := analysis.New(s, analysis.Options{Workers: workers})
		final := make(chan *analysis.Snapshot)
		go func() {
			got, err := e.Run(context.Background())
			assert.NoError(t, err)
			final <- got
		}()
		require.Eventually(t, func() bool { return e.PacketsRead() == 1902 }, time.Minute, time.Millisecond)
		require.Eventually(t, func() bool {
			e.RequestSnapshot()
			snap := e.Snapshot()
			return snap != nil && snap.Capture.Packets == 1902
		}, time.Minute, 10*time.Millisecond, "%d workers: the last packets before the silence are never shown", workers)
		newest := e.Snapshot()
		time.Sleep(300 * time.Millisecond)
		e.RequestSnapshot()
		time.Sleep(50 * time.Millisecond)
		require.Same(t, newest, e.Snapshot(), "built again with nothing new")
		close(s.end)
		got, err := json.Marshal(<-final)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		require.NoError(t, src.Close())
	}
}
