package pause

import (
	"sort"

	"rdmascope/decode/pfc"
)

// Source is a row as reports show it.
type Source struct {
	Key
	LinkSpeedBps                     uint64
	SpeedFrom                        SpeedFrom
	Frames, XOFF, XON, Refreshes     int64
	PausedNS, LongestNS              int64
	Transitions, Expiries            int64
	Malformed                        [reasonCount]int64 // by pfc.Reason
	FirstTime, LastTime, FirstPacket int64
	Paused                           bool  // still, at the capture's end
	IntervalsDropped                 int64 // older than those that rules looked at
	NICWatchdog, MLX5Warnings        int64
	MLX5Stalls                       int64 // that lasted for all of its stall time
	Windows                          Windows
	Joined                           Joined // on a slower link than was assumed
}

// MalformedFrames is the number of malformed frames of all reasons.
func (s *Source) MalformedFrames() int64 {
	var n int64
	for _, m := range s.Malformed {
		n += m
	}
	return n
}

// Interval is one pause.
type Interval struct {
	Start, End int64 // ns, the end rounded
	ByXON      bool
	ByExpiry   bool // neither: cut at the capture's end
	Packet     int64
	Frames     int64
}

// TimelineResult is a Timeline as it stands at the capture's end.
type TimelineResult struct {
	Start, End int64 // of the capture
	rows       []row
	opt        Options

	Frames      int64 // pause frames of all kinds
	CutFrames   int64 // too short in the capture to be read
	EmptyFrames int64 // with no class enabled
	RowsRefused int64 // frames of rows for which there was no room
	RowsEvicted int64 // rows that had been silent for long and gave room to others
	Dropped     int64 // intervals that fell out of the table
}

// Result returns the time line of a capture that began at start and whose last
// packet came at end. It shares nothing that changes.
func (t *Timeline) Result(start, end int64) TimelineResult {
	r := TimelineResult{Start: start, End: end, opt: t.opt, Frames: t.frames, CutFrames: t.cut,
		EmptyFrames: t.empty, RowsRefused: t.refused, RowsEvicted: t.evicted, Dropped: t.dropped}
	r.rows = make([]row, len(t.rows))
	for i := range t.rows {
		r.rows[i] = t.rows[i].settle(end)
	}
	return r
}

// Intervals returns the pauses of a row, oldest first, as far as they are kept.
func (r *TimelineResult) Intervals(k Key) []Interval {
	for i := range r.rows {
		if s := &r.rows[i]; s.key == k {
			var l []Interval
			for n := s.ring.first(); n < s.ring.next; n++ {
				v := s.ring.get(n)
				l = append(l, Interval{Start: v.start, End: v.start + roundNS(v.length()), ByXON: v.ending == endXON,
					ByExpiry: v.ending == endExpiry, Packet: v.packet, Frames: int64(v.frames)})
			}
			return l
		}
	}
	return nil
}

func (s *row) source() Source {
	last := s.ring.last()
	return Source{
		Key: s.key, LinkSpeedBps: s.speed, SpeedFrom: s.from, Frames: s.frames, XOFF: s.xoffs, XON: s.xons, Refreshes: s.refreshes,
		PausedNS: s.paused.nanoseconds(), LongestNS: roundNS(s.longest), Transitions: s.transitions, Expiries: s.expiries,
		Malformed: s.malformed, FirstTime: s.firstTime, LastTime: s.lastTime, FirstPacket: s.firstPacket,
		Paused: last != nil && last.ending == endOpen, IntervalsDropped: s.ring.first(),
		NICWatchdog: s.overNIC, MLX5Warnings: s.overMLX5, MLX5Stalls: s.overStall, Windows: s.windows,
	}
}

// Violation is data sent into a pause by one flow.
type Violation struct {
	Key
	Part int // index of the TrafficResult whose flow it is, -1 for no flow
	Violator
}

// Watchdogs is how often others' watchdogs would have spoken.
type Watchdogs struct {
	// PFCWD: SONiC's, which polls: a storm must fill a whole polling interval
	// after its detection time to be found whatever the phase.
	PFCWD int64
	// PFCWDPossible: storms that it would have found or not, as its polls fell.
	PFCWDPossible int64
	NIC           int64 // pauses without a break of 100 ms
	MLX5          int64 // of 85 % of 8 s
}

// Result is what all shards know together.
type Result struct {
	Visible bool // any MAC control frame; without one nothing is known about pauses
	// LinkSpeedBps is 0 when sources differ or there is none.
	LinkSpeedBps uint64
	SpeedFrom    SpeedFrom // of LinkSpeedBps

	Sources    []Source // by interface, direction, MAC, priority
	Storms     []Storm  // by start
	Spreads    []Spread // by start
	Roots      []Root
	Deadlocks  []Deadlock
	Violations []Violation
	Watchdogs  Watchdogs

	Frames, CutFrames, EmptyFrames                  int64
	RowsRefused, RowsEvicted                        int64
	IntervalsDropped, SpreadsOmitted, StormsOmitted int64
	QuietDropped, UntrackedPackets                  int64
}

