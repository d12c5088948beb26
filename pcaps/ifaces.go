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
}

// claim gives the global index for interface d of section s, whose records
// start at time first. Where a section that ended before then had the same
// interface (a ring of files, pcapng files put together by cat), its index is
// taken over, so that connections go on across the border.
func (t *ifaceTable) claim(s *section, d Interface, first int64) (uint16, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		e, o := &t.list[i], t.owner[i]
		if o.ended && o.last <= first && e.ID == d.ID && e.Link == d.Link && e.Name == d.Name {
			t.owner[i] = s
			return uint16(i), nil
		}
	}
	if len(t.list) == maxInterfaces {
		return 0, fmt.Errorf("more than %s interfaces", comma(maxInterfaces))
	}
	d.Input = s.input
	t.list = append(t.list, d)
	t.owner = append(t.owner, s)
	return uint16(len(t.list) - 1), nil
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
