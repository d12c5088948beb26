package pcaps

import (
	"math"
	"math/bits"
)

// tsUnit turns the 64-bit times of a pcapng interface into nanoseconds.
// draft-ietf-opsawg-pcapng §4.2: if_tsresol is 10^-n, or 2^-n with its high
// bit set; if_tsoffset adds whole seconds.
type tsUnit struct {
	perSecond uint64 // units in a second; 0: power of two
	mul       uint64 // ns in a unit where that is whole, else 0
	shift     uint   // n of 2^-n
	div       uint64 // units in a ns, where a second has more than 2^64 units
	offset    int64  // seconds
}

const tsPowerOfTwo = 0x80

func newTSUnit(resol byte, offset int64) tsUnit {
	u := tsUnit{offset: offset}
	n := uint(resol &^ tsPowerOfTwo)
	switch {
	case resol&tsPowerOfTwo != 0:
		u.shift = n
	case n <= 9:
		u.perSecond, u.mul = pow10(n), pow10(9-n)
	case n <= 19:
		u.perSecond = pow10(n)
	case n-9 <= 19:
		u.div = pow10(n - 9)
	default:
		u.div = math.MaxUint64 // finer than a file can count: all is 0 ns
	}
	return u
}

func pow10(n uint) uint64 {
	p := uint64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// finer says whether the unit is finer than a microsecond.
func (u *tsUnit) finer() bool {
	if u.perSecond != 0 {
		return u.perSecond > 1e6
	}
	return u.div != 0 || u.shift > 19 // 2^19 < 10^6 < 2^20
}

// ns is the time of ts units, saturating where an int64 cannot hold it.
func (u *tsUnit) ns(ts uint64) int64 {
	if u.mul != 0 && u.offset == 0 {
		if hi, lo := bits.Mul64(ts, u.mul); hi == 0 && lo <= math.MaxInt64 {
			return int64(lo)
		}
		return math.MaxInt64
	}
	var sec, frac uint64 // frac in ns
	switch {
	case u.perSecond != 0:
		sec = ts / u.perSecond
		hi, lo := bits.Mul64(ts%u.perSecond, 1e9)
		frac, _ = bits.Div64(hi, lo, u.perSecond)
	case u.div != 0:
		frac = ts / u.div
	case u.shift < 64:
		sec = ts >> u.shift
		hi, lo := bits.Mul64(ts&(1<<u.shift-1), 1e9)
		frac = hi<<(64-u.shift) | lo>>u.shift
	default: // hi is below 2^30, so nothing is left past 2^-94
		hi, _ := bits.Mul64(ts, 1e9)
		frac = hi >> (u.shift - 64)
	}
	return secondsAndNanos(sec, u.offset, frac)
}

func secondsAndNanos(sec uint64, offset int64, frac uint64) int64 {
	const most int64 = math.MaxInt64/1_000_000_000 - 1 // leaves room for frac
	if sec > math.MaxInt64 {
		return math.MaxInt64
	}
	s := int64(sec)
	switch {
	case offset > 0 && s > most-min(offset, most):
		return math.MaxInt64
	case offset < 0 && s+offset < -most: // s ≥ 0: no overflow
		return math.MinInt64
	case s+offset > most:
		return math.MaxInt64
	}
	return (s+offset)*1e9 + int64(frac)
}
