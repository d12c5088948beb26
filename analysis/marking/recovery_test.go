package marking

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// sawtooth sends packets of 1000 octets of payload at a rate that each CNP cuts
// to a share of what it is, 10 µs later, and that then rises by a constant slope
// up to full: what the tracker has to find out. Rates are in bit/s, slopes in
// bit/s per ms.
func sawtooth(full, share, slope float64, every int64, cnps int) *Throttle {
	f := newFeed(Options{})
	there, back := host(1, 2, 0)
	const bits = 8 * (14 + 20 + 8 + 12 + 16 + 1000 + 4) // of a WRITE ONLY's frame
	rate, cut, next := full, int64(1<<62), every
	at := 0.0
	for sent := 0; sent < cnps; {
		now := int64(at)
		f.data(now, 0, there, tosCE)
		if now >= next {
			f.cnp(now+1, 1, back)
			cut, next = now+10*us, next+every
			sent++
		}
		if now >= cut {
			rate, cut = rate*share, 1<<62
		}
		step := bits / rate * 1e9
		rate = min(full, rate+slope*step/1e6)
		at += step
	}
	return f.tr.Result(f.last, xor1).Flow(0).Throttle
}

// TestRecovery: slope and time of a sender that comes back in time, of one that
// doesn't before the next CNP, and of those of which nothing can be told.
func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		name               string
		full, share, slope float64
		every              int64
		cnps               int
		want               int64 // slope
		back               int64 // time until 95 % of the rate
		not                string
	}{
		// Half of 10 Gbit/s is missing, 4.5 of them come back at 5 a millisecond: 900 µs after the cut.
		{name: "back in time", full: 10e9, share: 0.5, slope: 5e9, every: 2000 * us, cnps: 30, want: 5e9, back: 910 * us},
		{name: "steeply", full: 10e9, share: 0.2, slope: 30e9, every: 2000 * us, cnps: 30, want: 30e9, back: 260 * us},
		{name: "not before the next", full: 40e9, share: 0.9, slope: 1e9, every: 1000 * us, cnps: 8, want: 1e9},
		{name: "CNPs too near", full: 40e9, share: 0.5, slope: 5e9, every: 100 * us, cnps: 6, not: "short"},
		{name: "deaf", full: 10e9, share: 1, slope: 1e9, every: 2000 * us, cnps: 30, not: "uncut"},
		{name: "too slow to tell", full: 0.3e9, share: 0.3, slope: 0.1e9, every: 2000 * us, cnps: 30, not: "coarse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			th := sawtooth(c.full, c.share, c.slope, c.every, c.cnps)
			most := int64(c.cnps) * 3 / 4
			if c.want == 0 {
				assert.Zero(t, th.RecoverySamples)
				got := map[string]int64{"uncut": th.NotCut, "short": th.TooSoon, "coarse": th.TooFew}
				assert.GreaterOrEqual(t, got[c.not], most, "%+v", th)
				return
			}
			assert.GreaterOrEqual(t, th.RecoverySamples, most)
			assert.InEpsilon(t, c.want, th.RecoveryBpsPerMS, 0.1, "%+v", th)
			if c.back == 0 {
				assert.Zero(t, th.Recovered)
				return
			}
			assert.GreaterOrEqual(t, th.Recovered, most)
			assert.InDelta(t, c.back, th.RecoveryNS, float64(60*us), "to a window")
		})
	}
}