// Merge joins one time line (all shards' are equal) with every shard's traffic.
// ports is the user's port map, nil where there is none.
func Merge(tl TimelineResult, parts []TrafficResult, ports Ports) Result {
	r := Result{Visible: tl.Frames > 0, Frames: tl.Frames, CutFrames: tl.CutFrames, EmptyFrames: tl.EmptyFrames,
		RowsRefused: tl.RowsRefused, RowsEvicted: tl.RowsEvicted, IntervalsDropped: tl.Dropped}
	for i := range parts {
		r.QuietDropped += parts[i].QuietDropped
		r.UntrackedPackets += parts[i].Untracked
	}
	m := newMerger(&tl, parts)
	m.ports = portsOf(&tl, ports)
	for i := range tl.rows {
		s := tl.rows[i].source()
		s.Joined = m.joined(i)
		r.Sources = append(r.Sources, s)
		r.Watchdogs.NIC += s.NICWatchdog
		r.Watchdogs.MLX5 += s.MLX5Warnings
		r.Storms = append(r.Storms, m.storms(i, &r.Watchdogs)...)
		r.Violations = append(r.Violations, m.violations(i)...)
	}
	r.LinkSpeedBps, r.SpeedFrom = commonSpeed(r.Sources)
	sort.Slice(r.Sources, func(i, j int) bool { return r.Sources[i].less(r.Sources[j].Key) })
	sort.SliceStable(r.Storms, func(i, j int) bool {
		a, b := &r.Storms[i], &r.Storms[j]
		if a.StartTime != b.StartTime {
			return a.StartTime < b.StartTime
		}
		return a.less(b.Key)
	})
	r.StormsOmitted = int64(max(len(r.Storms)-maxStorms, 0))
	r.Storms = r.Storms[:min(len(r.Storms), maxStorms)]
	r.Deadlocks = m.deadlocks(r.Storms)
	m.roots(r.Storms)
	r.Spreads, r.Roots, r.SpreadsOmitted = m.spreads(r.Storms)
	return r
}

// maxStorms bounds the list, and with it the search for cycles and causes
// among them; the earliest are kept.
const maxStorms = 1000

// merger holds what the rules of Merge look at.
type merger struct {
	tl    *TimelineResult
	parts []TrafficResult
	ports []Port                 // by row
	quiet map[uint16][]partQuiet // by interface
}

type partQuiet struct {
	Quiet
	part int
}

func newMerger(tl *TimelineResult, parts []TrafficResult) *merger {
	m := &merger{tl: tl, parts: parts, quiet: map[uint16][]partQuiet{}}
	for k := range parts {
		for _, q := range parts[k].Quiet {
			m.quiet[q.Iface] = append(m.quiet[q.Iface], partQuiet{q, k})
		}
	}
	return m
}

// marks joins all shards' marks of interval n of row i.
func (m *merger) marks(i int, n int64) (all uint8) {
	for k := range m.parts {
		all |= m.parts[k].mark(i, m.tl.rows[i].gen, n)
	}
	return all
}

// violations lists all shards' violators of a row. Frames of no flow are one
// violator.
func (m *merger) violations(i int) []Violation {
	var l []Violation
	rest := -1 // index of the violator that is no flow
	for k := range m.parts {
		if i >= len(m.parts[k].rows) || m.parts[k].rows[i].gen != m.tl.rows[i].gen {
			continue
		}
		for _, v := range m.parts[k].rows[i].violators {
			switch {
			case v.Flow != -1:
				l = append(l, Violation{m.tl.rows[i].key, k, v})
			case rest < 0:
				rest = len(l)
				l = append(l, Violation{m.tl.rows[i].key, -1, v})
			default:
				l[rest].Violator.join(v)
			}
		}
	}
	sort.SliceStable(l, func(a, b int) bool { return l[a].FirstPacket < l[b].FirstPacket })
	return l
}

func (v *Violator) join(w Violator) {
	v.Packets += w.Packets
	v.Bytes += w.Bytes
	if w.FirstPacket < v.FirstPacket {
		v.FirstPacket, v.FirstTime = w.FirstPacket, w.FirstTime
	}
}

// commonSpeed is the speed that all sources share, 0 when they differ.
func commonSpeed(l []Source) (bps uint64, from SpeedFrom) {
	for i := range l {
		if i > 0 && (l[i].LinkSpeedBps != bps || l[i].SpeedFrom != from) {
			return 0, from
		}
		bps, from = l[i].LinkSpeedBps, l[i].SpeedFrom
	}
	return bps, from
}

var reasonNames = [reasonCount]string{pfc.ReasonNone: "none", pfc.ReasonShort: "short", pfc.ReasonDestination: "destination", pfc.ReasonVector: "enable_vector"}

// ReasonName is the report's name of what is wrong with a malformed frame, an
// index of Source.Malformed.
func ReasonName(r int) string {
	if r < 0 || r >= len(reasonNames) {
		return "invalid"
	}
	return reasonNames[r]
}
