package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rdmascope/analysis"
)

// connNumbers are the figures of a connection, two lines a direction, then
// opcodes, connection management and what is particular to iWARP.
func connNumbers(c *analysis.Connection) [][]span {
	var out [][]span
	for i := range c.Flows {
		f := &c.Flows[i]
		out = append(out, trafficNumbers(f), troubleNumbers(f))
	}
	for i := range c.Flows {
		if l := opcodeNumbers(&c.Flows[i]); len(l) > 0 {
			out = append(out, l)
		}
	}
	for i := range c.Flows {
		out = append(out, moreNumbers(&c.Flows[i])...)
	}
	return append(out, cmNumbers(c)...)
}

// foldNumbers breaks lines that are too long between two figures: a figure
// that is cut off would be read wrong.
func foldNumbers(lines [][]span, w int) [][]span {
	var out [][]span
	for _, l := range lines {
		line := []span{}
		used := 0
		for i := 0; i < len(l); {
			n := 1
			for i+n < len(l) && l[i+n] != gapSpan {
				n++
			}
			piece := l[i : i+n]
			if need := spanColumns(piece); used > 0 && used+need > w {
				out = append(out, line)
				line = []span{{plain, "    "}}
				used = 4
			}
			line = append(line, piece...)
			used += spanColumns(piece)
			i += n
		}
		out = append(out, line)
	}
	return out
}

// gapSpan stands between two figures.
var gapSpan = span{plain, "  "}

// numbers writes names faint and figures plain.
type numbers []span

func (n *numbers) add(name, text string, l look) {
	if len(*n) > 0 {
		*n = append(*n, gapSpan)
	}
	*n = append(*n, span{faint, name + " "}, span{l, text})
}

// figure adds a count that should be 0.
func (n *numbers) bad(name string, v *int64, l look) {
	if value(v) == 0 {
		l = plain
	}
	n.add(name, orUnknown(v, count), l)
}

func trafficNumbers(f *analysis.Flow) []span {
	n := numbers{{heading, clean(f.SrcIP + "→" + f.DstIP)}}
	n.add("packets", count(f.Packets), plain)
	n.add("bytes", byteSize(f.WireBytes), plain)
	n.add("messages", orUnknown(f.Messages, count), plain)
	if f.FirstPSN != nil && f.LastPSN != nil {
		n.add("PSN", psnText(*f.FirstPSN)+"…"+psnText(*f.LastPSN), plain)
	}
	if f.ThroughputBps != nil {
		n.add("rate", bitRate(*f.ThroughputBps), plain)
	}
	if f.PathMTUBytes != nil {
		n.add("MTU", count(*f.PathMTUBytes), plain)
	}
	return n
}

func troubleNumbers(f *analysis.Flow) []span {
	n := numbers{{plain, "   "}}
	n.bad("resent", f.Retransmitted, warning)
	n.bad("NAK", naksOf(f), critical)
	n.bad("RNR", f.RNRNaks, warning)
	n.bad("lost before tap", f.LostUpstream, warning)
	n.bad("after", f.LostDownstream, warning)
	n.bad("out of order", f.OutOfOrder, warning)
	n.bad("copies", f.Duplicates, notice)
	if value(f.Unanswered) > 0 {
		n.bad("unanswered at the end", f.Unanswered, warning)
	}
	if f.ECNCE > 0 || value(f.CNP) > 0 {
		n.bad("CE", &f.ECNCE, notice)
		n.bad("CNP", f.CNP, notice)
	}
	if f.ICRCBad > 0 {
		n.bad("bad iCRC", &f.ICRCBad, critical)
	}
	return n
}

func opcodeNumbers(f *analysis.Flow) []span {
	if len(f.Opcodes) == 0 {
		return nil
	}
	n := numbers{{heading, "opcodes " + clean(f.SrcIP) + "→"}}
	names := slices.SortedFunc(maps.Keys(f.Opcodes), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.Opcodes[b], f.Opcodes[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		n.add(clean(name), count(f.Opcodes[name]), plain)
	}
	return n
}

// moreNumbers are those that only some flows have.
func moreNumbers(f *analysis.Flow) [][]span {
	var out [][]span
	if e := f.Episodes; e != nil && e.Total > 0 {
		n := numbers{{heading, "recoveries"}}
		n.add("total", count(e.Total), plain)
		for _, k := range []struct {
			name string
			v    int64
		}{{"after NAK", e.Nak}, {"RNR", e.RNR}, {"timeout", e.Timeout}, {"implied NAK", e.ImpliedNak}, {"adaptive", e.Adaptive}, {"spurious", e.Spurious}} {
			if k.v > 0 {
				n.add(k.name, count(k.v), plain)
			}
		}
		n.add("time lost", orUnknown(f.RecoveryTimeNS, duration), plain)
		out = append(out, n)
	}
	if t := f.TCP; t != nil {
		n := numbers{{heading, "TCP " + clean(f.SrcIP) + "→"}}
		n.bad("resent segments", t.Retransmitted, warning)
		n.bad("fast", t.FastRetransmits, warning)
		n.bad("timeouts", t.Timeouts, warning)
		n.bad("duplicate ACKs", t.DuplicateAcks, plain)
		n.bad("zero windows", t.ZeroWindows, warning)
		out = append(out, n)
	}
	if m := f.MPA; m != nil {
		n := numbers{{heading, "MPA " + clean(f.SrcIP) + "→"}}
		n.add("FPDUs", count(m.FPDUs), plain)
		n.bad("bad CRC", m.CRCBad, critical)
		n.add("IRD", orUnknown(m.IRD, count), plain)
		n.add("ORD", orUnknown(m.ORD, count), plain)
		out = append(out, n)
	}
	return append(out, reasonNumbers(f)...)
}

// reasonNumbers say why figures of a flow are unknown.
func reasonNumbers(f *analysis.Flow) [][]span {
	var out [][]span
	for _, name := range slices.Sorted(maps.Keys(f.Reasons)) {
		out = append(out, numbers{{faint, unknown + " " + words(clean(name)) + ": "}, {plain, clean(f.Reasons[name])}})
	}
	return out
}

func cmNumbers(c *analysis.Connection) [][]span {
	m := c.CM
	if m == nil {
		return nil
	}
	n := numbers{{heading, "CM"}}
	n.add("state", clean(m.State), plain)
	if rejected(c) {
		n.add("rejected", clean(string(m.RejectText)), critical)
	}
	if m.Port != nil {
		n.add("port", fmt.Sprint(*m.Port), plain)
	}
	n.add("retry count", orUnknown(m.RetryCount, count), plain)
	n.add("RNR retry", orUnknown(m.RNRRetryCount, count), plain)
	n.add("ACK timeout", orUnknown(m.AckTimeoutExponent, ackTimeout), plain)
	n.add("initiator depth", orUnknown(m.InitiatorDepth, count), plain)
	return [][]span{n}
}

// ackTimeout is the local ACK timeout, 4.096 µs × 2^exponent (IBTA vol 1,
// 12.7.34); 0 is none.
func ackTimeout(exponent int64) string {
	if exponent <= 0 || exponent > 31 {
		return "none"
	}
	return duration(4096 << exponent)
}
