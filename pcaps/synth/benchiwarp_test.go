package synth

import (
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWriteIWARPBench reads the capture with gopacket: checksums, CRCs, sequence
// numbers that follow one another, and the share of ACKs.
func TestWriteIWARPBench(t *testing.T) {
	spec := IWARPBenchSpec{Packets: 9000, Connections: 20, Hosts: 5, Payload: 101, CRC: true}
	var one, two bytes.Buffer
	require.NoError(t, WriteIWARPBench(&one, spec))
	require.NoError(t, WriteIWARPBench(&two, spec))
	require.Equal(t, one.Bytes(), two.Bytes())
	r, err := pcapgo.NewReader(&one)
	require.NoError(t, err)
	type end struct {
		flow  gopacket.Flow
		ports gopacket.Flow
	}
	next := map[end]uint32{}
	packets, data, frames := 0, 0, 0
	for {
		b, info, err := r.ReadPacketData()
		if err != nil {
			break
		}
		packets++
		require.Equal(t, info.Length, len(b))
		p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.NoCopy)
		ip, tcp := p.NetworkLayer().(*layers.IPv4), p.TransportLayer().(*layers.TCP)
		require.Zero(t, Checksum(0, b[14:34]))
		k := end{ip.NetworkFlow(), tcp.TransportFlow()}
		if want, ok := next[k]; ok {
			require.Equal(t, want, tcp.Seq)
		}
		next[k] = tcp.Seq + uint32(len(tcp.Payload))
		if tcp.SYN {
			next[k]++
		}
		if n := len(tcp.Payload); n > 20 && string(tcp.Payload[:6]) != "MPA ID" {
			data++
			require.Equal(t, crc32.Checksum(tcp.Payload[:n-4], castagnoli), le.Uint32(tcp.Payload[n-4:]))
		} else if n > 0 {
			frames++
		}
	}
	assert.Equal(t, spec.Packets+5*spec.Connections, packets)
	assert.Equal(t, 2*spec.Connections, frames)
	assert.InDelta(t, spec.Packets*2/3, data, float64(spec.Connections))
}
