package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWantHugePages: the request reaches the kernel.
func TestWantHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel knows no transparent huge pages")
	}
	wantHugePages()
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	for line := range strings.Lines(string(smaps)) {
		if strings.HasPrefix(line, "VmFlags:") && strings.Contains(line+" ", " hg ") {
			return
		}
	}
	t.Fatal("no mapping is marked for huge pages")
}
