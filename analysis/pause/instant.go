package pause

import (
	"math"

	"rdmascope/decode/pfc"
)

// instant is a time with picoseconds: frames carry nanoseconds, but pauses end
// between them.
type instant struct {
	ns int64
	ps int16 // 0…999
}

// add returns t plus d picoseconds, d ≥ 0.
func (t instant) add(d int64) instant {
	ns, ps := d/1000, t.ps+int16(d%1000)
	if ps >= 1000 {
		ps -= 1000
		ns++
	}
	if t.ns > math.MaxInt64-ns {
		return instant{ns: math.MaxInt64}
	}
	return instant{t.ns + ns, ps}
}

// sub returns t less u in picoseconds, which saturates after 106 days.
func (t instant) sub(u instant) int64 {
	ns := t.ns - u.ns
	const most = math.MaxInt64/1000 - 1
	switch {
	case ns > most:
		return math.MaxInt64
	case ns < -most:
		return math.MinInt64
	}
	return ns*1000 + int64(t.ps) - int64(u.ps)
}

func (t instant) before(u instant) bool {
	return t.ns < u.ns || t.ns == u.ns && t.ps < u.ps
}

func minInstant(a, b instant) instant {
	if b.before(a) {
		return b
	}
	return a
}

// at is the instant of a frame's time.
func at(ns int64) instant { return instant{ns: ns} }

// total is a sum of durations: picoseconds alone would overflow on a probe
// that runs for months.
type total struct {
	ns int64
	ps int64 // 0…999
}

func (t *total) add(ps int64) {
	t.ns += ps / 1000
	if t.ps += ps % 1000; t.ps >= 1000 {
		t.ps -= 1000
		t.ns++
	}
}

// nanoseconds rounds to the nearest.
func (t total) nanoseconds() int64 { return t.ns + (t.ps+500)/1000 }

// roundNS rounds picoseconds to the nearest nanosecond.
func roundNS(ps int64) int64 { return (ps + 500) / 1000 }

// allowanceQuanta is how long a sender may take to heed a pause (802.1Qbb and
// 802.3: 60 quanta at 10G, 118 at 40G, 394 at 100G).
func allowanceQuanta(bps uint64) pfc.Quanta {
	switch {
	case bps >= 100e9:
		return 394
	case bps >= 25e9:
		return 118
	}
	return 60
}

// frameQuanta is the time of the frame that may already have begun, a jumbo
// one of 9000 octets, rounded up to whole quanta.
const frameQuanta = (9000*8 + pfc.QuantumBits - 1) / pfc.QuantumBits

// AllowanceNS is how long after a pause began data frames are still excused:
// the response time and one maximal frame, rounded up.
func AllowanceNS(bps uint64) int64 {
	return ((allowanceQuanta(bps) + frameQuanta).Picoseconds(bps) + 999) / 1000
}
