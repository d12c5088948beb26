package roce

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAckTimeout(t *testing.T) {
	for exponent, want := range map[uint8]time.Duration{
		0: TimeoutInfinite, 1: 8192, 8: 1048576, 10: 4194304, 12: 16777216, 14: 67108864, 16: 268435456,
		18: 1073741824, 20: 4294967296, 31: 4096 << 31, 32: TimeoutInfinite, 46: 67108864,
	} {
		assert.Equal(t, want, AckTimeout(exponent), exponent)
	}
}

func TestMTU(t *testing.T) {
	for code, want := range map[MTU]int{0: 0, 1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096, 6: 0, 15: 0, 255: 0} {
		assert.Equal(t, want, code.Bytes(), code)
		m, ok := MTUFromBytes(want)
		assert.Equal(t, want != 0, ok)
		if ok {
			assert.Equal(t, code, m)
		}
	}
	_, ok := MTUFromBytes(1500)
	assert.False(t, ok)
	_, ok = MTUFromBytes(128)
	assert.False(t, ok)
}

func TestUDPSourcePort(t *testing.T) {
	assert.EqualValues(t, 49458, UDPSourcePort(0, 0x11, 0x12))
	assert.EqualValues(t, 49458, UDPSourcePort(0, 0x12, 0x11))
	assert.EqualValues(t, 49458, UDPSourcePort(0x100000, 0x12, 0x11), "a flow label has 20 bits")
	// The fold by hand: 0x5aa5a&0x3fff = 0x2a5a, ^ 0x5aa5a>>14 = 0x16, | 0xc000.
	assert.EqualValues(t, 0xea4c, UDPSourcePort(0x5aa5a, 0x11, 0x12))
	assert.EqualValues(t, 0xea4c, FlowLabelUDPSourcePort(0x5aa5a))
	// Products of 48 bits: both folds matter.
	v := uint64(0xffffff) * 0xffffff
	v ^= v >> 20
	v ^= v >> 40
	assert.EqualValues(t, v&0xfffff, QPFlowLabel(0xffffff, 0xffffff))
	assert.GreaterOrEqual(t, UDPSourcePort(0, 0, 0), uint16(0xc000))
}
