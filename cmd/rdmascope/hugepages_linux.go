package main

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeHeap is how much of the heap is asked for in huge pages: room for a few
// thousand connections, and never more resident than is used.
const hugeHeap = 64 << 20

// wantHugePages has the first of the heap backed by huge pages where the system
// grants them on request (transparent_hugepage/enabled is madvise). The states of
// some thousand connections, touched at random, are more pages than a processor
// has translations at hand, and each page costs a fault when it is touched first:
// 15 % of the time of a whole analysis. The runtime takes memory by address, so
// what was allocated here and given back at once is what it hands out next. It is
// a hint: where it has no effect, nothing else changes. Where address space is
// rationed (ulimit -v) it isn't spent on hints.
func wantHugePages() {
	var space unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &space); err != nil || space.Cur != unix.RLIM_INFINITY {
		return
	}
	const page = 2 << 20
	b := make([]byte, hugeHeap) // never touched, so the system backs none of it yet
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % page
	_ = unix.Madvise(b[skip:skip+(hugeHeap-skip)/page*page], unix.MADV_HUGEPAGE)
	runtime.KeepAlive(b)
}
