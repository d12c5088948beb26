package roce

import (
	"math"
	"time"
)

// TimeoutInfinite is what AckTimeout returns for exponent 0: the timer is off.
const TimeoutInfinite time.Duration = math.MaxInt64

// AckTimeout returns 4.096 µs · 2^exponent, the local ACK timeout and the CM
// response timeout as they are coded in 5 bits (IBTA 9.7.6.1.3, 12.7.22). 0
// switches the timer off: TimeoutInfinite. A sender may fire as late as four
// times the value. Only bits 4:0 count.
func AckTimeout(exponent uint8) time.Duration {
	exponent &= 0x1f
	if exponent == 0 {
		return TimeoutInfinite
	}
	return 4096 * time.Nanosecond << exponent
}

// RNRRetryInfinite is the RNR retry count that means: without end (IBTA
// 9.7.5.2.8).
const RNRRetryInfinite = 7

// MTU is a path MTU as CM codes it (IBTA 12.7.15, 14.2.5.6).
type MTU uint8

// Bytes returns the size, 0 for reserved codes.
func (m MTU) Bytes() int {
	if m < 1 || m > 5 {
		return 0
	}
	return 128 << m
}

// MTUFromBytes returns the code of a path MTU; ok is false for a size that no
// path has.
func MTUFromBytes(n int) (m MTU, ok bool) {
	for m = 1; m <= 5; m++ {
		if m.Bytes() == n {
			return m, true
		}
	}
	return 0, false
}
