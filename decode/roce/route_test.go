package roce

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGRH(t *testing.T) {
	v := loadVectors(t, "testdata/rocev1.json")[0]
	data := v.frame[18:]
	var g GRH
	require.NoError(t, g.DecodeFromBytes(append(data[:len(data):len(data)], 1, 2, 3), nil))
	assert.EqualValues(t, number(t, v.Expected["grh_tclass"]), g.TClass)
	assert.EqualValues(t, number(t, v.Expected["grh_flow"]), g.FlowLabel)
	assert.EqualValues(t, number(t, v.Expected["grh_hop"]), g.HopLmt)
	assert.Equal(t, int(g.PayLen), len(g.Payload), "ends where PayLen says")
	assert.Equal(t, "fe80::7efe:90ff:fe64:3b32", g.Src().String())
	assert.Equal(t, "fe80::e61d:2dff:feab:2bc2", g.Dst().String())
	assert.Equal(t, LayerTypeBTH, g.NextLayerType())
	g.NxtHdr = 58
	assert.Equal(t, gopacket.LayerTypePayload, g.NextLayerType())

	mapped := GRHFields{SGID: [16]byte{10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: 17}}
	assert.Equal(t, "192.0.2.17", mapped.Src().String())

	bad := append([]byte{}, data...)
	bad[0] = 0x45
	assert.Equal(t, error(ErrGRHVersion), g.DecodeFromBytes(bad, nil))
	var f feedback
	require.NoError(t, g.DecodeFromBytes(data[:50], &f))
	assert.True(t, bool(f), "PayLen beyond the data")
	assert.Len(t, g.Payload, 10)
}

func TestLRH(t *testing.T) {
	for _, v := range loadVectors(t, "testdata/native_ib.json") {
		data := v.frame
		if v.LinkType == 197 {
			data = data[16:]
		}
		var l LRH
		require.NoError(t, l.DecodeFromBytes(data, nil))
		for name, got := range map[string]int{"lrh_vl": int(l.VL), "lrh_sl": int(l.SL), "lrh_lnh": int(l.LNH),
			"dlid": int(l.DLID), "slid": int(l.SLID), "pktlen": int(l.PktLen)} {
			assert.EqualValues(t, number(t, v.Expected[name]), got, "%s %s", v.Name, name)
		}
		if l.LNH != LNHIBAGlobal {
			continue
		}
		require.Equal(t, LayerTypeGRH, l.NextLayerType())
		var g GRH
		require.NoError(t, g.DecodeFromBytes(l.Payload, nil))
		assert.EqualValues(t, number(t, v.Expected["grh_tclass"]), g.TClass)
		assert.EqualValues(t, number(t, v.Expected["grh_flow"]), g.FlowLabel)
		assert.EqualValues(t, number(t, v.Expected["grh_hop"]), g.HopLmt)
		assert.EqualValues(t, number(t, v.Expected["grh_nxthdr"]), g.NxtHdr)
	}
	for _, test := range []struct {
		hex  string
		want error
	}{
		{"01 02 0000 0008 0000", ErrLRHVersion}, {"00 02 0000 0000 0000", ErrLRHLength}, {"00 02 0000 0001 0000", ErrLRHLength},
		{"00 02 0000 0005 0000", ErrLRHLength}, {"00 02 0000 0006 0000", nil}, {"00 00 0000 0002 0000", nil},
	} {
		var l LRHFields
		err := l.Decode(unhex(t, test.hex))
		if test.want == nil {
			assert.NoError(t, err, test.hex)
		} else {
			assert.Equal(t, test.want, err, test.hex)
		}
	}
	var l LRH
	var f feedback
	require.NoError(t, l.DecodeFromBytes(unhex(t, "00 01 0000 0010 0000 0102"), &f))
	assert.True(t, bool(f))
	assert.Equal(t, gopacket.LayerTypePayload, l.NextLayerType())
	for n, want := range map[LNH]string{0: "raw", 1: "raw IPv6", 2: "IBA local", 3: "IBA global"} {
		assert.Equal(t, want, n.String())
	}
}
