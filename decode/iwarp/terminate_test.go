package iwarp_test

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

func TestTerminateOrder(t *testing.T) {
	type te = iwarp.TerminateError
	for _, c := range []struct {
		bytes string
		order iwarp.TerminateOrder
		err   te
		other te
		words string
	}{
		// A flag settles it, even where the table would read it otherwise.
		{"0100 8000 0000", iwarp.OrderRFC, te{Layer: 0, EType: 1, Code: 0}, te{}, "RDMAP remote protection error: invalid STag"},
		{"1001 0100 0000", iwarp.OrderSwapped, te{Layer: 0, EType: 1, Code: 1}, te{}, "RDMAP remote protection error: base or bounds violation"},
		{"2102 0100 0000", iwarp.OrderSwapped, te{Layer: 1, EType: 2, Code: 2}, te{}, "DDP untagged buffer error: invalid MSN, no buffer available"},
		{"1100 0100 0000", iwarp.OrderSwapped, te{Layer: 1, EType: 1, Code: 0}, te{}, "DDP tagged buffer error: invalid STag"},
		// No flag: only one reading names an error.
		{"2002 0000", iwarp.OrderRFC, te{Layer: 2, EType: 0, Code: 2}, te{}, "MPA error: CRC does not match"},
		{"2005 0000", iwarp.OrderAmbiguous, te{Layer: 2, EType: 0, Code: 5}, te{Layer: 0, EType: 2, Code: 5}, ""},
		{"0204 0000", iwarp.OrderSwapped, te{Layer: 2, EType: 0, Code: 4}, te{}, ""},
		// RFC 6581's "insufficient IRD" is also RDMAP's "unexpected opcode".
		{"2006 0000", iwarp.OrderAmbiguous, te{Layer: 2, EType: 0, Code: 6}, te{Layer: 0, EType: 2, Code: 6}, "MPA error: insufficient IRD resources"},
		{"1101 0000", iwarp.OrderRFC, te{Layer: 1, EType: 1, Code: 1}, te{}, ""},
		{"7777 0000", iwarp.OrderUnknown, te{Layer: 7, EType: 7, Code: 0x77}, te{}, "reserved reserved: reserved"},
		// Flags of both orders at once tell nothing, so the table speaks: DDP
		// catastrophic (the swapped reading) has no code 3.
		{"0103 8100 0000", iwarp.OrderRFC, te{Layer: 0, EType: 1, Code: 3}, te{}, ""},
	} {
		var x iwarp.Terminate
		err := x.DecodeFromBytes(unhex(c.bytes), gopacket.NilDecodeFeedback)
		require.NoError(t, err, c.bytes)
		assert.Equal(t, c.order, x.Order, c.bytes)
		assert.Equal(t, c.err, x.TerminateError, c.bytes)
		assert.Equal(t, c.other, x.Other, c.bytes)
		if c.words != "" {
			assert.Equal(t, c.words, x.String())
		}
	}
}

// A header may be quoted because it is wrong; the Terminate itself is not.
func TestTerminateQuotesNonsense(t *testing.T) {
	var x iwarp.Terminate
	require.NoError(t, x.DecodeFromBytes(unhex("1204 c000 0030 f3ff 0000000000000000000000000000000000000000"), gopacket.NilDecodeFeedback))
	assert.True(t, x.HasDDP)
	assert.False(t, x.DDPValid)
	assert.Equal(t, uint16(0x30), x.SegmentLength)
}

func TestTerminateWords(t *testing.T) {
	n := 0
	for l := range 16 {
		for e := range 16 {
			for c := range 256 {
				x := iwarp.TerminateError{Layer: uint8(l), EType: uint8(e), Code: uint8(c)}
				assert.NotEmpty(t, x.String())
				if x.Known() {
					n++
					assert.NotEqual(t, "reserved", x.CodeName())
					assert.NotEqual(t, "reserved", x.TypeName())
				}
			}
		}
	}
	assert.Equal(t, 1+7+6+1+5+6+7, n)
	assert.Equal(t, "untagged buffer error", iwarp.TerminateError{Layer: 1, EType: 2, Code: 0x55}.TypeName())
}
