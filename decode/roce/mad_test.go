package roce

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMADDecode(t *testing.T) {
	b := make([]byte, MADLen)
	copy(b, unhex(t, "01 07 02 03 0000 0000 0000000000abcdef 0014"))
	var m MADFields
	require.NoError(t, m.Decode(b, MADLen))
	for n := range MADLen {
		err := m.Decode(b[:n], MADLen)
		if n < MADHeaderLen {
			assert.Equal(t, error(HeaderMAD.Cut()), err)
		} else {
			assert.NoError(t, err)
		}
		assert.ErrorIs(t, m.Decode(b, n), ErrMalformed)
	}
	b[0] = 2
	assert.Equal(t, error(ErrMADVersion), m.Decode(b, MADLen))
	assert.Equal(t, error(ErrMADVersion), new(MAD).DecodeFromBytes(b, nil))

	b[0] = 1
	var l MAD
	require.NoError(t, l.DecodeFromBytes(b, nil))
	assert.Equal(t, LayerTypeRTU, l.NextLayerType())
	l.AttributeID = AttributeREQ
	assert.Equal(t, LayerTypeREQ, l.NextLayerType())
	l.AttributeID = AttributeAPR
	assert.Equal(t, LayerTypeAPR, l.NextLayerType())
	l.AttributeID = AttributeCMClassPortInfo
	assert.Equal(t, gopacket.LayerTypePayload, l.NextLayerType())
	l.MgmtClass = MgmtClassSubnLID
	assert.Equal(t, gopacket.LayerTypePayload, l.NextLayerType())
}

func TestMADNames(t *testing.T) {
	for c, want := range map[MgmtClass]string{
		0: "Reserved (0x00)", 1: "SubnLID", 2: "Reserved (0x02)", 3: "SubnAdm", 4: "PerfMgt", 5: "BM", 6: "DevMgt",
		7: "CommMgt", 8: "SNMP", 9: "Vendor (0x09)", 0x0a: "Vendor (0x0a)", 0x0b: "SHARP AM", 0x0f: "Vendor (0x0f)",
		0x10: "Application (0x10)", 0x2f: "Application (0x2f)", 0x30: "Vendor (0x30)", 0x4f: "Vendor (0x4f)",
		0x50: "Reserved (0x50)", 0x81: "SubnDir", 0xff: "Reserved (0xff)",
	} {
		assert.Equal(t, want, c.String())
	}
	assert.Equal(t, "Send", MethodSend.String())
	assert.Equal(t, "GetResp", MethodGetResp.String())
	assert.Equal(t, "Unknown (0x7f)", Method(0x7f).String())
	assert.True(t, MethodGetResp.Response())
	assert.False(t, MethodGet.Response())
}

func TestCarriesMAD(t *testing.T) {
	h := Headers{BTH: BTHFields{Opcode: OpcodeUDSendOnly, DestQP: QPNGSI}, Present: 1 << HeaderDETH}
	assert.True(t, h.CarriesMAD())
	h.BTH.DestQP = QPNSMI
	assert.True(t, h.CarriesMAD())
	h.BTH.DestQP = 2
	assert.False(t, h.CarriesMAD())
	h.BTH.DestQP, h.BTH.Opcode = QPNGSI, OpcodeRCSendOnly
	assert.False(t, h.CarriesMAD())
}
