package marking

import (
	"slices"
	"sort"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Fault is a way in which a CNP departs from its format (IBTA A17.9.3).
type Fault uint8

// Faults. FaultPSN is told, but not held against anyone: the specification
// says 0, and nobody reads it.
const (
	FaultBECN     Fault = iota // not set
	FaultReserved              // the 16 octets behind the BTH aren't all zero
	FaultPad                   // pad count or length not those of 16 octets
	FaultAckReq                // asks for an acknowledgement
	FaultPSN                   // not 0
	faultCount
)

var faultNames = [...]string{"becn_not_set", "reserved_not_zero", "length", "ack_requested", "psn_not_zero"}

// FaultCount is the number of faults, for tables indexed by Fault.
const FaultCount = int(faultCount)

// String returns the word used in reports.
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return "invalid"
}

// cnpFlow is what a flow knows of the CNPs in it.
type cnpFlow struct {
	n                      int64
	first, last            int64
	firstPacket, badPacket int64
	malformed              int64 // any fault but the PSN's
	faults                 [faultCount]int64
	gaps                   sample
}

func (c *cnpFlow) take(p *wire.Packet) {
	if c.n == 0 {
		c.first, c.firstPacket = p.Time, p.Number
	} else {
		c.gaps.add(max(p.Time-c.last, 0))
	}
	c.n++
	c.last = p.Time
	h := &p.RoCE
	// The body is judged only where all of it was captured.
	bad := [faultCount]bool{
		FaultBECN:     !h.BTH.BECN,
		FaultReserved: h.Present.Has(roce.HeaderCNP) && !h.CNP.Clean(),
		FaultPad:      h.BTH.PadCnt != 0 || h.Present.Has(roce.HeaderCNP) && h.PayloadLen != 0,
		FaultAckReq:   h.BTH.AckReq,
		FaultPSN:      h.BTH.PSN != 0,
	}
	malformed := false
	for i, b := range bad {
		if b {
			c.faults[i]++
			malformed = malformed || Fault(i) != FaultPSN
		}
	}
	if malformed {
		if c.malformed == 0 {
			c.badPacket = p.Number
		}
		c.malformed++
	}
}

// cnpLog keeps the newest CNPs of one direction between two hosts, for the
// scope of their pacing.
type cnpLog struct {
	events []cnpEvent
	next   int
}

type cnpEvent struct {
	time int64
	flow int32
}

const maxLog = 256

func (l *cnpLog) full() bool { return len(l.events) >= maxLog }

// drop takes the CNPs of a flow out, and returns how many these were.
func (l *cnpLog) drop(flow int32) int {
	was := len(l.events)
	inOrder := append(l.events[l.next:len(l.events):len(l.events)], l.events[:l.next]...)
	l.events = slices.DeleteFunc(inOrder, func(e cnpEvent) bool { return e.flow == flow })
	l.next = 0
	return was - len(l.events)
}

func (l *cnpLog) add(now int64, flow int32) {
	if len(l.events) < maxLog {
		l.events = append(l.events, cnpEvent{now, flow})
		return
	}
	l.events[l.next] = cnpEvent{now, flow}
	l.next = (l.next + 1) % maxLog
}

// Scope is what a receiver paces its CNPs by (F8).
type Scope uint8

// Scopes.
const (
	ScopeUnknown Scope = iota // too few CNPs of different flows to tell
	ScopeQP
	ScopePair // of IP addresses
	ScopePort // all that it sends
)

var scopeNames = [...]string{"unknown", "qp", "ip_pair", "port"}

// String returns the word used in reports.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "invalid"
}

// Pacing is how a receiver spaces its CNPs, as far as the newest of them tell.
type Pacing struct {
	Iface uint16
	Src   wire.Addr
	CNPs  int64 // that were looked at
	Scope Scope
	// IntervalNS is the least gap within the scope (within a QP where the scope
	// is unknown), 0 when there was no gap.
	IntervalNS int64
}

// scopeEvents is how many neighbours of different flows it takes to tell
// scopes apart.
const scopeEvents = 10

type pacedEvent struct {
	cnpEvent
	part, pair int
}

// leastGaps finds the least gap between neighbours of one QP, of one pair but
// different QPs, and of different pairs.
func leastGaps(l []pacedEvent) (gap [3]int64, n [3]int64) {
	type qp struct {
		part, pair int
		flow       int32
	}
	last := map[qp]int64{}
	lastOfPair := map[[2]int]pacedEvent{}
	note := func(i int, d int64) {
		if n[i] == 0 || d < gap[i] {
			gap[i] = d
		}
		n[i]++
	}
	for i, e := range l {
		q, pr := qp{e.part, e.pair, e.flow}, [2]int{e.part, e.pair}
		if t, ok := last[q]; ok {
			note(0, e.time-t)
		}
		if u, ok := lastOfPair[pr]; ok && u.flow != e.flow {
			note(1, e.time-u.time)
		}
		if i > 0 && (l[i-1].part != e.part || l[i-1].pair != e.pair) {
			note(2, e.time-l[i-1].time)
		}
		last[q], lastOfPair[pr] = e.time, e
	}
	return gap, n
}

// pacing infers the scope: where neighbours of different QPs come nearer to
// each other than half the least gap within one QP, QPs are paced on their own;
// else the same question is asked of pairs.
func pacing(k pairKey, l []pacedEvent) Pacing {
	sort.SliceStable(l, func(i, j int) bool { return l[i].time < l[j].time })
	gap, n := leastGaps(l)
	p := Pacing{Iface: k.iface, Src: k.src, CNPs: int64(len(l)), IntervalNS: gap[0]}
	if n[0] == 0 {
		return p
	}
	switch {
	case n[1] >= scopeEvents && gap[1] < gap[0]/2:
		p.Scope = ScopeQP
	case n[1] >= scopeEvents && n[2] >= scopeEvents && gap[2] >= min(gap[0], gap[1])/2:
		p.Scope, p.IntervalNS = ScopePort, min(gap[0], gap[1], gap[2])
	case n[1] >= scopeEvents && n[2] >= scopeEvents:
		p.Scope, p.IntervalNS = ScopePair, min(gap[0], gap[1])
	case n[1] < scopeEvents && n[2] >= scopeEvents && gap[2] >= gap[0]/2:
		p.Scope, p.IntervalNS = ScopePort, min(gap[0], gap[2])
	case n[1] >= scopeEvents:
		// One pair only: it may be paced as a pair, or the port as a whole.
		p.Scope, p.IntervalNS = ScopePair, min(gap[0], gap[1])
	}
	return p
}
