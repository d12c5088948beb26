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

	addresses recent[wire.Addr, string]
	macs      recent[wire.MAC, Text]
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

// recent keeps the newest few words: those of one connection's ends are asked for
// again and again.
type recent[K comparable, V any] struct {
	keys  [4]K
	words [4]V
	n     int
}

func (r *recent[K, V]) word(key K, of func(K) V) V {
	for i := range min(r.n, len(r.keys)) {
		if r.keys[i] == key {
			return r.words[i]
		}
	}
	i := r.n % len(r.keys)
	r.keys[i], r.words[i] = key, of(key)
	r.n++
	return r.words[i]
}

// address is an address in words.
func (a *arena) address(addr wire.Addr) string { return a.addresses.word(addr, wire.Addr.String) }

// mac is a MAC address in words.
func (a *arena) mac(m wire.MAC) Text {
	return a.macs.word(m, func(m wire.MAC) Text { return Text(m.String()) })
}
