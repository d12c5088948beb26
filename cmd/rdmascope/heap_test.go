package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBeginAnalysis: the reserve is counted by the collector, whatever became of
// the request for huge pages.
func TestBeginAnalysis(t *testing.T) {
	if addressesRationed() {
		t.Skip("memory is rationed here: nothing is reserved")
	}
	beginAnalysis()
	defer func() { reserve = nil }()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	require.GreaterOrEqual(t, m.HeapAlloc, uint64(len(reserve)))
	require.Greater(t, m.NextGC, uint64(2*reserveBytes)-1)
	require.Less(t, m.HeapAlloc, uint64(hugeHeapForTest), "what was asked for in huge pages is free again")
}

// hugeHeapForTest is less than what is asked for in huge pages, and more than a
// test holds.
const hugeHeapForTest = 400 << 20
