package analysis

import (
	"strings"
	"sync"

	"rdmascope/decode/roce"
)

// messageCount is how many messages of a kind a flow asked for.
type messageCount struct {
	n         int64
	known     bool
	exactness string
}

// count adds a count of messages.
func (s *sums) count(c nicCounter, m messageCount) {
	if !m.known {
		s.add(c, nil, "")
		return
	}
	s.add(c, &m.n, m.exactness)
}

// requestKind is what a message asks for, as NICs count it.
type requestKind uint8

const (
	requestSend requestKind = iota
	requestWrite
	requestRead
	requestAtomic
	requestOther
	requestKinds
)

// requests are the packets of a flow that begin a message, by kind, and the
// WRITEs with immediate data.
type requests struct {
	begun      [requestKinds]int64
	immediates int64
}

// requestOp is what one operation says of a message.
type requestOp struct {
	kind              requestKind
	begins, immediate bool // of a message; data for a receive
}

func requestsOf(fl *Flow) (r requests) {
	ops := requestOps()
	for name, n := range fl.Opcodes {
		op, ok := ops[name]
		if !ok {
			op = requestOpOf(name)
		}
		if op.begins {
			r.begun[op.kind] += n
		}
		if op.immediate && op.kind == requestWrite {
			r.immediates += n
		}
	}
	return r
}

// of counts the messages of a kind, each once. The packets that begin one say
// how many there were where nothing was sent again and nothing copied; else those
// of the other kinds bound it from below, as all messages together are known.
func (r *requests) of(fl *Flow, kind requestKind) messageCount {
	mine, others := r.begun[kind], int64(0)
	for k, n := range r.begun {
		if requestKind(k) != kind {
			others += n
		}
	}
	switch {
	case mine == 0 || clean(fl):
		return messageCount{mine, true, exact}
	case fl.Messages == nil:
		return messageCount{}
	case others == 0:
		return messageCount{min(mine, *fl.Messages), true, exact}
	}
	bound := max(0, *fl.Messages-others)
	if l := finished(fl, kind); l != nil {
		bound = max(bound, l.Count)
	}
	return messageCount{min(mine, bound), true, lowerBound}
}

// immediate counts the WRITEs with immediate data, which consume a receive.
func (r *requests) immediate(fl *Flow) messageCount {
	if r.immediates > 0 && !clean(fl) {
		return messageCount{0, true, lowerBound}
	}
	return messageCount{r.immediates, true, exact}
}

// clean tells whether every packet on the flow stands for itself.
func clean(fl *Flow) bool {
	return fl.Retransmitted != nil && *fl.Retransmitted == 0 && orZero(fl.Duplicates) == 0 && fl.ICRCBad == 0
}

// finished is the latency of a kind of which each message is one sample.
func finished(fl *Flow, kind requestKind) *Latency {
	switch kind {
	case requestRead:
		return fl.Latency.ReadLast
	case requestAtomic:
		return fl.Latency.Atomic
	}
	return nil
}

// requestOps is what the operations that have a name say, by that name.
var requestOps = sync.OnceValue(func() map[string]requestOp {
	ops := make(map[string]requestOp)
	for code := range 1 << 8 {
		name := roce.Opcode(code).String()
		ops[name] = requestOpOf(name)
	}
	return ops
})

// requestOpOf reads an operation's name, such as "RC RDMA Write Last Immediate".
func requestOpOf(name string) requestOp {
	op := requestOp{kind: requestOther, immediate: strings.Contains(name, "Immediate")}
	_, what, _ := strings.Cut(name, " ")
	switch {
	case strings.HasSuffix(name, " Compare Swap") || strings.HasSuffix(name, " Fetch Add"):
		op.kind = requestAtomic
	case strings.HasPrefix(what, "Send"):
		op.kind = requestSend
	case strings.HasPrefix(what, "RDMA Write"):
		op.kind = requestWrite
	case strings.HasPrefix(what, "RDMA Read Request"):
		op.kind = requestRead
	}
	if strings.Contains(name, "Response") || strings.Contains(name, "Acknowledge") {
		return op
	}
	op.begins = strings.Contains(name, " First") || strings.Contains(name, " Only") || op.kind == requestRead || op.kind == requestAtomic
	return op
}
