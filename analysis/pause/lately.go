package pause

import (
	"math"

	"rdmascope/decode/wire"
)

// lately is what every data packet asks of a row. Rows take hundreds of octets
// each; these lie side by side.
type lately struct {
	over    int64  // ns from which on the newest interval is over, as far as is known
	version uint64 // another one after every change, never the same of two rows
	mac     wire.MAC
}

// changed notes that something was booked in a row, or that it is new.
func (t *Timeline) changed(r *row) {
	t.version++
	l := lately{over: math.MinInt64, version: t.version, mac: r.key.MAC}
	if v := r.ring.last(); v != nil {
		l.over = v.end.ns
		if v.end.ps > 0 {
			l.over++
		}
	}
	t.lately[r.place] = l
}
