package rc

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Rule is one transport rule that packets can break (DEFINITIONS F16).
type Rule uint8

// Rules.
const (
	RuleOpcodeOrder Rule = iota // FIRST, MIDDLE, LAST and ONLY out of order (IBTA 9.7.4.1.2)
	RuleLength                  // payloads don't add up to the DMA length (IBTA 9.7.4.1.6)
	RulePMTU                    // a FIRST or MIDDLE of another length than the path MTU (IBTA 9.7.3)
	RuleAckBeyond               // an ACK for what was never sent (IBTA 9.7.5.1.3)
	RuleMSN                     // the message sequence number goes backward (IBTA 9.7.7.1)
	RuleReadDepth               // more READs and atomics outstanding than negotiated (IBTA 9.4.4)
	RuleCNP                     // a CNP with wrong bits (A17.9.3)
	RulePSNReused               // a PSN in use sent again for something else (IBTA 9.7.2, 9.7.5.1.5)
	ruleCount
)

var ruleNames = [ruleCount]string{"opcode_order", "message_length", "pmtu_constant", "ack_beyond_sent",
	"msn_backward", "read_depth", "cnp_bits", "psn_reused"}

// String returns the rule's name in reports.
func (r Rule) String() string {
	if r < ruleCount {
		return ruleNames[r]
	}
	return "invalid"
}

// Violation is a broken rule with its first example.
type Violation struct {
	Rule        Rule
	Count       uint64
	FirstPacket int64
}

// sequence is where in a message a request stands: rules are checked along a
// clean sequence of requests; after a gap they wait for the next message.
type sequence uint8

const (
	sequenceUnknown sequence = iota
	sequenceBetween          // behind the end of a message
	sequenceInside
)

func (r *requester) hit(x Rule, num int64) {
	c := r.count()
	for i := range c.broken {
		if c.broken[i].Rule == x {
			c.broken[i].Count++
			return
		}
	}
	c.broken = append(c.broken, Violation{x, 1, num})
}

// inSequence checks a request that follows the one before it.
func (r *requester) inSequence(e *event, f roce.OpcodeFlags) {
	op := e.op.Operation()
	begins := f.Has(roce.FlagStart | roce.FlagRead)
	switch {
	case r.sequence == sequenceUnknown && !begins:
		return
	case r.sequence == sequenceUnknown:
	case begins == (r.sequence == sequenceInside), !begins && op != r.op:
		r.hit(RuleOpcodeOrder, e.num)
	}
	r.op, r.sequence = op, sequenceBetween
	if f.Has(roce.FlagFirst | roce.FlagMiddle) {
		r.sequence = sequenceInside
	}
	if op == roce.OperationWrite {
		r.writeLength(e, f, begins)
	}
}

// leftUnknown stands for the rest of a WRITE whose length the capture cut off;
// no message is that long (IBTA 9.7.4.1.4: 2^31 at most).
const leftUnknown = ^uint32(0)

// writeLength checks that the packets of a WRITE are as long as it said.
func (r *requester) writeLength(e *event, f roce.OpcodeFlags, begins bool) {
	if begins {
		r.left = leftUnknown
		if e.has(evReth) {
			r.left = e.dma
		}
	}
	switch {
	case r.left == leftUnknown:
		return
	case !e.has(evLen):
		r.left = leftUnknown
		return
	case e.payload > r.left, f.Has(roce.FlagEnd) && e.payload != r.left:
		r.hit(RuleLength, e.num)
	}
	r.left -= min(e.payload, r.left)
}

// psnReused checks a request that repeats a PSN in flight: it must be the same
// operation with the same RETH or AtomicETH, a READ asked again must end where
// it did, and the payload of a SEND or WRITE is the same. Only what was seen
// counts: other messages may hide in what was not.
func (r *requester) psnReused(e *event, f roce.OpcodeFlags) {
	i, ok := r.msgs.find(e.psn)
	if !ok || r.guessed {
		return
	}
	m := r.msgs.at(i)
	atomic := f.Has(roce.FlagAtomic)
	read := e.op.Operation() == roce.OperationReadRequest
	same := m.target == 0 || e.target == 0 || m.target == e.target
	begins := e.psn == m.start && m.is(msgFirst)
	var good bool
	switch {
	case m.is(msgOther):
		good = true
	case m.is(msgAtomic):
		good = atomic && (same || !begins)
	case m.is(msgRead):
		good = read && (e.dma == 0 || !e.has(evReth) || same && e.end() == m.end)
	case read || atomic:
		good = !begins
	default:
		write := e.op.Operation() == roce.OperationWrite
		good = !begins || same && write == m.is(msgWrite)
		if e.was != 0 && e.data>>8 != 0 && e.wasAt >= m.tFirst && uint16(e.was) != e.data>>8 {
			good = false
		}
	}
	if !good {
		r.hit(RulePSNReused, e.num)
	}
}

// checkMSN checks the responder's count of finished messages: an answer for a
// later PSN can't have finished fewer.
func (r *requester) checkMSN(e *event) {
	if !e.has(evAeth) {
		return
	}
	if r.haveMSN && e.psn.Sub(r.lastPSN) <= 0 {
		return
	}
	if r.haveMSN && e.msn.Before(r.lastMSN) {
		r.hit(RuleMSN, e.num)
	}
	r.haveMSN, r.lastMSN, r.lastPSN = true, e.msn, e.psn
}

// checkCNP: BECN is set, AckReq, pad and the reserved octets are 0.
func (f *flow) checkCNP(p *wire.Packet) {
	h := &p.RoCE
	bad := !h.BTH.BECN || h.BTH.AckReq || h.BTH.PadCnt != 0
	if h.Present.Has(roce.HeaderCNP) && !h.CNP.Clean() {
		bad = true
	}
	if bad {
		f.requester().hit(RuleCNP, p.Number)
	}
}
