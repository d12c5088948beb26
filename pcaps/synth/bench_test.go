package synth

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteBench(t *testing.T) {
	for _, spec := range []BenchSpec{
		{Packets: 20000, Connections: 50, Hosts: 8},
		{Packets: 20000, Connections: 50, Hosts: 8, SnapLen: -1, Payload: 256},
		{Packets: 20000, Connections: 50, Hosts: 8, Heavy: 0.9},
		{Packets: 20000, Connections: 5000, Hosts: 8, Burst: 5},
	} {
		var one, two bytes.Buffer
		require.NoError(t, WriteBench(&one, spec))
		require.NoError(t, WriteBench(&two, spec))
		require.Equal(t, one.Bytes(), two.Bytes())
		r, err := pcapgo.NewReader(&one)
		require.NoError(t, err)
		n, heavy, switches := 0, 0, 0
		var last []byte
		psn := map[string]uint32{}
		before := time.Time{}
		for {
			data, info, err := r.ReadPacketData()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			n++
			require.True(t, info.Timestamp.After(before))
			before = info.Timestamp
			require.Zero(t, Checksum(0, data[14:34]))
			if info.CaptureLength == info.Length {
				c := icrcIPv4(data[14:len(data)-4], data[34:len(data)-4])
				require.Equal(t, data[len(data)-4:], c[:])
			}
			if data[offBTH] != Acknowledge { // PSNs of each flow follow one another
				key := string(data[offSrc:offUDP]) + string(data[offBTH+4:offBTH+8])
				now := be.Uint32(data[offBTH+8:]) & 0xffffff
				if old, ok := psn[key]; ok {
					require.Equal(t, (old+1)&0xffffff, now)
				}
				psn[key] = now
			}
			hosts := be.Uint32(data[offSrc:]) + be.Uint32(data[offDst:])
			if hosts == 2*benchNet+1 {
				heavy++
			}
			if last != nil && !bytes.Equal(last, data[offBTH+4:offBTH+8]) {
				switches++
			}
			last = data[offBTH+4 : offBTH+8]
		}
		assert.Equal(t, 20000, n)
		if spec.Heavy > 0 {
			assert.InDelta(t, spec.Heavy, float64(heavy)/float64(n), 0.03)
		}
		if spec.Burst == 0 {
			assert.Greater(t, switches, n*9/10, "interleaved packet by packet")
		}
	}
}

func BenchmarkWriteBench(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		require.NoError(b, WriteBench(io.Discard, BenchSpec{}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2e6, "ns/packet")
}
