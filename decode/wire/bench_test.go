package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

// benchFrames are frames of the common kinds, with what they are on the wire.
func benchFrames(t testing.TB) map[string][]byte {
	write := unhex(t, macs, "0800 4500 043c 1234 4000 40 11 0000 0a4d0001 0a4d0002 c000 12b7 0428 0000",
		"06 00 ffff 00 000019 00 1a0b0a 00007f3a10002000 001a2b3c 00001000")
	write = append(write, make([]byte, 1024+4)...)
	tcp := unhex(t, macs, "0800 4500 05dc 0000 4000 40 06 0000 0a4d0001 0a4d0002 1234 4823 00000001 00000002 80 10 ffff 0000 0000 0101080a0000000000000000")
	tcp = append(tcp, make([]byte, 1500-52)...)
	vxlan := unhex(t, macs, "0800 4500 0062 0000 0000 40 11 0000 c0a80001 c0a80002 c000 12b5 004e 0000 08000000 123456 00", macs, "0800", ackBody)
	setICRC(t, write)
	ack := unhex(t, macs, "0800", ackBody)
	setICRC(t, ack)
	setICRC(t, vxlan)
	return map[string][]byte{
		"Write128":  write,
		"Write1KiB": write,
		"ACK":       ack,
		"TCP":       tcp,
		"VXLANACK":  vxlan,
		"PFC":       unhex(t, "0180c2000001 525400770001 8808 0101 0008 000000000000ffff0000000000000000", zeros(26)),
	}
}

// setICRC puts the right iCRC into a frame.
func setICRC(t testing.TB, b []byte) {
	t.Helper()
	p := packetOf(Config{}, LinkEthernet, b, len(b))
	bth, end := int(p.TransOff), int(p.TransOff+p.TransLen)-roce.ICRCLen
	sum, ok := new(roce.ICRCChecker).Sum(roce.CarrierIPv4, b[p.NetOff:end], bth-int(p.NetOff))
	require.True(t, ok)
	binary.LittleEndian.PutUint32(b[end:], sum)
	require.Equal(t, roce.ICRCOK, packetOf(Config{}, LinkEthernet, b, len(b)).ICRC)
}

func benchPackets(t testing.TB, name string, n int) []Packet {
	b := benchFrames(t)[name]
	captured := b
	if name == "Write128" {
		captured = b[:128]
	}
	pkts := make([]Packet, n)
	for i := range pkts {
		pkts[i] = Packet{Data: captured, Wire: uint32(len(b)), Link: LinkEthernet}
	}
	return pkts
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"Write128", "Write1KiB", "ACK", "TCP", "VXLANACK", "PFC"} {
		b.Run(name, func(b *testing.B) {
			const block = 512 // packets that are in use at once, as in the engine
			pkts, d := benchPackets(b, name, block), NewDecoder(Config{})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				d.Decode(&pkts[i%block])
			}
		})
	}
}

func TestNoAllocations(t *testing.T) {
	d := NewDecoder(Config{})
	check := func(name string, p *Packet) {
		assert.Zero(t, testing.AllocsPerRun(20, func() { d.Decode(p) }), name)
	}
	for name := range benchFrames(t) {
		check(name, &benchPackets(t, name, 1)[0])
	}
	for _, v := range vectors(t) {
		b := v.frame(t)
		for _, n := range []int{len(b), len(b) * 3 / 4, len(b) / 2} { // cut ones take the error paths
			check(v.Name, &Packet{Time: vectorTime, Data: b[:n], Wire: uint32(v.wireLen(t)), Link: uint16(v.LinkType)})
		}
		b[len(b)-1] ^= 1 // and damaged ones
		check(v.Name, &Packet{Time: vectorTime, Data: b, Wire: uint32(v.wireLen(t)), Link: uint16(v.LinkType)})
	}
}
