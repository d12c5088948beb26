package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fitting is a RoCE flow that lost 10 of 1,000, 16 in flight, 100 µs away: 1 Mbit
// of payload in 10 ms.
func fitting() *Snapshot {
	fl := Flow{SrcIP: "10.0.0.1", DstIP: "10.0.0.2", Packets: 996, PayloadBytes: 125_000, LostUpstream: Int(6), LostDownstream: Int(4),
		Duplicates: Int(2), MaxOutstanding: Int(16), PathMTUBytes: Int(1024), Latency: Latencies{Ack: &Latency{Count: 9, P50NS: 100_000}}}
	return &Snapshot{Connections: List[Connection]{{ID: "c1", Transport: "rocev2", Service: "rc", FirstTime: 1_000_000_000,
		LastTime: 1_010_000_000, Flows: List[Flow]{fl}}}}
}

// TestFit has its numbers from a calculator: p = 10/1000; (0.99)/(0.99+0.16);
// 1/145; 1.22·1024·8/(100 µs·0.1) = 999.424 Mbit/s; (99.9424 Mbit/s / 100 Mbit/s)².
func TestFit(t *testing.T) {
	s := fitting()
	s.Connections[0].Flows[0].PayloadBytes = 125_000 // 100 Mbit/s
	list := buildFit(s)
	require.Len(t, list, 1)
	x := list[0]
	assert.EqualValues(t, 10, x.Lost)
	assert.EqualValues(t, 1000, x.Sent)
	assert.InDelta(t, 0.01, float64(x.Loss), 1e-12)
	assert.EqualValues(t, 16, x.InFlight)
	assert.Equal(t, "max_outstanding", x.InFlightFrom)
	assert.InDelta(t, 0.860869565, float64(x.GoBackN), 1e-9)
	assert.InDelta(t, 0.99, float64(x.Selective), 1e-12)
	assert.InDelta(t, 0.006896552, float64(x.GoBackNLimit), 1e-9)
	assert.EqualValues(t, 100_000_000, *x.Rate)
	assert.InDelta(t, 999_424_000, float64(*x.Ceiling), 1)
	assert.InDelta(t, 0.998848, float64(*x.CeilingLimit), 1e-6)
	assert.Nil(t, x.LinkSpeed)
	assert.Nil(t, x.Paused)

	s.PFC.LinkSpeedBps, s.PFC.LinkSpeedFrom = Int(500_000_000), "assumed"
	assert.InDelta(t, 999_424_000, float64(*buildFit(s)[0].Ceiling), 1, "an assumed speed is no figure")
	s.PFC.LinkSpeedFrom = "flag"
	assert.EqualValues(t, 500_000_000, *buildFit(s)[0].Ceiling)
}

// TestFitOfTCP: 600 segments in 10 ms with an RTT of 0.5 ms are 30 in flight.
func TestFitOfTCP(t *testing.T) {
	s := fitting()
	c := &s.Connections[0]
	c.Transport, c.Service = "iwarp", "stream"
	fl := &c.Flows[0]
	fl.LostUpstream, fl.LostDownstream, fl.MaxOutstanding, fl.Latency = Int(0), Int(6), nil, Latencies{}
	fl.TCP = &TCP{DataSegments: 600, RTT: &Latency{Count: 9, P50NS: 500_000}}
	list := buildFit(s)
	require.Len(t, list, 1)
	x := list[0]
	assert.InDelta(t, 30, float64(x.InFlight), 1e-9)
	assert.Equal(t, "rate_times_rtt", x.InFlightFrom)
	assert.InDelta(t, 0.99/(0.99+0.3), float64(x.GoBackN), 1e-9)
	assert.Nil(t, x.MSS)
	assert.Nil(t, x.Ceiling, "no SYN, no MSS, no ceiling")
}

// TestNoFit: nothing is told that the capture doesn't carry.
func TestNoFit(t *testing.T) {
	for name, change := range map[string]func(c *Connection, fl *Flow){
		"no loss":           func(_ *Connection, fl *Flow) { fl.LostUpstream, fl.LostDownstream = Int(0), Int(0) },
		"loss unknown":      func(_ *Connection, fl *Flow) { fl.LostDownstream = nil },
		"no round trip":     func(_ *Connection, fl *Flow) { fl.Latency.Ack = nil },
		"in flight unknown": func(_ *Connection, fl *Flow) { fl.MaxOutstanding = nil },
		"datagrams":         func(c *Connection, _ *Flow) { c.Service = "ud" },
		"TCP one way":       func(_ *Connection, fl *Flow) { fl.TCP = &TCP{DataSegments: 600} },
		"all lost":          func(_ *Connection, fl *Flow) { fl.LostUpstream = Int(5000); fl.Packets = 1; fl.Duplicates = nil },
	} {
		s := fitting()
		change(&s.Connections[0], &s.Connections[0].Flows[0])
		assert.Empty(t, buildFit(s), name)
	}
}
