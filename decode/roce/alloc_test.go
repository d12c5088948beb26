package roce

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Nothing on the way of a packet allocates: not the headers, not the errors,
// not the ICRC, not a message of connection management.
func TestNoAllocations(t *testing.T) {
	vectors := allVectors(t)
	var packets []carried
	for _, v := range vectors {
		packets = append(packets, scan(t, v))
	}
	var (
		h       Headers
		mad     MADFields
		cm      CM
		checker ICRCChecker
		states  [3]int
	)
	run := func() {
		for _, c := range packets {
			states[checker.Check(c.carrier, c.packet, c.bth, len(c.packet))]++
			for _, n := range []int{len(c.transport), 40, 20, 14, 5} {
				n = min(n, len(c.transport))
				if h.Decode(c.transport[:n], len(c.transport)) != nil || !h.CarriesMAD() {
					continue
				}
				body := c.transport[h.Len : h.Len+h.PayloadCaptured]
				if mad.Decode(body, h.PayloadLen) == nil {
					_ = cm.Decode(&mad, body[MADHeaderLen:], h.PayloadLen-MADHeaderLen)
					if ip, ok := cm.REQ.IPCM(); ok {
						_ = ip.SrcAddr()
					}
				}
			}
			_ = h.Decode(c.transport, len(c.transport)-9)
		}
	}
	assert.Zero(t, testing.AllocsPerRun(10, run))
}

func TestNoAllocationsInLayers(t *testing.T) {
	for _, test := range headerTests(t) {
		l := test.empty()
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			_ = l.DecodeFromBytes(test.bytes, nil)
			_ = l.DecodeFromBytes(test.bytes[:1], nil)
		}), test.name)
	}
	for a := AttributeREQ; a <= AttributeAPR; a++ {
		l, b := newMessage(a), cmBytes()
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			_ = l.DecodeFromBytes(b, nil)
			_ = l.DecodeFromBytes(b[:9], nil)
		}), a.CMName())
	}
}
