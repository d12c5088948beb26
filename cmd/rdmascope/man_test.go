package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// madePages are the pages that cobra/doc makes of the commands, by file name.
func madePages(t *testing.T) map[string]string {
	t.Helper()
	root := (&app{}).root()
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	asMarkdown(root)
	dir, at := t.TempDir(), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "rdmascope " + manVersion, Manual: "rdmascope", Date: &at}, dir))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	pages := map[string]string{}
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		pages[f.Name()] = strings.Replace(string(b), at.Format("Jan 2006"), manDate, 1)
	}
	return pages
}

// asMarkdown indents the examples of c's help, and of the commands below it, as
// the maker of pages wants them: else it joins their lines.
func asMarkdown(c *cobra.Command) {
	lines := strings.Split(c.Long, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "  ") {
			lines[i] = "  " + l
		}
	}
	c.Long = strings.Join(lines, "\n")
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}

// TestManGolden holds the pages in the program against its commands: what was
// said of a flag anew must be in its page. -update writes them.
func TestManGolden(t *testing.T) {
	made := madePages(t)
	old, err := filepath.Glob(filepath.Join("man", "*.1"))
	require.NoError(t, err)
	for _, path := range old {
		if name := filepath.Base(path); made[name] == "" && *update {
			require.NoError(t, os.Remove(path))
		} else {
			assert.Contains(t, made, name, "there is no such command")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		golden(t, filepath.Join("man", name), made[name])
	}
}

// TestMan: a page for the program on standard output, and one for every command
// in a folder, with the examples as they stand in the help.
func TestMan(t *testing.T) {
	r := runArgs("man")
	require.Zero(t, r.code, r.errors)
	assert.Contains(t, r.out, `.TH "RDMASCOPE" "1" "`+sourceDate().Format("Jan 2006")+`" "rdmascope `+version+`" "rdmascope"`)
	assert.Contains(t, r.out, "rdmascope-analyze(1)")
	assert.Contains(t, r.out, ".EX\nrdmascope FILE…")

	dir := t.TempDir()
	require.Zero(t, runArgs("man", dir).code)
	for _, c := range (&app{}).root().Commands() {
		assert.FileExists(t, filepath.Join(dir, "rdmascope-"+c.Name()+".1"))
	}
	page, err := os.ReadFile(filepath.Join(dir, "rdmascope-live.1"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "max-connections")
	assert.Equal(t, exitUsage, runArgs("man", filepath.Join(dir, "none")).code)
}
