package analysis

import (
	"rdmascope/analysis/marking"
	"rdmascope/analysis/pause"
	"rdmascope/decode/wire"
)

// buildPFC joins every partition's traffic with the time line of pauses.
func buildPFC(opt *Options, m *marker, r *merged, drafts []*draft) PFC {
	parts := make([]pause.TrafficResult, len(r.partitions))
	for i := range r.partitions {
		parts[i] = r.partitions[i].traffic
	}
	port := func(k pause.Key) pause.Port {
		return opt.PortMap.find(m.iface(k.Iface), k.MAC.String(), string(directionName(k.Dir)))
	}
	if len(opt.PortMap) == 0 {
		port = nil
	}
	res := pause.Merge(r.front.pause, parts, port)
	p := PFC{}
	if !res.Visible {
		return p
	}
	b := pfcBuilder{m: m, tl: &r.front.pause, ids: connectionIDs(drafts), roce: rocePriorities(r, opt.priorities())}
	if res.LinkSpeedBps > 0 {
		p.LinkSpeedBps = Int(int64(res.LinkSpeedBps))
	}
	if len(res.Sources) > 0 {
		p.LinkSpeedFrom = Text(res.SpeedFrom.String())
	}
	duration := r.front.pause.End - r.front.pause.Start
	for i := range res.Sources {
		p.keys = append(p.keys, res.Sources[i].Key)
		p.Sources = append(p.Sources, b.source(&res.Sources[i], duration))
	}
	for i := range res.Spreads {
		p.Spreads = append(p.Spreads, b.spread(&res.Spreads[i]))
	}
	for i := range res.Violations {
		p.Violations = append(p.Violations, b.violation(&res.Violations[i]))
	}
	for i := range res.Storms {
		p.Storms = append(p.Storms, b.storm(&res.Storms[i]))
	}
	p.Watchdogs = Watchdogs{PFCWD: Int(res.Watchdogs.PFCWD), NIC: Int(res.Watchdogs.NIC), MLX5: Int(res.Watchdogs.MLX5)}
	for i := range res.Deadlocks {
		p.Deadlocks = append(p.Deadlocks, b.deadlock(&res.Deadlocks[i]))
	}
	p.timeline = r.front.pause
	p.notEnabled = b.notEnabled(res.Sources, &r.front.dcbx)
	return p
}

// pauseShares takes back the share of latencies that pauses make up where no
// pause could be seen: that is unknown, not 0.
func pauseShares(s *Snapshot) {
	if s.Capture.PFCVisible {
		return
	}
	var why reasons
	eachFlow(s, func(_ *Connection, fl *Flow) {
		if fl.PauseOverlap != nil {
			fl.PauseOverlap = nil
			fl.Reasons = why.with(fl.Reasons, "pause_overlap_ratio", "pauses are not observable: no MAC control frame in this capture")
		}
	})
}

// pfcBuilder translates rows into names.
type pfcBuilder struct {
	m   *marker
	ids map[partFlow]string
	tl  *pause.TimelineResult

	roce map[uint16]*[8]int64 // RoCE packets by interface and priority
}

// rocePriorities counts RoCE packets by interface and priority: PCP, else the
// usual map of DSCP.
func rocePriorities(r *merged, priorities *Priorities) map[uint16]*[8]int64 {
	all := map[uint16]*[8]int64{}
	for i := range r.partitions {
		p := &r.partitions[i]
		for _, flows := range [][]flow{p.archived, p.flows} {
			for k := range flows {
				if flows[k].packets == 0 { // forgotten
					continue
				}
				at := all[p.keys[flows[k].id].Iface]
				if at == nil {
					at = new([8]int64)
					all[p.keys[flows[k].id].Iface] = at
				}
				p.marks.EachMarking(flows[k].mark, func(m marking.Marking) {
					prio := priorities[m.DSCP&63] & 7
					if m.Tagged {
						prio = m.PCP
					}
					at[prio] += m.Packets
				})
			}
		}
	}
	return all
}

// partFlow names a flow by its partition.
type partFlow struct {
	part int
	id   int32
}

// connectionIDs finds the connection of a flow.
func connectionIDs(drafts []*draft) map[partFlow]string {
	ids := make(map[partFlow]string, 2*len(drafts))
	for i := range drafts {
		for _, ref := range drafts[i].refs {
			ids[partFlow{drafts[i].part, ref.id}] = drafts[i].ID
		}
	}
	return ids
}

// iface is an interface's name, else its number.
func (b *pfcBuilder) iface(i uint16) string { return b.m.iface(i) }

func priorityOf(p uint8) Priority {
	if p == pause.All {
		return PriorityAll
	}
	return Priority(p)
}

func directionName(d wire.Dir) Text {
	switch d {
	case wire.DirIn:
		return "inbound"
	case wire.DirOut:
		return "outbound"
	}
	return ""
}

