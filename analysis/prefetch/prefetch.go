// Package prefetch asks the processor for cache lines ahead of their use.
//
// With thousands of connections hardly a line that a packet touches is near,
// and a read that misses holds up everything behind it. A prefetch doesn't: it
// is done with as soon as it is asked for. It can't fail either, whatever the
// address.
package prefetch

import "unsafe"

// List gathers addresses, to ask for them in one call: each costs about as much
// as the asking. The zero value is empty.
type List struct {
	n  int
	at [room]uintptr
}

const room = 256

// Add puts the line that p points into on the list, unless it is full.
func (l *List) Add(p unsafe.Pointer) {
	if l.n < room {
		l.at[l.n] = uintptr(p)
		l.n++
	}
}

// Fetch asks for what is on the list and empties it.
func (l *List) Fetch() {
	lines(&l.at[0], l.n)
	l.n = 0
}
