package analysis

import (
	"unsafe"

	"rdmascope/decode/wire"
)

// arena makes the small things that connections point to. A figure that may be
// null is a pointer, a flow has some thirty of them, and each would be an
// allocation of its own; an arena hands out the places of chunks. What was handed
// out is never taken back: a chunk lives as long as anything in it is pointed to,
// which is why chunks are small, and bigger things come from none. It belongs to
// one goroutine.
type arena struct {
	reasons

	ints      []int64
	decimals  []Decimal
	bools     []bool
	latencies []Latency
	naks      []Naks
	episodes  []Episodes
	lost      []EpisodesLost

	addresses map[wire.Addr]string
	macs      map[wire.MAC]Text
}

// chunkBytes is how much one allocation of an arena takes.
const chunkBytes = 1 << 10

// take returns n places of a chunk, and none behind them to append to.
func take[T any](chunk *[]T, n int) []T {
	if len(*chunk) < n {
		var one T
		*chunk = make([]T, max(n, chunkBytes/int(unsafe.Sizeof(one))))
	}
	places := (*chunk)[:n:n]
	*chunk = (*chunk)[n:]
	return places
}

// place puts a value into a place of a chunk.
func place[T any](chunk *[]T, v T) *T {
	p := &take(chunk, 1)[0]
	*p = v
	return p
}

// int gives a nullable figure that is known, as Int does.
func (a *arena) int(v int64) *int64 { return place(&a.ints, v) }

func (a *arena) bool(v bool) *bool { return place(&a.bools, v) }

func (a *arena) decimal(v Decimal) *Decimal { return place(&a.decimals, v) }

// quotient is Quotient.
func (a *arena) quotient(part, whole int64) *Decimal {
	if whole == 0 {
		return nil
	}
	return a.decimal(Decimal(float64(part) / float64(whole)))
}

// known is a figure of which -1 means unknown.
func (a *arena) known(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return a.int(v)
}

// list is an empty list with room for n values.
func (a *arena) list(n int) List[int64] {
	if n == 0 {
		return nil
	}
	return take(&a.ints, n)[:0]
}

// address is an address in words: many connections of a partition have the same
// few.
func (a *arena) address(addr wire.Addr) string {
	s, ok := a.addresses[addr]
	if !ok {
		s = addr.String()
		if a.addresses == nil {
			a.addresses = map[wire.Addr]string{}
		}
		a.addresses[addr] = s
	}
	return s
}

// mac is a MAC address in words.
func (a *arena) mac(m wire.MAC) Text {
	s, ok := a.macs[m]
	if !ok {
		s = Text(m.String())
		if a.macs == nil {
			a.macs = map[wire.MAC]Text{}
		}
		a.macs[m] = s
	}
	return s
}
