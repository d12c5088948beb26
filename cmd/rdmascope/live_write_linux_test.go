package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rdmascope/analysis"
)

// TestRingFilesAreCapturesAtOnce: a file of a ring has its header from the
// moment that it has its name, and each block's packets when the block is
// taken. What a killed program left doesn't get in the way.
func TestRingFilesAreCapturesAtOnce(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".ring.pcapng.new")
	require.NoError(t, os.WriteFile(left, []byte("half a hea"), 0o400))
	w, err := newRingWriter(filepath.Join(dir, "ring.pcapng"), []string{"packets:3"}, func(s string) { t.Error(s) })
	require.NoError(t, err)
	faces := []analysis.Interface{{Name: "eth7", Link: 1, SnapLen: 128, Received: -1, Dropped: -1}}
	require.NoError(t, w.open(faces, time.Unix(1e9, 0)))
	files := func() (list []int64) {
		names, err := filepath.Glob(filepath.Join(dir, "ring_*.pcapng"))
		require.NoError(t, err)
		for _, name := range names {
			list = append(list, packetsIn(t, name))
		}
		return list
	}
	assert.Equal(t, []int64{0}, files(), "no packet yet, but a capture")
	frame := make([]byte, 60)
	for n, want := range [][]int64{{1}, {2}, {3}, {3, 1}, {3, 2}} {
		w.block(frame, []analysis.Record{{Time: int64(n), Cap: 60, Wire: 60, Link: 1}}, faces)
		assert.Equal(t, want, files())
	}
	w.finish(faces)
	assert.NoFileExists(t, left)
	st, err := os.Stat(w.kept[0])
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, st.Mode().Perm())
}

// TestRingWriterToDevice: -w without a ring writes to what is there.
func TestRingWriterToDevice(t *testing.T) {
	w, err := newRingWriter(os.DevNull, nil, func(s string) { t.Error(s) })
	require.NoError(t, err)
	require.NoError(t, w.open([]analysis.Interface{{Link: 1}}, time.Now()))
	w.finish(nil)
	st, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeDevice, "not replaced by a file")
}

// TestRingWriterToPipe: -w writes to a pipe, from which another program reads what
// comes; when that ends, writing ends with one line and the analysis goes on.
func TestRingWriterToPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(name, 0o600))
	got := make(chan []byte)
	ended := make(chan struct{})
	go func() {
		f, err := os.Open(name)
		assert.NoError(t, err)
		b := make([]byte, 1<<16)
		for n := 0; ; {
			m, err := f.Read(b[n:])
			if n += m; err != nil || n > 1000 {
				got <- b[:n]
				break
			}
		}
		_ = f.Close()
		close(ended)
	}()
	var said []string
	w, err := newRingWriter(name, nil, func(s string) { said = append(said, s) })
	require.NoError(t, err)
	faces := []analysis.Interface{{Name: "eth7", Link: 1, SnapLen: 128, Received: -1, Dropped: -1}}
	require.NoError(t, w.open(faces, time.Unix(1e9, 0)))
	frame := make([]byte, 60)
	block := func() { w.block(frame, []analysis.Record{{Cap: 60, Wire: 60, Link: 1}}, faces) }
	for range 20 {
		block()
	}
	saved := filepath.Join(t.TempDir(), "saved.pcapng")
	require.NoError(t, os.WriteFile(saved, <-got, 0o600))
	assert.Positive(t, packetsIn(t, saved))
	<-ended
	require.Empty(t, said)
	block()
	block()
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "broken pipe: nothing more is written, the analysis goes on")
}
