package pfc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// lldp is a frame's payload: chassis id, port id and TTL, then the given TLVs.
func lldp(tlvs ...[]byte) []byte {
	b := []byte{
		0x02, 0x07, 0x04, 0x52, 0x54, 0x00, 0x77, 0x00, 0x01, // chassis id: MAC
		0x04, 0x03, 0x05, 'e', '1', // port id
		0x06, 0x02, 0x00, 0x78, // TTL 120 s
	}
	for _, t := range tlvs {
		b = append(b, t...)
	}
	return append(b, 0, 0)
}

var (
	tlvETS = []byte{0xfe, 0x05, 0x00, 0x80, 0xc2, 0x09, 0x00}
	tlvPFC = []byte{0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x88, 0x08}
)

func TestDecodeLLDP(t *testing.T) {
	d, ok := DecodeLLDP(lldp(tlvETS, tlvPFC))
	assert.True(t, ok)
	assert.Equal(t, DCBX{Enabled: 1 << 3, Cap: 8, Willing: true}, d)

	_, ok = DecodeLLDP(lldp(tlvETS))
	assert.False(t, ok, "no PFC TLV")
	_, ok = DecodeLLDP(append([]byte{0, 0}, tlvPFC...))
	assert.False(t, ok, "behind the end")
	_, ok = DecodeLLDP([]byte{0xfe, 0x05, 0x00, 0x80, 0xc2, 0x0b, 0x88})
	assert.False(t, ok, "TLV too short")
}

func TestDecodeLLDPPrefixes(t *testing.T) {
	frame := lldp(tlvETS, tlvPFC)
	whole := len(frame) - 2
	for n := range frame {
		_, ok := DecodeLLDP(frame[:n])
		assert.Equal(t, n >= whole, ok, "%d octets", n)
	}
}
