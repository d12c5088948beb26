package pcaps

import (
	"fmt"
	"slices"
	"sync"
)

// section is the life of a set of interfaces: a pcapng section, or a whole
// file of the other formats.
type section struct {
	input int
	last  int64 // time of its last record
	ended bool
}

// ifaceTable numbers the interfaces of all inputs.
type ifaceTable struct {
	mu    sync.Mutex
	list  []Interface
	owner []*section // who feeds each interface now
	same  map[ifaceKey][]uint16
}

// ifaceKey is what makes two interfaces of different sections the same one.
type ifaceKey struct {
	id   int
	link uint16
	name string
}

// maxSame bounds how many interfaces of one key are tried: files of as many
// places may be merged that look the same. A hostile file has more.
const maxSame = 64

// claim gives the global index for interface d of section s, whose records
// start at time first. Where a section that ended before then had the same
// interface (a ring of files, pcapng files put together by cat), its index is
// taken over, so that connections go on across the border.
func (t *ifaceTable) claim(s *section, d Interface, first int64) (uint16, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := ifaceKey{d.ID, d.Link, d.Name}
	for _, i := range t.same[key] {
		if o := t.owner[i]; o.ended && o.last <= first {
			t.owner[i] = s
			return i, nil
		}
	}
	if len(t.list) == maxInterfaces {
		return 0, fmt.Errorf("more than %s interfaces", comma(maxInterfaces))
	}
	d.Input = s.input
	t.list = append(t.list, d)
	t.owner = append(t.owner, s)
	i := uint16(len(t.list) - 1)
	if t.same == nil {
		t.same = map[ifaceKey][]uint16{}
	}
	if len(t.same[key]) < maxSame {
		t.same[key] = append(t.same[key], i)
	}
	return i, nil
}

// stats notes an interface's counters. They count from the start of the
// capture, in every file of a ring too, so the newest stands.
func (t *ifaceTable) stats(i uint16, received, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if received >= 0 {
		t.list[i].Received = received
	}
	if dropped >= 0 {
		t.list[i].Dropped = dropped
	}
}

func (t *ifaceTable) all() []Interface {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}
