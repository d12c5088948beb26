package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
