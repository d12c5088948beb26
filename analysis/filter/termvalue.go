package filter

import (
	"bytes"
	"math"
	"math/bits"

	"rdmascope/decode/wire"
)

// value is what the terms compute with that expr runs. expr's own integers are
// Go's int, in which a virtual address of a kernel is negative and a sum wraps
// in silence; these have a sign and 64 bits beside it.
type value struct {
	s   *scratch // where results of it go; nil for a constant
	num num      // an address or a time; the magnitude of an integer in lo
	neg bool     // of the integer; never of 0
	f   float64
	b   []byte // text or octets
}

// scratch is where the operators of one term put their results, so that nothing
// is allocated for a packet. It is filled anew for every combination of values.
type scratch struct {
	regs   []value // one for each operator of the term
	used   int
	bytes  []byte
	failed bool // an operator has no result: a division by 0, an overflow, a slice beyond the end
}

// maxJoined bounds what a slice of several parts may copy: a frame's length.
const maxJoined = 262144

func (s *scratch) reset() { s.used, s.bytes, s.failed = 0, s.bytes[:0], false }

// result is room for what an operator gives.
func (s *scratch) result() *value {
	v := &s.regs[s.used]
	*v = value{s: s}
	s.used++
	return v
}

// fail is the result of an operator that has none. The term then drops this
// combination of values, as Wireshark does.
func (s *scratch) fail() *value {
	s.failed = true
	return s.result()
}

// home is the scratch of two operands, of which one may be a constant.
func home(a, b *value) *scratch {
	if a.s != nil {
		return a.s
	}
	return b.s
}

func integer(lo uint64, neg bool) value { return value{num: num{0, lo}, neg: neg && lo != 0} }

func signed(v int64) value {
	if v < 0 {
		return integer(-uint64(v), true)
	}
	return integer(uint64(v), false)
}

// key is the value as a number that has the order of values.
func (v *value) key(t Type) num {
	switch {
	case t == TypeFloat:
		return floatNum(v.f)
	case !t.counts():
		return v.num
	case v.neg:
		return num{0, ^v.num.lo}
	}
	return num{1, v.num.lo}
}

// of reads the value of a field.
func (v *value) of(t Type, n num) {
	switch t {
	case TypeFloat:
		v.f = n.float()
	case TypeInt, TypeEpoch, TypeDuration:
		w := signed(n.int())
		v.num, v.neg = w.num, w.neg
	default:
		v.num = n
	}
}

// plain is the value as fields of a type have it; ok is false where none can.
func (v *value) plain(t Type) (n num, ok bool) {
	switch t {
	case TypeUint:
		return v.num, !v.neg
	case TypeFloat:
		return floatNum(v.f), true
	case TypeInt, TypeEpoch, TypeDuration:
		if v.num.lo >= sign {
			return num{}, false
		}
		i := int64(v.num.lo)
		if v.neg {
			i = -i
		}
		return intNum(i), true
	}
	return num{}, false
}

// counts tells the types whose values are integers: counts, and times in
// nanoseconds.
func (t Type) counts() bool {
	return t == TypeUint || t == TypeInt || t == TypeBool || t == TypeEpoch || t == TypeDuration
}

// The operators. Their results are exact or there is none.

func addInts(a, b *value) (value, bool)      { return addSigned(a, b.num.lo, b.neg) }
func subtractInts(a, b *value) (value, bool) { return addSigned(a, b.num.lo, !b.neg) }

func addSigned(a *value, lo uint64, neg bool) (value, bool) {
	switch {
	case a.neg == neg:
		sum, carry := bits.Add64(a.num.lo, lo, 0)
		return integer(sum, neg), carry == 0
	case a.num.lo >= lo:
		return integer(a.num.lo-lo, a.neg), true
	}
	return integer(lo-a.num.lo, neg), true
}

func multiplyInts(a, b *value) (value, bool) {
	hi, lo := bits.Mul64(a.num.lo, b.num.lo)
	return integer(lo, a.neg != b.neg), hi == 0
}

