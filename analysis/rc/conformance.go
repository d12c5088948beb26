package rc

import (
	"rdmascope/decode"
	"rdmascope/decode/roce"
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

// conformance checks rules along a clean sequence of requests; after a gap it
// waits for the next message.
type conformance struct {
	broken  []Violation
	open    bool // inside a message
	known   bool // the last request was seen, so it is known whether one is open
	op      roce.Operation
	left    uint32 // octets of the WRITE still to come
	haveMSN bool
	lastMSN roce.MSN
	lastPSN roce.PSN
}

func (c *conformance) hit(r Rule, num int64) {
	for i := range c.broken {
		if c.broken[i].Rule == r {
			c.broken[i].Count++
			return
		}
	}
	c.broken = append(c.broken, Violation{r, 1, num})
}

func (c *conformance) jump() { c.known = false }

// inSequence checks a request that follows the one before it.
func (c *conformance) inSequence(r *requester, e *event, f roce.OpcodeFlags) {
	op := e.op.Operation()
	begins := f.Has(roce.FlagStart | roce.FlagRead)
	switch {
	case !c.known && !begins:
		return
	case !c.known:
	case begins == c.open, !begins && op != c.op:
		c.hit(RuleOpcodeOrder, e.num)
	}
	c.known, c.op = true, op
	c.open = f.Has(roce.FlagFirst | roce.FlagMiddle)
	if op == roce.OperationWrite && e.has(evLen) {
		if begins {
			c.left = e.dma
		}
		if e.payload > c.left || f.Has(roce.FlagEnd) && e.payload != c.left {
			c.hit(RuleLength, e.num)
		}
		c.left -= min(e.payload, c.left)
	}
}

// psnReused checks a request that repeats a PSN in flight: it must be the same
// operation, and a READ asked again ends where it did. Only borders that were
// seen count: other messages may hide in what was not.
func (r *requester) psnReused(e *event, f roce.OpcodeFlags) {
	i, ok := r.msgs.find(e.psn)
	if !ok || r.rsp.guessed {
		return
	}
	m := r.msgs.at(i)
	atomic := f.Has(roce.FlagAtomic)
	read := e.op.Operation() == roce.OperationReadRequest
	switch {
	case !m.is(msgRead):
		if !read && !atomic || e.psn != m.start || !m.is(msgFirst) {
			return
		}
	case m.is(msgOther), m.is(msgAtomic) && atomic:
		return
	case !m.is(msgAtomic) && read && (e.end() == m.end || e.dma == 0 || !e.has(evReth)):
		return
	}
	r.rules.hit(RulePSNReused, e.num)
}

// msn checks the responder's count of finished messages: an answer for a later
// PSN can't have finished fewer.
func (c *conformance) msn(e *event) {
	if !e.has(evAeth) {
		return
	}
	if c.haveMSN && e.psn.Sub(c.lastPSN) > 0 && e.msn.Before(c.lastMSN) {
		c.hit(RuleMSN, e.num)
	}
	if !c.haveMSN || e.psn.Sub(c.lastPSN) > 0 {
		c.haveMSN, c.lastMSN, c.lastPSN = true, e.msn, e.psn
	}
}

// checkCNP: BECN is set, AckReq, pad and the reserved octets are 0.
func (f *flow) checkCNP(p *decode.Packet) {
	h := &p.RoCE
	bad := !h.BTH.BECN || h.BTH.AckReq || h.BTH.PadCnt != 0
	if h.Present.Has(roce.HeaderCNP) && !h.CNP.Clean() {
		bad = true
	}
	if bad {
		f.req.rules.hit(RuleCNP, p.Number)
	}
}
