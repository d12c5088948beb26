// Package report shows an analysis.Snapshot to people and to programs.
//
// JSON writes the contract that scripts rely on, Schema describes it, Text
// writes what an engineer reads first: the verdict, then what proves it and
// what to check next, then the figures, and always how far the capture can be
// trusted. All of them are pure functions of the snapshot: equal snapshots
// give equal bytes. What was not measured is shown as "–" with the reason,
// never as 0.
//
// Names and private data come from the wire or from a file and may be
// hostile; every text passes clean before it is measured or written, so that
// no control byte reaches a terminal.
package report

import "rdmascope/analysis"

// DefaultTop is how many rows a table of Text shows unless told otherwise.
const DefaultTop = 10

// DefaultConnections is how many connections JSON lists unless told
// otherwise; Options.Connections says more.
const DefaultConnections = 10_000

// Options tells how a report is written.
type Options struct {
	Width       int  // columns of the text report; 0 is 100, anything below 80 is 80
	Color       bool // ANSI colours; see UseColor
	ASCII       bool // charts without block characters; see UseASCII
	Top         int  // rows per table of the text report; 0 is all
	Connections int  // connections in the JSON; 0 is DefaultConnections, negative is all
	Compact     bool // JSON on one line
}

const (
	minWidth  = 80
	fullWidth = 100
)

func (o Options) width() int {
	switch {
	case o.Width <= 0:
		return fullWidth
	case o.Width < minWidth:
		return minWidth
	}
	return o.Width
}

// rows is how many of n rows a table shows.
func (o Options) rows(n int) int {
	if o.Top > 0 && o.Top < n {
		return o.Top
	}
	return n
}

// hasRDMA tells whether any packet of the capture carried RDMA; connection
// management counts, since it is RDMA's own protocol.
func hasRDMA(s *analysis.Snapshot) bool {
	p := &s.Protocols
	return dataPackets(s)+p.CM.Packets > 0
}

// dataPackets counts the packets that carry RDMA itself.
func dataPackets(s *analysis.Snapshot) int64 {
	p := &s.Protocols
	return p.RoCEv2.Packets + p.RoCEv1.Packets + p.InfiniBand.Packets + p.IWARP.Packets
}
