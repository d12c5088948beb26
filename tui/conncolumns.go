package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rdmascope/analysis"
)

// countColumn is a column of a figure that may be unknown.
func countColumn(title, help string, width, rank int, l look, get func(*analysis.Connection) *int64) column[connRow] {
	return column[connRow]{
		title: title, help: help, width: width, right: true, rank: rank,
		text: func(r connRow) string { return orUnknown(get(r.c), short) },
		num: func(r connRow) (int64, bool) {
			v := get(r.c)
			return value(v), v != nil
		},
		look: func(r connRow) look {
			if value(get(r.c)) > 0 {
				return l
			}
			return plain
		},
	}
}

func flowCount(title, help string, width, rank int, l look, get func(*analysis.Flow) *int64) column[connRow] {
	return countColumn(title, help, width, rank, l, func(c *analysis.Connection) *int64 { return total(c, get) })
}

func flowAlways(title, help string, width, rank int, l look, get func(*analysis.Flow) int64) column[connRow] {
	return flowCount(title, help, width, rank, l, func(f *analysis.Flow) *int64 { return analysis.Int(get(f)) })
}

// timeColumn is a column of ns.
func timeColumn(title, help string, rank int, get func(*analysis.Connection) *int64) column[connRow] {
	return column[connRow]{
		title: title, help: help, width: 7, right: true, rank: rank,
		text: func(r connRow) string { return orUnknown(get(r.c), duration) },
		num: func(r connRow) (int64, bool) {
			v := get(r.c)
			return value(v), v != nil
		},
	}
}

// latencyColumn shows a quantile of the slower direction.
func latencyColumn(title, help string, rank int, block func(*analysis.Flow) *analysis.Latency, q func(*analysis.Latency) int64) column[connRow] {
	return timeColumn(title, help, rank, func(c *analysis.Connection) *int64 {
		return greatest(c, func(f *analysis.Flow) *int64 {
			if b := block(f); b != nil {
				return analysis.Int(q(b))
			}
			return nil
		})
	})
}

func ackOf(f *analysis.Flow) *analysis.Latency     { return f.Latency.Ack }
func messageOf(f *analysis.Flow) *analysis.Latency { return f.Latency.Message }
func readOf(f *analysis.Flow) *analysis.Latency    { return f.Latency.ReadLast }

func p50(b *analysis.Latency) int64 { return b.P50NS }
func p99(b *analysis.Latency) int64 { return b.P99NS }

// worstLatency is a quantile over the kinds of latency, for the columns that
// show one figure whatever the operation.
func worstLatency(q func(*analysis.Latency) int64) func(*analysis.Connection) *int64 {
	return func(c *analysis.Connection) *int64 {
		if b := slowest(c); b != nil {
			return analysis.Int(q(b))
		}
		return nil
	}
}

func resentShare(c *analysis.Connection) *int64 {
	resent, all := total(c, retransmitted), plainTotal(c, packetsOf)
	if resent == nil || all == 0 {
		return nil
	}
	return analysis.Int(int64(float64(*resent) / float64(all) * 1e9))
}

// nanoRatio writes a share kept in billionths.
func nanoRatio(v int64) string { return strings.TrimSuffix(percent(float64(v)/1e9), " %") }

func decimalColumn(title, help string, width, rank int, get func(*analysis.Flow) *analysis.Decimal) column[connRow] {
	as := func(c *analysis.Connection) *int64 {
		return greatest(c, func(f *analysis.Flow) *int64 {
			if d := get(f); d != nil {
				return analysis.Int(int64(float64(*d) * 1e9))
			}
			return nil
		})
	}
	return column[connRow]{title: title, help: help, width: width, right: true, rank: rank,
		text: func(r connRow) string {
			return orUnknown(as(r.c), func(v int64) string { return percent(float64(v) / 1e9) })
		},
		num: func(r connRow) (int64, bool) { v := as(r.c); return value(v), v != nil }}
}

func textColumn(title, help string, width, rank int, get func(*analysis.Connection) string) column[connRow] {
	return column[connRow]{title: title, help: help, width: width, rank: rank, up: true, text: func(r connRow) string { return get(r.c) }}
}

