package analysis

import (
	"fmt"
	"slices"
	"strconv"

	"rdmascope/decode/wire"
)

// buildInputs lists what was read and the interfaces in it.
func buildInputs(m *marker) List[Input] {
	list := make(List[Input], len(m.inputs))
	for i, in := range m.inputs {
		list[i] = Input{
			Path: in.Path, Format: Text(in.Format), Compression: Text(in.Compression),
			Complete: in.Complete, Error: Text(in.Error),
		}
		if in.SizeBytes >= 0 {
			list[i].SizeBytes = Int(in.SizeBytes)
		}
	}
	for i, face := range m.ifaces {
		in := InputIface{ID: int64(face.ID), Name: Text(face.Name), LinkType: int64(face.Link), Clock: ClockOfCapture,
			ReceivedPackets: known(face.Received), DroppedPackets: known(face.Dropped)}
		if face.SpeedBps != 0 {
			in.SpeedBps = Int(int64(face.SpeedBps))
		}
		if i < len(m.clocks) && m.clocks[i].Stamps {
			in.Clock = ClockOfTrailers
		}
		if face.Input >= 0 && face.Input < len(list) {
			list[face.Input].Interfaces = append(list[face.Input].Interfaces, in)
		}
	}
	return list
}

// iface is an interface's name, else its number.
func (m *marker) iface(i uint16) string {
	if int(i) < len(m.ifaces) && m.ifaces[i].Name != "" {
		return m.ifaces[i].Name
	}
	return strconv.Itoa(int(i))
}

// known makes a figure of a count that is -1 when unknown.
func known(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return Int(v)
}

func buildCapture(m *marker, r *merged) Capture {
	t := &r.front.totals
	c := Capture{
		Packets: t.packets, WireBytes: t.wire, CapturedBytes: t.captured,
		SnaplenCutPackets: t.cut, MalformedPackets: t.malformed, UnknownPackets: t.unknown, Fragments: t.fragments,
		PFCVisible: t.kinds[wire.KindPFC].packets+t.kinds[wire.KindPause].packets > 0,
	}
	c.MergedFrames, c.MergedPackets, c.MergedUnsplitFrames = t.mergedFrames, t.mergedPackets, t.mergedFrames-t.mergedWhole
	buildClock(&c, m)
	timed := false
	var first, last int64
	for _, k := range r.front.clocks {
		c.BackwardTimestamps += k.backward
		c.EqualTimestamps += k.equal
		if k.packets == 0 {
			continue
		}
		if !timed {
			first, last, timed = k.first, k.last, true
		}
		first, last = min(first, k.first), max(last, k.last)
	}
	if timed {
		c.StartTime, c.EndTime, c.DurationNS = Time(first), Time(last), Int(last-first)
	}
	c.KernelDroppedPackets = droppedPackets(m, t)
	c.DecodeStops = decodeStops(t)
	c.Encapsulations = Counts{}
	for kind, n := range t.encaps {
		if n > 0 {
			c.Encapsulations[wire.EncapKind(kind).String()] = n
		}
	}
	for i := range r.partitions {
		c.UntrustedPackets += r.partitions[i].untrusted
	}
	c.Evictions = evictions(r)
	c.Contents = t.contents.counts()
	return c
}

// buildClock says whose times were used.
func buildClock(c *Capture, m *marker) {
	c.Clock = ClockOfCapture
	of, missing := 0, int64(0)
	for _, u := range m.clocks {
		if u.Stamps {
			of++
			missing += u.Missing
		}
	}
	if of == 0 {
		return
	}
	c.Clock, c.ClockMissingPackets = ClockOfTrailers, Int(missing)
	if of < len(m.clocks) {
		c.Clock = ClockOfBoth
	}
}

// droppedPackets adds up what the recorders say they lost; nil when none of
// them told.
func droppedPackets(m *marker, t *totals) *int64 {
	var sum *int64
	add := func(n int64) {
		if sum == nil {
			sum = Int(0)
		}
		*sum += n
	}
	for _, face := range m.ifaces {
		if face.Dropped >= 0 {
			add(face.Dropped)
		}
	}
	if t.recorderLost > 0 {
		add(t.recorderLost)
	}
	return sum
}

func decodeStops(t *totals) Map[Counts] {
	m := Map[Counts]{}
	for layer := range t.stops {
		for reason, n := range t.stops[layer] {
			if n == 0 {
				continue
			}
			name := wire.Layer(layer).String()
			if m[name] == nil {
				m[name] = Counts{}
			}
			m[name][wire.Reason(reason).String()] = n
		}
	}
	return m
}

// grade says how far the capture can be trusted as evidence, and why not
// further.
func grade(s *Snapshot, t *totals) {
	c := &s.Capture
	level := 0
	doubt := func(l int, format string, args ...any) {
		level = max(level, l)
		c.GradeReasons = append(c.GradeReasons, fmt.Sprintf(format, args...))
	}
	if c.Filter != "" {
		doubt(1, "filtered (-Y): what is missing may be what the filter left out")
	}
	for _, in := range s.Inputs {
		if !in.Complete && in.Error != "" {
			doubt(1, "%s: %s", in.Path, string(in.Error))
		}
	}
	if d := c.KernelDroppedPackets; d != nil && *d > 0 {
		doubt(2, "the recorder dropped %s", plural(*d, "packet"))
	}
	if n := c.UnseenPackets; n != nil && *n > 0 {
		where := ""
		if c.MergedUnsplitFrames > 0 {
			where = ", unless they are in merged frames"
		}
		doubt(2, "%s delivered, but not in the capture%s", plural(*n, "packet"), where)
	}
	if c.SnaplenCutPackets > 0 {
		doubt(1, "%s cut: iCRC not checked", plural(c.SnaplenCutPackets, "packet"))
	}
	if c.BackwardTimestamps > 0 {
		doubt(1, "%s backward", plural(c.BackwardTimestamps, "timestamp"))
	}
	if c.still() {
		doubt(2, "timestamps don't move: no rates, no latencies")
	}
	if c.DurationNS == nil && c.Packets > 0 {
		doubt(2, "packets carry no time")
	}
	if t.hiddenCut > 0 {
		doubt(1, "%s shorter than the IP length, though the file says whole", plural(t.hiddenCut, "packet"))
	}
	if t.superFrames > 0 {
		doubt(1, "%s merged by offloads of the capturing host", plural(t.superFrames, "frame"))
	}
	if n := t.mergedFrames; n > 0 {
		doubt(1, "%s merged by receive offload (GRO): its packets share one time", plural(n, "RoCE frame"))
	}
	if n := c.MergedUnsplitFrames; n > 0 {
		doubt(2, "%s of which not all packets could be told apart", plural(n, "merged frame"))
	}
	if d := c.ClockMissingPackets; d != nil && *d > 0 {
		doubt(1, "%s without the tap's stamp, hence without a time", plural(*d, "packet"))
	}
	if d := c.DuplicatePackets; d != nil && *d > 0 {
		doubt(1, "%s captured twice or copied on the way", plural(*d, "packet"))
	}
	doubtArtefacts(s, t, doubt)
	if n, _ := s.OneWay(); n > 0 {
		doubt(1, "%s captured in one direction alone", plural(n, "connection"))
	}
	c.Grade = [...]string{GradeGood, GradeLimited, GradePoor}[level]
	slices.Sort(c.GradeReasons)
}
