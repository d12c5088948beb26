package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/tui"
)

func TestViewIsRemembered(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path := rememberedPath()
	require.Equal(t, filepath.Join(dir, "rdmascope", "tui.toml"), path)
	assert.Equal(t, tui.Remembered{}, recallView(path), "nothing yet")
	for _, r := range []tui.Remembered{
		{Theme: "mono"},
		{Theme: "16", Tables: map[string]tui.RememberedTable{"flows": {Sort: "p99", Descending: true, Hidden: []string{"QPs A↔B", "%"}, Shown: []string{"CM"}}}},
	} {
		require.NoError(t, rememberView(path, r))
		assert.Equal(t, r, recallView(path))
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
}

// TestViewUnreadable: what can't be read counts as nothing, and says nothing.
func TestViewUnreadable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tui.toml")
	for _, text := range []string{"theme = ", "theme = 3", "\x00\xff", "[tables]\nflows = 1", "unknown = true"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		assert.Equal(t, tui.Remembered{}, recallView(path), text)
	}
	require.NoError(t, os.Truncate(path, maxRemembered+1))
	assert.Equal(t, tui.Remembered{}, recallView(path), "too big to be ours")
	assert.Equal(t, tui.Remembered{}, recallView(dir), "a directory")
	assert.Equal(t, tui.Remembered{}, recallView(""))
}

// TestViewUnwritable says why in one line.
func TestViewUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{"", filepath.Join(file, "rdmascope", "tui.toml")} {
		err := rememberView(path, tui.Remembered{Theme: "mono"})
		require.Error(t, err)
		assert.False(t, strings.Contains(err.Error(), "\n"), err)
	}
}
