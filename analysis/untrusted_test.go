package analysis_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/synth"
)

// TestUntrusted: a bit turned in an address or a QPN makes no connection; such
// packets are told, apart from those that a known connection bears.
func TestUntrusted(t *testing.T) {
	s := &synth.Scenario{}
	c := synth.NewConn(s, synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2},
		Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, 2}), SrcPort: 0xc011},
		[2]uint32{0x11, 0x12}, [2]uint32{100, 900}, 1e18)
	c.Connect(7471, nil)
	first := len(s.Frames)
	for range 5 {
		c.Write(synth.SideA, 0x1000, 7, synth.Pattern(1, 200))
	}
	require.Zero(t, analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{})).Capture.UntrustedPackets)

	const ethernet, ip, udp = 14, 20, 8
	s.Corrupt(first+2, (ethernet+ip+udp+7)*8)                    // the BTH's destination QPN (IBTA 9.2)
	s.Corrupt(first+4, (ethernet+13)*8)                          // the source address: the IP header's checksum tells
	s.Corrupt(first+6, (len(s.Frames[first+6].Data)-5)*8)        // payload, of a connection that is known
	s.Add(c.Now, append([]byte(nil), s.Frames[first+2].Data...)) // again: still no connection

	r := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	assert.EqualValues(t, 3, r.Capture.UntrustedPackets)
	require.Len(t, r.Connections, 1)
	bad, packets := int64(0), int64(0)
	for _, f := range r.Connections[0].Flows {
		bad += f.ICRCBad
		packets += f.Packets
	}
	assert.EqualValues(t, 1, bad)
	assert.EqualValues(t, 8, packets, "10 of the connection, without the two that no longer name it")
}
