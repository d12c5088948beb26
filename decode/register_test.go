package decode_test

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode"
	"rdmascope/decode/pfc"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// TestRegister compares gopacket.NewPacket with the decoder on real captures:
// the same layers, the same fields.
func TestRegister(t *testing.T) {
	decode.Register()
	decode.Register() // twice does no harm
	pkts := append(packets(t, "rxe_*.pcap*", 80), packets(t, "pfc_*.pcap*", 80)...)
	bths, pauses := 0, 0
	for i := range pkts {
		p := &pkts[i]
		g := gopacket.NewPacket(p.Data, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
		bth, ok := g.Layer(roce.LayerTypeBTH).(*roce.BTH)
		require.Equal(t, p.Has(wire.FlagBTH), ok, "packet %d", i)
		if ok {
			bths++
			require.Equal(t, p.RoCE.BTH, bth.BTHFields)
			if icrc, ok := g.Layer(roce.LayerTypeICRC).(*roce.ICRC); ok {
				require.Equal(t, p.ICRC, icrc.State)
			} else {
				require.Equal(t, roce.ICRCUncheckable, p.ICRC)
			}
			require.Equal(t, p.RoCE.CarriesMAD() && !p.Has(wire.FlagCut), g.Layer(roce.LayerTypeMAD) != nil && !p.Has(wire.FlagCut))
		}
		if p.Kind == wire.KindPFC || p.Kind == wire.KindPause {
			pauses++
			require.NotNil(t, g.Layer(pfc.LayerTypeMACControl))
		}
	}
	assert.Positive(t, bths)
	assert.Positive(t, pauses)
}
