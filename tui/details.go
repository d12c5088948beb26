package tui

import "rdmascope/analysis"

// Details gives on demand what is too big for a snapshot. Its methods are
// called on the drawing goroutine, so they must answer from memory at once;
// what they return is not changed any more.
type Details interface {
	// Connection gives plots of one connection of a snapshot; nil and the
	// reason when there are none, or none yet.
	Connection(s *analysis.Snapshot, c *analysis.Connection) (d *ConnDetail, why string)
	// Arrived grows whenever something that Connection had not yet is there
	// now: it is asked four times a second.
	Arrived() uint64
	// Timeline gives the capture over time; nil when it was not recorded.
	Timeline(s *analysis.Snapshot) *Timeline
	// Pauses gives the pause intervals of every sender, in the order of the
	// snapshot's PFC sources or any other; nil when they were not recorded.
	Pauses(s *analysis.Snapshot) []PauseLane
}

// ConnDetail is what is plotted of one connection.
type ConnDetail struct {
	SequenceName string  // "PSN" or "TCP sequence"; "" counts as PSN
	Points       []Point // in capture order
	PointsNote   string  // such as "every 16th packet"; "" when complete
	Pauses       []Span  // when a priority that it uses was paused
	Histograms   []Histogram
	Events       []Event // beyond what the snapshot's recoveries tell; in order
}

// PointKind is what a point of the sequence plot stands for.
type PointKind uint8

// Kinds of points, the most telling last: it wins where they meet.
const (
	PointAck PointKind = iota
	PointData
	PointResent
	PointRNR
	PointNak
)

// Point is one packet in the sequence plot.
type Point struct {
	Time   analysis.Time
	Packet int64
	Seq    int64 // unwrapped: grows past 2^24 (2^32) instead of starting over
	Kind   PointKind
	Flow   uint8 // whose sequence numbers: index into the connection's flows
}

// Span is an interval of time.
type Span struct {
	Start analysis.Time
	NS    int64
}

// Histogram counts latencies of one kind.
type Histogram struct {
	Name    string // "message", "ack", "read"…
	Flow    uint8
	Buckets []Bucket // ascending; empty ones may be left out
}

// Bucket counts samples of at least FromNS and less than ToNS.
type Bucket struct{ FromNS, ToNS, Count int64 }

// Event is something that happened to a connection.
type Event struct {
	Time   analysis.Time
	Packet int64 // 0: none
	Text   string
	Bad    bool
}

// Timeline is the whole capture in equal bins.
type Timeline struct {
	Start  analysis.Time
	BinNS  int64
	Series []Series
	ReadTo analysis.Time // bins beyond are not read yet; 0: all is
}

// Series is one figure over time; a value of -1 is unknown.
type Series struct {
	Name   string // "traffic", "resent", "CNP", "paused"
	Unit   Unit
	Values []int64
}

// Unit tells how the values of a series are written.
type Unit uint8

// Units of series.
const (
	UnitCount    Unit = iota // per second
	UnitBits                 // bit/s
	UnitPerMille             // share of the bin
)

// PauseLane is the pauses that one sender asked for on one priority.
type PauseLane struct {
	Interface string
	EthSrc    string
	Priority  analysis.Priority
	Spans     []PauseSpan // in order, not overlapping
}

// PauseSpan is one uninterrupted pause.
type PauseSpan struct {
	Start  analysis.Time
	NS     int64
	Frames int64
	Packet int64 // number of its first frame, 0 unknown
}