// divideInts rounds to 0, and what is left has the sign of the dividend: C's
// rules, and so Wireshark's.
func divideInts(a, b *value) (value, bool) {
	if b.num.lo == 0 {
		return value{}, false
	}
	return integer(a.num.lo/b.num.lo, a.neg != b.neg), true
}

func remainderInts(a, b *value) (value, bool) {
	if b.num.lo == 0 {
		return value{}, false
	}
	return integer(a.num.lo%b.num.lo, a.neg), true
}

// andInts takes negative numbers as two's complement of 64 bits.
func andInts(a, b *value) (value, bool) {
	x, ok := complement(a)
	y, fits := complement(b)
	if a.neg && b.neg {
		return integer(-(x & y), true), ok && fits
	}
	return integer(x&y, false), ok && fits
}

func complement(v *value) (uint64, bool) {
	if v.neg {
		return -v.num.lo, v.num.lo <= sign
	}
	return v.num.lo, true
}

func finite(f float64) (value, bool) { return value{f: f + 0}, !math.IsInf(f, 0) && !math.IsNaN(f) }

func addFloats(a, b *value) (value, bool)      { return finite(a.f + b.f) }
func subtractFloats(a, b *value) (value, bool) { return finite(a.f - b.f) }
func multiplyFloats(a, b *value) (value, bool) { return finite(a.f * b.f) }
func divideFloats(a, b *value) (value, bool)   { return finite(a.f / b.f) }

// andOctets is octet by octet; Wireshark lets the longer one have the length of
// the shorter one.
func andOctets(a, b *value) (value, bool) {
	s, n := home(a, b), min(len(a.b), len(b.b))
	from := len(s.bytes)
	for i := range n {
		s.bytes = append(s.bytes, a.b[i]&b.b[i])
	}
	return value{b: s.bytes[from:]}, n > 0
}

func negate(a *value) (value, bool) {
	return value{num: a.num, neg: !a.neg && a.num.lo != 0, f: -a.f + 0}, true
}

func absolute(a *value) (value, bool) { return value{num: a.num, f: math.Abs(a.f)}, true }

func toFloat(a *value) (value, bool) {
	f := float64(a.num.lo)
	if a.neg {
		f = -f
	}
	return value{f: f}, true
}

func length(a *value) (value, bool) { return integer(uint64(len(a.b)), false), true }

// mapped gives text with every octet changed: only ASCII has small and capital
// letters to Wireshark.
func mapped(a *value, f func(byte) byte) (value, bool) {
	from := len(a.s.bytes)
	for _, c := range a.b {
		a.s.bytes = append(a.s.bytes, f(c))
	}
	return value{b: a.s.bytes[from:]}, true
}

func upper(a *value) (value, bool) {
	return mapped(a, func(c byte) byte {
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		return c
	})
}

func lower(a *value) (value, bool) {
	return mapped(a, func(c byte) byte {
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		return c
	})
}

// written gives a value as text.
func written(a *value, t Type) (value, bool) {
	s := a.s
	from := len(s.bytes)
	switch t {
	case TypeUint, TypeInt:
		if a.neg {
			s.bytes = append(s.bytes, '-')
		}
		s.bytes = appendNum(s.bytes, TypeUint, 0, a.num)
	case TypeFloat:
		s.bytes = appendNum(s.bytes, TypeFloat, 0, floatNum(a.f))
	case TypeIP:
		s.bytes = append(s.bytes, wire.Addr{Hi: a.num.hi, Lo: a.num.lo}.String()...)
	default:
		s.bytes = appendNum(s.bytes, t, 0, a.num)
	}
	return value{b: s.bytes[from:]}, true
}

// nonzero tells whether a bit is set.
func nonzero(a *value) bool {
	return a.num.lo != 0 || len(bytes.TrimLeft(a.b, "\x00")) > 0
}
