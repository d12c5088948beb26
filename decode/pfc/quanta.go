package pfc

import (
	"math"
	"math/bits"
	"time"
)

// QuantumBits is the length of one pause quantum in bit times (IEEE 802.3
// annex 31B.2).
const QuantumBits = 512

// Quanta is a pause time in units of 512 bit times at the rate of the link. The
// rate is not in the frame.
type Quanta uint16

// BitTimes returns the pause in bit times, exact at any rate.
func (q Quanta) BitTimes() uint64 { return uint64(q) * QuantumBits }

// Picoseconds returns the pause on a link of linkBps bits per second. It is
// exact at every Ethernet rate from 10 Mb/s to 1.6 Tb/s (a quantum at 800 Gb/s
// is 640 ps) and rounded down at others. It is 0 when the rate is unknown (0).
func (q Quanta) Picoseconds(linkBps uint64) int64 { return q.scale(1e12, linkBps) }

// Duration returns the pause on a link of linkBps bits per second, rounded down
// to nanoseconds; 0 when the rate is unknown (0). Sums and unions of pauses
// belong in picoseconds: one quantum at 800 Gb/s is no nanosecond.
func (q Quanta) Duration(linkBps uint64) time.Duration {
	return time.Duration(q.scale(1e9, linkBps))
}

// scale converts to units of 1/perSecond seconds; 65535 quanta in picoseconds
// need 65 bits before the division.
func (q Quanta) scale(perSecond, linkBps uint64) int64 {
	if linkBps == 0 {
		return 0
	}
	hi, lo := bits.Mul64(q.BitTimes(), perSecond)
	if hi >= linkBps {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, linkBps)
	return int64(min(n, math.MaxInt64))
}
