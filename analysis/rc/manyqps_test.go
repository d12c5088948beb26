package rc

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/synth"
)

// TestManyQueuePairs: hundreds of queue pairs between the same two hosts, far
// more than are weighed at a time, all find their partner.
func TestManyQueuePairs(t *testing.T) {
	const connections = 300
	var b bytes.Buffer
	require.NoError(t, synth.WriteBench(&b, synth.BenchSpec{Packets: 60_000, Connections: connections, Hosts: 2, SnapLen: 128}))
	var c capture
	c.readPcap(t, b.Bytes())
	res := newFeeder(Options{}).run(&c)
	require.Len(t, res.Connections, connections)
	for i := range res.Connections {
		x := &res.Connections[i]
		require.NotNil(t, x.Flows[1], "a flow without its partner")
		assert.Equal(t, Certain, x.Confidence)
	}
}
