package pause

import "sort"

// Endings of a pause interval.
const (
	endOpen   uint8 = iota // still paused as far as is known
	endXON                 // released
	endExpiry              // its time ran out
)

// interval is one pause of a row: from the frame that began it, over all
// refreshes, to its end.
type interval struct {
	start  int64
	end    instant // expiry as known so far, then the true end
	packet int64   // the frame that began it
	frames int32   // XOFF frames and the XON that ended it
	ending uint8
}

func (v *interval) length() int64 { return v.end.sub(at(v.start)) }

// ring keeps the newest intervals of a row. They are numbered from 0 over the
// row's life, so that a Traffic can speak of them.
type ring struct {
	slots []interval // length a power of two
	next  int64      // number of the next interval
}

// minSlots is what every row gets, whatever the budget.
const minSlots = 16

func (r *ring) first() int64 { return max(0, r.next-int64(len(r.slots))) }

// get returns interval n, first() ≤ n < next.
func (r *ring) get(n int64) *interval { return &r.slots[int(n)&(len(r.slots)-1)] }

// last returns the newest interval, nil when there is none.
func (r *ring) last() *interval {
	if r.next == 0 {
		return nil
	}
	return r.get(r.next - 1)
}

// from returns the number of the first interval that begins at t or later.
func (r *ring) from(t int64) int64 {
	first := r.first()
	return first + int64(sort.Search(int(r.next-first), func(k int) bool { return r.get(first+int64(k)).start >= t }))
}

// push appends an interval. The ring doubles while the budget of slots, shared
// by all rows, lasts; then the oldest interval falls out.
func (r *ring) push(v interval, budget *int) (dropped bool) {
	if r.next-r.first() == int64(len(r.slots)) && len(r.slots) < maxSlots {
		n := max(minSlots, 2*len(r.slots))
		if n == minSlots || *budget >= n-len(r.slots) {
			*budget -= n - len(r.slots)
			slots := make([]interval, n)
			for k := r.first(); k < r.next; k++ {
				slots[int(k)&(n-1)] = *r.get(k)
			}
			r.slots = slots
		}
	}
	dropped = r.next >= int64(len(r.slots))
	r.next++
	*r.get(r.next - 1) = v
	return dropped
}

// maxSlots bounds one row, slotBudget all of them (40 octets each).
const (
	maxSlots   = 1 << 15
	slotBudget = 1 << 17
)
