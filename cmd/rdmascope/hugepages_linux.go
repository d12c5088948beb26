package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeHeap is how much of the heap is asked for in huge pages: room for some ten
// thousand connections. It is address space; resident is what is used. With 64 MiB
// a capture of 100,000 connections took longer than without any, with this it
// doesn't.
const hugeHeap = 512 << 20

// wantHugePages has the first of the heap backed by huge pages where the system
// grants them on request (transparent_hugepage/enabled is madvise). The states of
// some thousand connections, touched at random, are more pages than a processor
// has translations at hand, and each page costs a fault when it is touched first:
// 15 % of the time of a whole analysis. The runtime takes memory by address, so
// what was allocated here and given back at once is what it hands out next. It is
// a hint: where it has no effect, nothing else changes.
func wantHugePages() {
	const page = 2 << 20
	// A collection that this allocation begins might find it in use yet, and the
	// next one would wait until there is as much again.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	b := make([]byte, hugeHeap) // never touched, so the system backs none of it yet
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % page
	_ = unix.Madvise(b[skip:skip+(hugeHeap-skip)/page*page], unix.MADV_HUGEPAGE)
	runtime.KeepAlive(b)
}

// addressesRationed tells whether memory counts before it is used: under a limit
// of the process (ulimit -v), or of a system that promises no more than it has.
func addressesRationed() bool {
	var space unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &space); err != nil || space.Cur != unix.RLIM_INFINITY {
		return true
	}
	mode, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && bytes.HasPrefix(mode, []byte("2"))
}
