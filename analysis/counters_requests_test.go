package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/decode/roce"
)

// TestSumsJoinInAnyOrder: counters added up in parts are those added up in one.
func TestSumsJoinInAnyOrder(t *testing.T) {
	one, two := int64(1), int64(2)
	type part func(*sums)
	parts := []part{
		func(s *sums) { s.add(countSentPkts, &one, exact) },
		func(s *sums) { s.add(countSentPkts, &two, inferred); s.pause("tx_prio3_pause", &two, exact) },
		func(s *sums) { s.add(countRcvdPkts, nil, exact) },
		func(s *sums) { s.add(countRcvdPkts, &two, exact); s.pause("tx_prio3_pause", &one, lowerBound) },
		func(s *sums) { s.add(countDuplicateRequest, nil, exact) },
	}
	var all sums
	for _, p := range parts {
		p(&all)
	}
	want := all.counters(false)
	assert.Equal(t, Map[Counter]{
		"sent_pkts":      {Value: Int(3), Exactness: inferred},
		"rcvd_pkts":      {Value: Int(2), Exactness: lowerBound}, // a part isn't known
		"tx_prio3_pause": {Value: Int(3), Exactness: lowerBound},
	}, want)
	for first := range parts {
		var a, b sums
		for i, p := range parts {
			if i == first {
				p(&a)
			} else {
				p(&b)
			}
		}
		var x, y sums
		x.join(&a)
		x.join(&b)
		y.join(&b)
		y.join(&a)
		assert.Equal(t, want, x.counters(false))
		assert.Equal(t, want, y.counters(false))
		assert.True(t, x.any)
	}
	assert.False(t, new(sums).any)
}

// TestRequestsByOpcode: which packets begin a message, and of which kind.
func TestRequestsByOpcode(t *testing.T) {
	for op, want := range map[roce.Opcode]requestOp{
		roce.OpcodeRCSendFirst:         {requestSend, true, false},
		roce.OpcodeRCSendLast:          {requestSend, false, false},
		roce.OpcodeRCSendOnlyImm:       {requestSend, true, true},
		roce.OpcodeRCWriteOnly:         {requestWrite, true, false},
		roce.OpcodeRCWriteLastImm:      {requestWrite, false, true},
		roce.OpcodeRCReadRequest:       {requestRead, true, false},
		roce.OpcodeRCReadResponseOnly:  {requestOther, false, false},
		roce.OpcodeRCCompareSwap:       {requestAtomic, true, false},
		roce.OpcodeRCAcknowledge:       {requestOther, false, false},
		roce.OpcodeRCAtomicAcknowledge: {requestOther, false, false},
	} {
		assert.Equal(t, want, requestOps()[op.String()], op.String())
	}
	fl := &Flow{Opcodes: Counts{"RC Send First": 2, "RC Send Last": 2, "RC RDMA Write Only": 3, "RC RDMA Write Only Immediate": 1, "of another maker, Only": 4},
		Messages: Int(9), Retransmitted: Int(1)}
	asked := requestsOf(fl)
	assert.Equal(t, messageCount{1, true, lowerBound}, asked.of(fl, requestSend), "at most eight messages are others")
	assert.Equal(t, messageCount{0, true, exact}, asked.of(fl, requestRead))
	assert.Equal(t, messageCount{0, true, lowerBound}, asked.immediate(fl), "the one may be a copy")
	fl.Retransmitted = Int(0)
	assert.Equal(t, messageCount{4, true, exact}, asked.of(fl, requestWrite))
	assert.Equal(t, messageCount{1, true, exact}, asked.immediate(fl))
}
