package analysis

import (
	"strings"

	"rdmascope/decode/wire"
)

// What a capture did to its packets, beside cutting and losing some.

// stillReason is why nothing that takes a clock is known.
const stillReason = "the capture's timestamps don't move"

// still tells that every packet has the same time.
func (c *Capture) still() bool { return c.DurationNS != nil && *c.DurationNS == 0 && c.Packets > 1 }

// withoutClock takes back all figures that need a clock: differences of one
// time are 0, which reads like a very fast network.
func withoutClock(s *Snapshot) {
	if !s.Capture.still() {
		return
	}
	var why reasons
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			fl := &s.Connections[i].Flows[k]
			fl.Latency = Latencies{}
			fl.RecoveryTimeNS, fl.ThroughputBps, fl.MessageRate, fl.PauseOverlap = nil, nil, nil, nil
			fl.CEToCNP, fl.CNPGapMinNS, fl.RateReduction, fl.RateRecovery, fl.RateRecoveryNS, fl.Turnround = nil, nil, nil, nil, nil, nil
			for r := range fl.Recoveries {
				v := &fl.Recoveries[r]
				v.NakGenerationNS, v.NakReactionNS, v.RecoveryNS = nil, nil, nil
			}
			for _, name := range []string{"latency", "recovery_time_ns", "throughput_bps", "message_rate_per_s"} {
				fl.Reasons = why.with(fl.Reasons, name, stillReason)
			}
		}
	}
}

// WithoutAcks tells that a reliable connection was seen both ways, with SENDs
// or WRITEs, and not one acknowledgement of them: those that came about all must
// have been left out by a filter, and NAKs with them.
func (c *Connection) WithoutAcks() bool {
	if c.Transport == "iwarp" || len(c.Flows) != 2 {
		return false
	}
	for k := range c.Flows {
		fl := &c.Flows[k]
		if fl.Acks == nil || *fl.Acks > 0 || fl.Naks == nil || fl.Naks.Total() > 0 || c.Flows[1-k].Packets == 0 {
			continue
		}
		var ends int64
		for name, n := range fl.Opcodes {
			if strings.HasPrefix(name, "RC ") && (strings.Contains(name, "Send") || strings.Contains(name, "Write")) &&
				(strings.Contains(name, "Only") || strings.Contains(name, "Last")) {
				ends += n
			}
		}
		if ends >= enoughUnanswered {
			return true
		}
	}
	return false
}

// enoughUnanswered is how many messages without an answer are no chance: the
// receiver answers each that asks, and senders ask at least once in a window.
const enoughUnanswered = 16

// doubtArtefacts grades what is left of a capture that somebody filtered, and
// tells what looks odd.
func doubtArtefacts(s *Snapshot, t *totals, doubt func(level int, format string, args ...any)) {
	var n int64
	for i := range s.Connections {
		if s.Connections[i].WithoutAcks() {
			n++
		}
	}
	if n > 0 {
		doubt(1, "%s without one acknowledgement of its messages: filtered out?", plural(n, "connection"))
	}
	if t.macSame > 0 {
		doubt(0, "%s with one MAC address as source and destination: looped back, or rewritten by a mirror", plural(t.macSame, "frame"))
	}
}

// macSame is left out of loopback devices, whose addresses are zero.
func macSame(p *wire.Packet) bool {
	return p.Has(wire.FlagMACSame) && p.EthSrc != wire.MAC{}
}
