package decode_test

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode"
	"rdmascope/decode/iwarp"
	"rdmascope/decode/wire"
)

// TestRegisterMPA: gopacket finds the same headers as the decoder on a port that
// was asked for, in captures whose segments all begin with an FPDU.
func TestRegisterMPA(t *testing.T) {
	decode.RegisterMPA(7174, 7471)
	streams := gopacket.DecodeOptions{NoCopy: true, DecodeStreamsAsDatagrams: true}
	pkts := append(packets(t, "siw_rping.pcap.gz", 400), packets(t, "siw_terminate_*.pcap", 80)...)
	startUp, opcodes := 0, map[string]int{}
	var send *wire.Packet
	for i := range pkts {
		p := &pkts[i]
		g := gopacket.NewPacket(p.Data, layers.LayerTypeEthernet, streams)
		require.Nil(t, g.ErrorLayer(), wire.Summary(p))
		mpa, isMPA := g.Layer(iwarp.LayerTypeMPAFrame).(*iwarp.MPAFrame)
		ddp, isDDP := g.Layer(iwarp.LayerTypeDDP).(*iwarp.DDP)
		switch {
		case isMPA:
			startUp++
			assert.Contains(t, wire.Summary(p), mpa.Name())
		case isDDP:
			opcodes[ddp.Opcode.String()]++
			assert.Contains(t, wire.Summary(p), ddp.Opcode.String())
			if ddp.Opcode == iwarp.Send {
				send = p
			}
		default:
			assert.Contains(t, wire.Summary(p), "] Seq ", "TCP and no more")
		}
	}
	assert.Equal(t, 4, startUp, "two connections, request and reply")
	for _, name := range []string{"SEND", "RDMA_WRITE", "READ_REQUEST", "READ_RESPONSE", "TERMINATE"} {
		assert.Positive(t, opcodes[name], name)
	}

	// A segment that begins within an FPDU is payload.
	b := append(append([]byte{}, send.Data[:send.TransOff]...), send.Data[send.TransOff+2:]...)
	b[send.NetOff+3] -= 2 // IP's total length
	g := gopacket.NewPacket(b, layers.LayerTypeEthernet, streams)
	assert.Nil(t, g.Layer(iwarp.LayerTypeDDP))
	assert.NotNil(t, g.Layer(gopacket.LayerTypePayload))
}
