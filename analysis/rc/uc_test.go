package rc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/pcaps/synth"
)

// TestUCGaps: nothing resends what UC lost, so the gaps are all that tells of
// it. Of PSN 100…111, 103 and 104 are lost, then 107; 110 comes after 111.
func TestUCGaps(t *testing.T) {
	x := newSpoken()
	for _, psn := range []uint32{100, 101, 102, 105, 106, 108, 109, 111, 110} {
		p := x.cn.Flow[synth.SideA].SendPacket(psn, synth.Pattern(1, 100), 0)
		p.Opcode |= synth.UC
		x.cn.Flow[synth.SideA].ID = uint16(psn)
		x.cn.Emit(synth.SideA, p, 1000)
	}
	f := x.requester(t)
	assert.Equal(t, "uc", f.Service)
	assert.EqualValues(t, 3, f.UCGaps)
	assert.EqualValues(t, 4, f.UCSkipped)
	assert.EqualValues(t, 1, f.OutOfOrder)
	assert.Zero(t, f.Retransmitted)
}
