package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allowedImports is the direction in which the packages of this module may
// depend on one another: cmd → tui → analysis → decode/wire → decode/*. A
// package that is missing here fails the test, so that each new one is thought
// about.
var allowedImports = map[string][]string{
	"cmd/rdmascope":     {"tui", "analysis", "analysis/figure", "analysis/filter", "analysis/report", "decode/roce", "decode/wire", "pcaps", "pcaps/live"},
	"tui":               {"tui/plot", "analysis", "analysis/figure", "analysis/filter", "decode/roce", "decode/wire"},
	"tui/plot":          {},
	"tui/shot":          {},
	"analysis/report":   {"analysis", "analysis/figure"},
	"analysis/figure":   {"analysis"},
	"analysis/filter":   {"analysis", "decode/roce", "decode/wire"},
	"analysis":          {"analysis/prefetch", "analysis/cm", "analysis/iwarp", "analysis/marking", "analysis/pause", "analysis/rc", "analysis/taps", "decode/iwarp", "decode/pfc", "decode/roce", "decode/wire"},
	"analysis/cm":       {"decode/roce", "decode/wire"},
	"analysis/iwarp":    {"analysis/sketch", "decode/iwarp", "decode/wire"},
	"analysis/marking":  {"analysis/prefetch", "analysis/sketch", "analysis/slab", "decode/roce", "decode/wire"},
	"analysis/pause":    {"analysis/prefetch", "analysis/slab", "decode/pfc", "decode/roce", "decode/wire"},
	"analysis/rc":       {"analysis/prefetch", "analysis/sketch", "decode/roce", "decode/wire"},
	"analysis/sketch":   {},
	"analysis/prefetch": {},
	"analysis/slab":     {},
	"analysis/taps":     {"analysis/slab", "decode/roce", "decode/wire"},
	"decode":            {"decode/iwarp", "decode/pfc", "decode/roce"}, // for programs with gopacket; nothing here needs it
	"decode/wire":       {"decode/iwarp", "decode/pfc", "decode/roce"},
	"decode/iwarp":      {},
	"decode/pfc":        {},
	"decode/roce":       {},
	"pcaps":             {},
	"pcaps/live":        {"pcaps"},
	"pcaps/synth":       {},

	"analysis/snapshottest": {"analysis"}, // of tests: snapshots made by hand
	"pcaps/live/vethtest":   {},           // of tests: two ends of a wire
}

func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "rdmascope/...").CombinedOutput()
	require.NoError(t, err, string(out))
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ":") // one without imports ends there
		pkg = strings.TrimPrefix(pkg, "rdmascope/")
		allowed, known := allowedImports[pkg]
		if !assert.True(t, known, "package %s has no place in the house yet", pkg) {
			continue
		}
		for _, imp := range strings.Fields(imports) {
			if own, ours := strings.CutPrefix(imp, "rdmascope/"); ours {
				assert.Contains(t, allowed, own, "%s must not import %s", pkg, own)
			}
		}
	}
}

// TestNoGopacketLayers keeps the tables of gopacket/layers, which package decode
// alone needs, out of the command: filling them took 25 ms at every start, even
// for --version.
func TestNoGopacketLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "rdmascope/cmd/rdmascope").CombinedOutput()
	require.NoError(t, err, string(out))
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "rdmascope/decode/wire")
	for _, pkg := range []string{"github.com/google/gopacket/layers", "rdmascope/decode"} {
		assert.NotContains(t, deps, pkg)
	}
}

// TestTopLevel keeps the top level to what was agreed.
func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-tree", "--name-only", "HEAD").Output()
	if err != nil {
		t.Skip("not in a git checkout")
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, ".") {
			continue
		}
		assert.Contains(t, []string{"cmd", "decode", "analysis", "tui", "pcaps", "go.mod", "go.sum", "Makefile", "README.md"}, name)
	}
}
