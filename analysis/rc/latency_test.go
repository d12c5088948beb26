package rc

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// direct computes message latencies from the packets alone, with the whole
// capture in memory: first sighting of a message's first packet to the first
// response that covers its last one.
func direct(c *capture, toB, toA roce.QPN) (lat []int64) {
	type cover struct {
		time int64
		psn  roce.PSN
	}
	first := map[roce.PSN]int64{}
	last := map[roce.PSN]roce.PSN{} // FIRST or ONLY → LAST
	var open roce.PSN
	psns := map[roce.PSN]roce.Opcode{}
	var covers []cover
	for i := range c.packets {
		p := &c.packets[i]
		h := &p.RoCE
		if !p.Kind.IsRoCE() || !p.Has(wire.FlagBTH) || p.ICRC == roce.ICRCBad {
			continue
		}
		switch {
		case h.BTH.DestQP == toB && !h.BTH.Opcode.IsResponse():
			if _, ok := first[h.BTH.PSN]; !ok {
				first[h.BTH.PSN], psns[h.BTH.PSN] = p.Time, h.BTH.Opcode
			}
		case h.BTH.DestQP == toA && h.BTH.Opcode.IsResponse():
			c := h.BTH.PSN
			if h.AETH.Syndrome.Kind() == roce.SyndromeACK {
				c = c.Add(1)
			}
			if len(covers) == 0 || c.After(covers[len(covers)-1].psn) {
				covers = append(covers, cover{p.Time, c})
			}
		}
	}
	var all []roce.PSN
	for p := range psns {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b roce.PSN) int { return int(a.Sub(b)) })
	for _, p := range all {
		f := psns[p].Flags()
		if f.Has(roce.FlagStart) {
			open = p
		}
		if f.Has(roce.FlagEnd) {
			last[open] = p
		}
	}
	for f, l := range last {
		for _, c := range covers {
			if c.psn.After(l) {
				lat = append(lat, c.time-first[f])
				break
			}
		}
	}
	slices.Sort(lat)
	return lat
}

// TestJitterLatency judges the message latencies of the capture in which
// nearly every packet is out of order.
func TestJitterLatency(t *testing.T) {
	c := loadCapture(t, filepath.Join(sharedDir(t), "captures", "rxe_write_delay_jitter.pcap.gz"))
	want := direct(c, 38, 31)
	res := newFeeder(Options{}).run(c)
	got, _ := figuresBy(res)
	m := got["10.77.0.1>10.77.0.2/38"].Latency[LatencyMessage]
	require.NotNil(t, m)
	assert.EqualValues(t, len(want), m.Count)
	assert.Equal(t, want[0], m.MinNS)
	assert.Equal(t, want[len(want)-1], m.MaxNS)
	for q, v := range map[int]int64{500: m.P50NS, 900: m.P90NS, 990: m.P99NS, 999: m.P999NS} {
		assert.InEpsilon(t, exactRank(want, q), v, 0.01, "q=%d", q)
	}
}

// exactRank is the nearest-rank quantile of sorted values.
func exactRank(v []int64, permille int) int64 {
	n := (len(v)*permille + 999) / 1000
	return v[max(n, 1)-1]
}