func growing(c column[connRow], by int) column[connRow] {
	c.grow = by
	return c
}

// connColumns are all columns of the connection table.
func connColumns() []column[connRow] {
	who := column[connRow]{title: "A→B", help: "addresses; A opened it or sent the first request", width: 22, grow: 12, rank: 0, up: true,
		text: func(r connRow) string { return addresses(r.c) },
		term: func(r connRow) string { return addressTerm(r.c) }}
	qps := column[connRow]{title: "QPs A↔B", help: "queue pair numbers; iWARP: TCP ports", width: 17, rank: 1, up: true,
		text: func(r connRow) string { return endNames(r.c) },
		term: func(r connRow) string { return endTerm(r.c) }}
	mark := column[connRow]{title: "!", help: "worst finding about it", width: 5, rank: 0,
		text: connMark, look: connLook, num: func(r connRow) (int64, bool) { return trouble(r), true }}
	share := countColumn("%", "share of packets resent", 5, 6, warning, resentShare)
	share.text = func(r connRow) string { return orUnknown(resentShare(r.c), nanoRatio) }
	list := []column[connRow]{
		mark, who, qps,
		growing(textColumn("OPERATIONS", "what was asked for, most frequent first", 10, 4, operations), 8),
		flowAlways("PKTS", "packets, both directions", 5, 2, plain, packetsOf),
		flowCount("RESENT", "packets sent again by the requester", 6, 1, warning, retransmitted),
		share,
		flowCount("LOST", "packets proved lost, before or after the tap: a lower bound", 5, 5, warning, lostOf),
		flowCount("NAK", "NAKs of all codes", 4, 3, critical, naksOf),
		flowCount("RNR", "receiver-not-ready NAKs", 4, 3, warning, func(f *analysis.Flow) *int64 { return f.RNRNaks }),
		timeColumn("p50", "median of its slowest kind of latency", 7, worstLatency(p50)),
		timeColumn("p99", "99th percentile of its slowest kind of latency", 3, worstLatency(p99)),
		timeColumn("MAX", "longest latency", 4, worstLatency(func(b *analysis.Latency) int64 { return b.MaxNS })),
		decimalColumn("PAUSED", "share of the latency that overlaps a pause", 7, 8, func(f *analysis.Flow) *analysis.Decimal { return f.PauseOverlap }),
	}
	return append(append(list, moreConnColumns()...), lateConnColumns()...)
}

// moreConnColumns are shown where there is room.
func moreConnColumns() []column[connRow] {
	return []column[connRow]{
		{title: "BYTES", help: "frame bytes, both directions", width: 7, right: true, rank: 9,
			text: func(r connRow) string { return byteSize(bytesOf(r.c)) },
			num:  func(r connRow) (int64, bool) { return bytesOf(r.c), true }},
		{title: "RATE", help: "payload bits per second of its life, faster direction", width: 9, right: true, rank: 10,
			text: func(r connRow) string { return orUnknown(rateOf(r.c), bitRate) },
			num:  func(r connRow) (int64, bool) { v := rateOf(r.c); return value(v), v != nil }},
		flowAlways("CE", "packets marked congestion experienced", 5, 10, notice, func(f *analysis.Flow) int64 { return f.ECNCE }),
		flowCount("CNP", "congestion notifications to its senders", 5, 10, notice, func(f *analysis.Flow) *int64 { return f.CNP }),
		flowCount("OOO", "packets that came out of order", 5, 11, warning, func(f *analysis.Flow) *int64 { return f.OutOfOrder }),
		flowCount("DUP", "copies", 5, 12, notice, func(f *analysis.Flow) *int64 { return f.Duplicates }),
		flowCount("UNSEEN", "packets delivered that the capture does not show", 6, 12, warning, func(f *analysis.Flow) *int64 { return f.Unseen }),
		flowCount("MSGS", "messages", 5, 11, plain, func(f *analysis.Flow) *int64 { return f.Messages }),
		latencyColumn("ACK p50", "last packet of a message to its ACK", 12, ackOf, p50),
		latencyColumn("ACK p99", "last packet of a message to its ACK", 12, ackOf, p99),
		latencyColumn("MSG p99", "first packet of a message to its ACK", 12, messageOf, p99),
		latencyColumn("READ p99", "READ request to its last response", 12, readOf, p99),
	}
}

