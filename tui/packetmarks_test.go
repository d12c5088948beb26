package tui

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
)

// markMap is marks by hand.
type markMap map[int64]analysis.PacketMark

func (m markMap) Marks(n int64) analysis.PacketMark { return m[n] }

func (m markMap) Next(from int64, dir int, want analysis.PacketMark) (int64, bool) {
	for n := from + int64(dir); n > 0 && n < 100; n += int64(dir) {
		if m[n]&want != 0 {
			return n, true
		}
	}
	return 0, false
}

// TestPacketMarks: t and T go through every packet that was sent again, all or
// those listed, and what the analysis says of a packet stands before it.
func TestPacketMarks(t *testing.T) {
	marks := markMap{2: analysis.MarkOutOfOrder, 4: analysis.MarkRetransmission, 5: analysis.MarkRetransmission,
		6: analysis.MarkDuplicateAck, 9: analysis.MarkRepeatedResponse | analysis.MarkDuplicate}
	st := newStage(t, withFindings(), 120, 40, Options{Packets: samplePackets(), PacketFilter: toyFilter{}, Marks: marks})
	st.press("4")
	p := st.top().(*packetsPage)
	st.contains("↻ resent  RC RDMA Write First")
	st.contains("late  RC RDMA Write Last")
	st.contains("ACK of nothing new  RC Acknowledge")
	st.contains("↻ resent  copy  RC RDMA Write Last")
	for _, c := range []struct {
		k    key
		want int64
	}{{"t", 4}, {"t", 5}, {"t", 9}, {"t", 9}, {"T", 5}, {"T", 4}, {"T", 4}} {
		st.press(c.k)
		assert.Equal(t, c.want, p.number(), c.k)
	}
	st.contains("no more packets sent again that way")
	q := newPacketsPage(st.ui)
	q.given = []int64{1, 5, 6, 7, 9}
	q.list.all, q.list.list = false, q.given
	st.open(q)
	for _, want := range []int64{5, 9, 9} {
		st.press("t")
		assert.Equal(t, want, q.number())
	}
	st.press("T", "T")
	assert.Equal(t, int64(5), q.number())
}