func (b *pfcBuilder) source(s *pause.Source, duration int64) PFCSource {
	out := PFCSource{
		Interface: b.iface(s.Iface), Direction: directionName(s.Dir), EthSrc: s.MAC.String(), Priority: priorityOf(s.Priority),
		LinkSpeedBps: Int(int64(s.LinkSpeedBps)), XOFFFrames: s.XOFF, XONFrames: s.XON,
		PausedNS: Int(s.PausedNS), PausedRatio: Quotient(s.PausedNS, duration), LongestPauseNS: Int(s.LongestNS),
		Transitions: Int(s.Transitions), Expiries: Int(s.Expiries), MalformedFrames: s.MalformedFrames(),
		FirstTime: Time(s.FirstTime), LastTime: Time(s.LastTime), firstPacket: s.FirstPacket,
		MalformedReasons: malformedReasons(s), Windows: pfcWindows(&s.Windows),
		joinedBps: int64(s.Joined.Bps), joinedNS: s.Joined.DurationNS,
		stallWarnings: s.MLX5Warnings, stallErrors: s.MLX5Stalls,
	}
	out.timeline = timeline(b.tl, s.Key)
	if n := b.roce[s.Iface]; n != nil {
		out.roce = *n
	}
	return out
}

// timelineParts is how many parts of the capture a source's timeline has: more
// than a line of text shows.
const timelineParts = 128

// timeline spreads a source's pauses over equal parts of the capture.
func timeline(tl *pause.TimelineResult, k pause.Key) []int64 {
	length := tl.End - tl.Start
	if length < timelineParts {
		return nil
	}
	border := func(i int64) int64 { // start of part i, without overflow for captures of years
		return tl.Start + length/timelineParts*i + length%timelineParts*i/timelineParts
	}
	parts := make([]int64, timelineParts)
	i := int64(0)
	for _, v := range tl.Intervals(k) {
		for i < timelineParts-1 && border(i+1) <= v.Start {
			i++
		}
		for n := i; n < timelineParts && border(n) < v.End; n++ {
			parts[n] += max(0, min(border(n+1), v.End)-max(border(n), v.Start))
		}
	}
	return parts
}

func malformedReasons(s *pause.Source) Counts {
	c := Counts{}
	for reason, n := range s.Malformed {
		if n > 0 {
			c[pause.ReasonName(reason)] = n
		}
	}
	return c
}

func pfcWindows(w *pause.Windows) PFCWindows {
	out := PFCWindows{WidthNS: w.WidthNS}
	if len(w.Window) > 0 {
		out.StartTime = Time(w.StartNS)
	}
	for i := range w.Window {
		out.PausedNS = append(out.PausedNS, w.Window[i].PausedNS)
		out.Frames = append(out.Frames, w.Window[i].Frames)
	}
	return out
}

func (b *pfcBuilder) hop(h *pause.Hop) PFCHop {
	return PFCHop{Interface: b.iface(h.Iface), EthSrc: h.MAC.String(), Priority: priorityOf(h.Priority), StartTime: Time(h.StartTime), DurationNS: Int(h.DurationNS)}
}

func (b *pfcBuilder) spread(s *pause.Spread) PFCSpread {
	out := PFCSpread{}
	for i := range s.Path {
		out.Path = append(out.Path, b.hop(&s.Path[i]))
	}
	if len(out.Path) > 0 {
		out.StartTime = out.Path[0].StartTime
		out.Root = &PFCPort{Interface: out.Path[0].Interface, EthSrc: out.Path[0].EthSrc}
	}
	return out
}

func (b *pfcBuilder) deadlock(d *pause.Deadlock) PFCDeadlock {
	out := PFCDeadlock{Priority: priorityOf(d.Priority), StartTime: Time(d.StartTime), DurationNS: d.DurationNS}
	for _, m := range d.Members {
		out.Members = append(out.Members, PFCMember{Interface: b.m.iface(m.Iface), EthSrc: m.MAC.String(), Device: Text(m.Device), Stops: Text(m.Peer)})
	}
	return out
}

func (b *pfcBuilder) violation(v *pause.Violation) PFCViolation {
	return PFCViolation{Interface: b.iface(v.Iface), EthSrc: v.MAC.String(), Priority: priorityOf(v.Priority),
		ConnectionID: Text(b.ids[partFlow{v.Part, v.Flow}]), Packets: v.Packets, FirstPacket: Int(v.FirstPacket), FirstTime: Time(v.FirstTime)}
}

func (b *pfcBuilder) storm(s *pause.Storm) PFCStorm {
	out := PFCStorm{Interface: b.iface(s.Iface), EthSrc: s.MAC.String(), Priority: priorityOf(s.Priority), StartTime: Time(s.StartTime),
		DurationNS: s.DurationNS, Frames: s.Frames, Kind: s.Kind.String(), Open: s.Open, Root: s.Root,
		Flaps: int64(s.Flaps), LastTime: Time(s.LastEnd), firstPacket: s.FirstPacket, pausedNS: s.PausedNS}
	for _, v := range s.Victims {
		if id := b.ids[partFlow{v.Part, v.Flow}]; id != "" {
			out.Victims = append(out.Victims, PFCVictim{ConnectionID: id, QuietNS: v.QuietNS})
		}
	}
	for i := range s.Spread {
		h := b.hop(&s.Spread[i])
		out.Spread = append(out.Spread, PFCSpreadHop{h.Interface, h.EthSrc, h.Priority, h.StartTime})
	}
	return out
}
