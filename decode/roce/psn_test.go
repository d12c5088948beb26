package roce

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPSN(t *testing.T) {
	const top, half = 1<<24 - 1, 1 << 23
	for _, test := range []struct {
		p, q PSN
		sub  int32
	}{
		{0, 0, 0}, {1, 0, 1}, {0, 1, -1}, {0, top, 1}, {top, 0, -1}, {5, 0xfffffe, 7}, {half - 1, 0, half - 1},
		{half, 0, -half}, {0, half, -half}, {half + 1, 0, -(half - 1)}, {top, top, 0}, {0x800000, 0x7fffff, 1},
	} {
		assert.Equal(t, test.sub, test.p.Sub(test.q), "%x-%x", test.p, test.q)
		assert.Equal(t, test.sub < 0, test.p.Before(test.q), "%x-%x", test.p, test.q)
		assert.Equal(t, test.sub > 0, test.p.After(test.q), "%x-%x", test.p, test.q)
		assert.Equal(t, test.p, test.q.Add(int64(test.sub)))
		assert.Equal(t, test.sub, MSN(test.p).Sub(MSN(test.q)))
		assert.Equal(t, test.sub < 0, MSN(test.p).Before(MSN(test.q)))
		assert.Equal(t, test.sub > 0, MSN(test.p).After(MSN(test.q)))
		assert.Equal(t, MSN(test.p), MSN(test.q).Add(int64(test.sub)))
	}
	assert.Equal(t, PSN(2), PSN(0xfffffe).Add(4))
	assert.Equal(t, PSN(0xffffff), PSN(0).Add(-1))
	assert.Equal(t, PSN(1), PSN(1).Add(1<<24))
	assert.Equal(t, PSN(1), PSN(1).Add(-3<<24))
}