func lateConnColumns() []column[connRow] {
	return []column[connRow]{
		textColumn("SERVICE", "transport service", 7, 13, serviceName),
		textColumn("ULP", "protocol on top, where recognised", 8, 13, func(c *analysis.Connection) string { return orDash(string(c.ULP)) }),
		textColumn("DSCP", "code points of its packets", 6, 13, dscpText),
		countColumn("MTU", "path MTU", 5, 14, plain, func(c *analysis.Connection) *int64 {
			return greatest(c, func(f *analysis.Flow) *int64 { return f.PathMTUBytes })
		}),
		textColumn("PAIRED", "how its directions were paired", 14, 14, pairingText),
		textColumn("CM", "state of its connection management", 12, 15, cmText),
		textColumn("CLOSED", "how it ended", 9, 15, closedText),
		momentColumn("FIRST", "first packet", func(c *analysis.Connection) analysis.Time { return c.FirstTime }),
		momentColumn("LAST", "last packet", func(c *analysis.Connection) analysis.Time { return c.LastTime }),
		textColumn("ID", "stable name of the connection", 10, 17, func(c *analysis.Connection) string { return c.ID }),
	}
}

func momentColumn(title, help string, get func(*analysis.Connection) analysis.Time) column[connRow] {
	return column[connRow]{title: title, help: help, width: 12, rank: 16, up: true,
		text: func(r connRow) string { return clock(get(r.c), 3) },
		num:  func(r connRow) (int64, bool) { t := get(r.c); return int64(t), t.Known() }}
}

func orDash(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

func bytesOf(c *analysis.Connection) int64 {
	return plainTotal(c, func(f *analysis.Flow) int64 { return f.WireBytes })
}

func rateOf(c *analysis.Connection) *int64 {
	return greatest(c, func(f *analysis.Flow) *int64 { return f.ThroughputBps })
}

// dscpText lists the code points used, the most frequent first.
func dscpText(c *analysis.Connection) string {
	sum := map[int]int64{}
	for i := range c.Flows {
		for k, n := range c.Flows[i].DSCP {
			sum[k] += n
		}
	}
	keys := slices.SortedFunc(maps.Keys(sum), func(a, b int) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, k := range keys {
		out = append(out, strconv.Itoa(k))
	}
	return orDash(strings.Join(out, ","))
}

func pairingText(c *analysis.Connection) string {
	if c.Pairing.Method == "" || c.Pairing.Method == "none" {
		return "not paired"
	}
	return c.Pairing.Method + " " + c.Pairing.Confidence
}

func cmText(c *analysis.Connection) string {
	if c.CM == nil {
		return unknown
	}
	return orDash(c.CM.State)
}

func closedText(c *analysis.Connection) string {
	if c.Closed == nil {
		return unknown
	}
	return c.Closed.How
}

// addressTerm selects connections between the same hosts.
func addressTerm(c *analysis.Connection) string {
	if c.A.IP == "" || c.B.IP == "" {
		return ""
	}
	name := "ip.addr"
	if strings.Contains(string(c.A.IP), ":") {
		name = "ipv6.addr"
	}
	return fmt.Sprintf("%s == %s && %s == %s", name, c.A.IP, name, c.B.IP)
}

// endTerm selects by queue pair, or by port.
func endTerm(c *analysis.Connection) string {
	switch {
	case c.Transport == "iwarp" && c.B.Port != nil:
		return fmt.Sprintf("tcp.port == %d", *c.B.Port)
	case c.B.QPN != nil:
		return fmt.Sprintf("infiniband.bth.destqp == 0x%06x", *c.B.QPN)
	case c.A.QPN != nil:
		return fmt.Sprintf("infiniband.bth.destqp == 0x%06x", *c.A.QPN)
	}
	return ""
}
