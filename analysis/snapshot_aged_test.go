package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAgedTotals: what aged out is told apart by interface, whatever the order
// in which parts were joined.
func TestAgedTotals(t *testing.T) {
	conn := func(resent int64, sampled int64) *Connection {
		return &Connection{Flows: List[Flow]{{Packets: 10, Retransmitted: Int(resent), Latency: Latencies{Ack: &Latency{Count: sampled, MeanNS: 100}}}, {Packets: 1}}}
	}
	var a, b, all AgedOut
	a.add(1, conn(3, 2))
	a.add(0, conn(1, 1))
	b.add(1, conn(4, 5))
	all.join(&b)
	all.join(&a)
	assert.EqualValues(t, 3, all.Connections)
	assert.EqualValues(t, 8, all.Retransmitted)
	s := &Snapshot{AgedOut: &all, ifaces: []string{"eth7", "eth8"}, Connections: List[Connection]{{Interface: "eth7", Flows: List[Flow]{{Packets: 5, Retransmitted: Int(2)}}}}}
	totals := map[string]*FlowTotals{}
	for _, f := range s.FlowTotals() {
		totals[f.Interface] = f
	}
	require.Len(t, totals, 2)
	assert.EqualValues(t, 3, *totals["eth7"].Retransmitted)
	assert.EqualValues(t, 16, totals["eth7"].Packets)
	assert.EqualValues(t, 3, totals["eth7"].Flows)
	assert.EqualValues(t, 7, *totals["eth8"].Retransmitted)
	assert.EqualValues(t, 7, totals["eth8"].ack.Count)
	assert.EqualValues(t, 700, totals["eth8"].ack.SumNS)
	sums := windowSumsOf(s)
	assert.EqualValues(t, 10, *sums.figure(sumResent), "as a window adds them up")
	assert.Nil(t, sums.figure(sumUnseen))
}
