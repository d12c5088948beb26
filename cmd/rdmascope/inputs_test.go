package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWriteFileLeavesDevices: a report to /dev/null, or to a link to a device,
// must not put a file in the place of the device. Root could.
func TestWriteFileLeavesDevices(t *testing.T) {
	link := filepath.Join(t.TempDir(), "null")
	require.NoError(t, os.Symlink(os.DevNull, link))
	require.NoError(t, writeFile(link, func(f *os.File) error { _, err := f.WriteString("x"); return err }))
	st, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeSymlink, "the link is still there")
	st, err = os.Stat(link)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&os.ModeDevice)

	if _, err := os.Stat("/dev/full"); err != nil {
		return // not on every system
	}
	full := filepath.Join(t.TempDir(), "full")
	require.NoError(t, os.Symlink("/dev/full", full))
	err = writeFile(full, func(f *os.File) error { _, err := f.WriteString("x"); return err })
	require.Error(t, err)
	assert.Contains(t, err.Error(), full+": no space left on device")
}
