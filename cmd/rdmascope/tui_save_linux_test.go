package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSaveOnFullDisk: a full disk is told in one line, and the part that fitted
// is taken away.
func TestSaveOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skip("needs a small file system, which needs root: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	p := indexed(t, testdata("rxe_exact_write_every50.pcap.gz"))
	numbers := make([]int64, 1000)
	for i := range numbers {
		numbers[i] = int64(i) + 1
	}
	path := filepath.Join(dir, "saved.pcapng")
	_, err := p.Save(t.Context(), path, numbers)
	require.Error(t, err)
	assert.Equal(t, "no space left on device", err.Error())
	assert.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), make([]byte, 8192), 0o600), "its room is free again")
}
