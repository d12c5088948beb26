package filter

import (
	"cmp"
	"math"
	"math/bits"
)

// Type is what a field holds, and so what it may be compared with.
type Type uint8

// Types. All but TypeNone, TypeText and TypeBytes are numbers to the compiler.
const (
	TypeNone     Type = iota // a header: it is there or it isn't
	TypeUint                 // an unsigned number
	TypeInt                  // a number
	TypeBool                 // 0 or 1
	TypeFloat                // a number with decimals
	TypeMAC                  // an Ethernet address
	TypeIPv4                 // an IPv4 address
	TypeIPv6                 // an IPv6 address or a GID
	TypeIP                   // an address of either family
	TypeTime                 // a moment
	TypeEpoch                // seconds since 1970
	TypeDuration             // seconds
	TypeText                 // text
	TypeBytes                // octets
)

var typeNames = [...]string{"header", "unsigned", "integer", "boolean", "decimal", "MAC address", "IPv4 address", "IPv6 address", "IP address",
	"time", "seconds since 1970", "seconds", "text", "octets"}

// String names the type as `rdmascope fields` prints it.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "invalid"
}

func (t Type) numeric() bool { return t != TypeNone && t != TypeText && t != TypeBytes }

// num is any value that has an order, as an unsigned number of 128 bits: MAC
// and IP addresses, counts, and what is signed or has decimals under a mapping
// that keeps the order.
type num struct{ hi, lo uint64 }

var maxNum = num{math.MaxUint64, math.MaxUint64}

func uintNum(v uint64) num { return num{0, v} }

const sign = 1 << 63

// intNum keeps the order of signed numbers.
func intNum(v int64) num { return num{0, uint64(v) ^ sign} }

func (n num) int() int64 { return int64(n.lo ^ sign) }

// floatNum keeps the order of decimals: IEEE 754's bits are ordered like
// integers, those of negative numbers backwards.
func floatNum(v float64) num {
	b := math.Float64bits(v)
	if b&sign != 0 {
		return num{0, ^b}
	}
	return num{0, b | sign}
}

func (n num) float() float64 {
	if n.lo&sign != 0 {
		return math.Float64frombits(n.lo &^ sign)
	}
	return math.Float64frombits(^n.lo)
}

func boolNum(v bool) num {
	if v {
		return num{0, 1}
	}
	return num{}
}

func (n num) less(o num) bool { return n.hi < o.hi || n.hi == o.hi && n.lo < o.lo }

func (n num) compare(o num) int {
	if c := cmp.Compare(n.hi, o.hi); c != 0 {
		return c
	}
	return cmp.Compare(n.lo, o.lo)
}

// next and prev are the neighbours; ok is false at the ends.
func (n num) next() (num, bool) {
	lo, carry := bits.Add64(n.lo, 1, 0)
	hi, carry := bits.Add64(n.hi, 0, carry)
	return num{hi, lo}, carry == 0
}

func (n num) prev() (num, bool) {
	lo, borrow := bits.Sub64(n.lo, 1, 0)
	hi, borrow := bits.Sub64(n.hi, 0, borrow)
	return num{hi, lo}, borrow == 0
}

// span is the values from lo to hi, both included.
type span struct{ lo, hi num }

func (s span) has(v num) bool { return !v.less(s.lo) && !s.hi.less(v) }

// block is the addresses of which all but the last free bits are those of n.
func block(n num, free int) span {
	mask := num{0, 0}
	switch {
	case free >= 128:
		mask = maxNum
	case free > 64:
		mask = num{1<<(free-64) - 1, math.MaxUint64}
	case free == 64:
		mask.lo = math.MaxUint64
	case free > 0:
		mask.lo = 1<<free - 1
	}
	return span{num{n.hi &^ mask.hi, n.lo &^ mask.lo}, num{n.hi | mask.hi, n.lo | mask.lo}}
}
