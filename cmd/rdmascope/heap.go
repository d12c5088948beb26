package main

// reserve counts as memory in use, though nothing is ever in it, so the system
// backs none of it: the collector lets as much garbage lie before it begins as
// memory is in use. Small heaps double within milliseconds, and each time it
// would look through the connections, which are few yet and nearly all alive.
var reserve []byte

// reserveBytes is worth it up to some ten thousand connections, whose heap
// doesn't grow by more than this.
const reserveBytes = 64 << 20

// beginAnalysis prepares the heap for an analysis, unless memory counts before it
// is used.
func beginAnalysis() {
	if addressesRationed() {
		return
	}
	wantHugePages() // first: what comes next lies behind what it asks for
	reserve = make([]byte, reserveBytes)
}
