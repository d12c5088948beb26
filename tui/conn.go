package tui

import (
	"fmt"
	"math/bits"
	"strings"

	"rdmascope/analysis"
)

// connRow is a connection with what is said about it.
type connRow struct {
	c *analysis.Connection
	f *analysis.Finding // the worst about it, or nil
}

// total adds a figure over both flows; nil when neither has it.
func total(c *analysis.Connection, get func(*analysis.Flow) *int64) *int64 {
	var t *int64
	for i := range c.Flows {
		if v := get(&c.Flows[i]); v != nil {
			if t == nil {
				t = new(int64)
			}
			*t += *v
		}
	}
	return t
}

// plainTotal adds a figure that every flow has.
func plainTotal(c *analysis.Connection, get func(*analysis.Flow) int64) (t int64) {
	for i := range c.Flows {
		t += get(&c.Flows[i])
	}
	return t
}

// greatest is the greatest of a figure over both flows.
func greatest(c *analysis.Connection, get func(*analysis.Flow) *int64) *int64 {
	var g *int64
	for i := range c.Flows {
		if v := get(&c.Flows[i]); v != nil && (g == nil || *v > *g) {
			g = v
		}
	}
	return g
}

func value(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func packetsOf(f *analysis.Flow) int64      { return f.Packets }
func retransmitted(f *analysis.Flow) *int64 { return f.Retransmitted }

func naksOf(f *analysis.Flow) *int64 {
	if f.Naks == nil {
		return nil
	}
	return analysis.Int(f.Naks.Total())
}

// lostOf adds the losses before and after the tap.
func lostOf(f *analysis.Flow) *int64 {
	if f.LostUpstream == nil && f.LostDownstream == nil {
		return nil
	}
	return analysis.Int(value(f.LostUpstream) + value(f.LostDownstream))
}

// rejected tells whether the connection never came about.
func rejected(c *analysis.Connection) bool {
	return c.CM != nil && (c.CM.RejectReason != nil || c.CM.RejectText != "")
}

// trouble ranks connections, the worst highest: severity of its findings,
// then refusals and fatal NAKs, then packets resent, NAKs, RNR NAKs, and the
// longest latency, each in its own bits so that it only decides between
// equals in all before it.
func trouble(r connRow) int64 {
	severity, fatal, resent, naks, rnr, slow := int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)
	if r.f != nil {
		severity = int64(r.f.Severity.Rank())
	}
	if rejected(r.c) {
		fatal++
	}
	for i := range r.c.Flows {
		f := &r.c.Flows[i]
		rnr += value(f.RNRNaks)
		if f.Naks != nil {
			naks += f.Naks.PSNSequenceError
			fatal += f.Naks.Total() - f.Naks.PSNSequenceError
		}
		resent += value(f.Retransmitted) + value(f.PSNGapPackets) // UC resends nothing: what it skipped stands for it
		for _, k := range latencyKinds(f) {
			slow = max(slow, k.block.MaxNS)
		}
	}
	score := max(severity, 0) & 3
	field := func(v int64, width int) {
		score = score<<width | min(max(v, 0), 1<<width-1)
	}
	field(fatal, 6)
	field(resent, 24)
	field(naks, 12)
	field(rnr, 12)
	field(int64(bits.Len64(uint64(max(slow, 0)))), 6)
	return score
}

// latencyKind is one latency block that has samples.
type latencyKind struct {
	name  string
	block *analysis.Latency
}

func latencyKinds(f *analysis.Flow) []latencyKind {
	var out []latencyKind
	for _, k := range []latencyKind{
		{"message", f.Latency.Message}, {"ack", f.Latency.Ack}, {"read, first", f.Latency.ReadFirst},
		{"read, last", f.Latency.ReadLast}, {"atomic", f.Latency.Atomic},
	} {
		if k.block != nil {
			out = append(out, k)
		}
	}
	if f.TCP != nil && f.TCP.RTT != nil {
		out = append(out, latencyKind{"TCP rtt", f.TCP.RTT})
	}
	return out
}

// slowest is the latency block with the greatest maximum of those that a
// user waits for.
func slowest(c *analysis.Connection) *analysis.Latency {
	var worst *analysis.Latency
	for i := range c.Flows {
		for _, k := range latencyKinds(&c.Flows[i]) {
			if worst == nil || k.block.MaxNS > worst.MaxNS {
				worst = k.block
			}
		}
	}
	return worst
}

func addresses(c *analysis.Connection) string { return ipText(c.A.IP) + "→" + ipText(c.B.IP) }

func endNames(c *analysis.Connection) string { return endName(c, &c.A) + "↔" + endName(c, &c.B) }

// connName names a connection in one line.
func connName(c *analysis.Connection) string {
	kind := "QP "
	if c.Transport == "iwarp" {
		kind = "iWARP "
	}
	return addresses(c) + " " + kind + endNames(c)
}

// connMark is the glyph and number of the worst finding about a connection.
func connMark(r connRow) string {
	switch {
	case r.f != nil:
		return severityGlyph(r.f.Severity) + " " + r.f.ID
	case rejected(r.c):
		return "▲ rej"
	}
	return ""
}

func connLook(r connRow) look {
	switch {
	case r.f != nil:
		return severityLook(r.f.Severity)
	case rejected(r.c):
		return warning
	}
	return plain
}

// connFilter is the display filter that selects a connection's packets.
func connFilter(c *analysis.Connection) string {
	if c.A.IP == "" || c.B.IP == "" {
		return ""
	}
	ip := "ip.addr"
	if strings.Contains(string(c.A.IP), ":") {
		ip = "ipv6.addr"
	}
	f := fmt.Sprintf("%s == %s && %s == %s", ip, c.A.IP, ip, c.B.IP)
	if c.Transport == "iwarp" {
		if c.A.Port != nil && c.B.Port != nil {
			f += fmt.Sprintf(" && tcp.port == %d && tcp.port == %d", *c.A.Port, *c.B.Port)
		}
		return f
	}
	if c.Transport != "rocev2" {
		return "" // GIDs need other names
	}
	var qps []string
	for _, q := range []*int64{c.A.QPN, c.B.QPN} {
		if q != nil {
			qps = append(qps, fmt.Sprintf("infiniband.bth.destqp == 0x%06x", *q))
		}
	}
	switch len(qps) {
	case 1:
		return f + " && " + qps[0]
	case 2:
		return f + " && (" + qps[0] + " || " + qps[1] + ")"
	}
	return f
}
