package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// writeProtocols shows what the capture's packets are.
func writeProtocols(p *printer, s *analysis.Snapshot) {
	c, r := &s.Capture, &s.Protocols
	if c.Packets == 0 {
		return
	}
	p.section("TRAFFIC BY PROTOCOL", "")
	t := table{Indent: 1, columns: []column{
		{title: "PROTOCOL"}, {title: "PACKETS", right: true}, {title: "OF ALL", right: true}, {title: "BYTES", right: true},
	}}
	for _, row := range []struct {
		name string
		t    analysis.Traffic
	}{
		{"RoCEv2", r.RoCEv2}, {"RoCEv1", r.RoCEv1}, {"InfiniBand", r.InfiniBand}, {"iWARP", r.IWARP},
		{"PFC", r.PFC}, {"802.3x PAUSE", r.Pause}, {"RDMA CM", r.CM}, {"other", r.Other},
	} {
		if row.t.Packets > 0 {
			t.add(text(row.name), text(count(row.t.Packets)), text(share(row.t.Packets, c.Packets)), text(byteSize(row.t.WireBytes)))
		}
	}
	t.write(p)
}

// writeCapture says how far the capture can be trusted, and where it is from.
func writeCapture(p *printer, s *analysis.Snapshot) {
	c := &s.Capture
	p.section("CAPTURE", "")
	writeGrade(p, c)
	if c.StartTime.Known() {
		p.labelled(1, "time       ", plain, fmt.Sprintf("%s → %s UTC", clock(c.StartTime, 0), clock(c.EndTime, c.StartTime)))
	} else if c.Packets > 0 {
		p.labelled(1, "time       ", plain, unknown+" the file carries no timestamps")
	}
	for _, h := range health(s) {
		h.write(p)
	}
	writeStops(p, c)
	for i := range s.Inputs {
		writeInput(p, &s.Inputs[i])
	}
}

func writeGrade(p *printer, c *analysis.Capture) {
	look := map[string]struct {
		style style
		glyph string
	}{
		analysis.GradeGood:    {good, "✔ "},
		analysis.GradeLimited: {warning, "▲ "},
		analysis.GradePoor:    {critical, "✖ "},
	}[c.Grade]
	if c.Grade == "" {
		return
	}
	line := look.glyph + c.Grade + " as evidence"
	if len(c.GradeReasons) > 0 {
		line += ": " + strings.Join(c.GradeReasons, "; ")
	}
	p.paragraph(1, look.style, line)
}

// health lists what the capture did to the packets.
func health(s *analysis.Snapshot) []check {
	c := &s.Capture
	list := []check{
		dropCheck(c),
		zeroIsGood("cut", c.SnaplenCutPackets, "packet", "shorter than on the wire (snap length): headers are analysed, the iCRC is not checked"),
		zeroIsGood("malformed", c.MalformedPackets, "packet", "contradict their own headers"),
		zeroIsGood("not decoded", c.UnknownPackets, "packet", "carry a value that no rule here knows"),
		clockCheck(c),
		oneWayCheck(s),
	}
	if c.UntrustedPackets > 0 {
		list = append(list, check{warning, "untrusted", plural(c.UntrustedPackets, "packet") +
			" with a bad iCRC or IP checksum, or malformed, to queue pairs that nothing sound had gone to: in no connection, since their addresses may be what is wrong"})
	}
	if c.Fragments > 0 {
		list = append(list, check{warning, "fragments", plural(c.Fragments, "IP fragment") + ": RDMA senders never make them"})
	}
	if n := stampsUnused(c); n > 0 {
		list = append(list, check{faint, "tap's stamps", plural(n, "packet") + " carry a tap's time stamp, which was not used: --timestamps trailer takes it"})
	}
	if n := c.Encapsulations["keyframe"]; n > 0 {
		list = append(list, check{faint, "tap's stamps", plural(n, "key frame") + " of an Arista 7150 or a tap that does as it does: its stamps of 32 bits are not turned into times"})
	}
	if c.MergedFrames > 0 {
		list = append(list, mergedCheck(c))
	}
	if c.UnseenPackets != nil {
		meaning := "proved delivered but not in the capture: the tap lost them, the network did not"
		if c.MergedUnsplitFrames > 0 {
			meaning = "proved delivered but not seen: the tap lost them, or they are in the merged frames above; the network did not lose them"
		}
		list = append(list, zeroIsGood("unseen", *c.UnseenPackets, "packet", meaning))
	}
	if n := value(c.DuplicatePackets); n > 0 {
		list = append(list, check{notice, "copies", plural(n, "packet") + " captured more than once or doubled on the way; left out of the judgement"})
	}
	if a := s.AgedOut; a != nil {
		list = append(list, letGo(a))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Evictions)) {
		if n := c.Evictions[name]; n > 0 && name != "connections" { // see letGo
			list = append(list, check{warning, "evicted", fmt.Sprintf("%s of the full table %s thrown out: its figures are incomplete", count(n), name)})
		}
	}
	return list
}

// letGo tells of the connections that a long run lists no more.
func letGo(a *analysis.AgedOut) check {
	kept := check{good, "let go", plural(a.Connections, "connection") + " without trouble listed no more: idle for long; what they counted is kept"}
	if a.Evicted > 0 {
		kept = check{notice, "let go", fmt.Sprintf("%s listed no more, %s of them for want of room (--max-connections); what they counted is kept",
			plural(a.Connections, "connection"), count(a.Evicted))}
	}
	return kept
}

func zeroIsGood(name string, n int64, noun, meaning string) check {
	if n == 0 {
		return check{good, name, "none"}
	}
	return check{warning, name, plural(n, noun) + " " + meaning}
}

// clockCheck says whose times were used, unless they are the file's, and
// whether they make sense.
func clockCheck(c *analysis.Capture) check {
	if c.Clock == analysis.ClockOfCapture || c.Clock == "" {
		return zeroIsGood("clock", c.BackwardTimestamps, "timestamp", "ran backwards: latencies around them are not to be trusted")
	}
	look, text := good, "the times stamped on the frames by a tap or a mirror"
	if c.Clock == analysis.ClockOfBoth {
		text += " on some interfaces, the capture's own on others"
	}
	if n := value(c.ClockMissingPackets); n > 0 {
		look, text = warning, text+"; "+plural(n, "packet")+" without one have no time here"
	}
	if n := c.BackwardTimestamps; n > 0 {
		look, text = warning, text+"; "+plural(n, "timestamp")+" ran backwards: latencies around them are not to be trusted"
	}
	return check{look, "clock", text}
}

// stampsUnused counts packets with a tap's stamp where the capture's clock was
// used.
func stampsUnused(c *analysis.Capture) (n int64) {
	if c.Clock != analysis.ClockOfCapture {
		return 0
	}
	for _, k := range []string{"tap_header", "metamako", "exablaze"} {
		n += c.Encapsulations[k]
	}
	return n
}

// mergedCheck says what receive offload made of the capture, and how to make a
// better one.
func mergedCheck(c *analysis.Capture) check {
	text := plural(c.MergedFrames, "frame") + " that receive offload (GRO) merged from several RoCE packets: "
	if split := c.MergedFrames - c.MergedUnsplitFrames; split > 0 {
		text += plural(c.MergedPackets, "packet") + " found in them and analysed, each with the number and the time of its frame"
	}
	if n := c.MergedUnsplitFrames; n > 0 {
		if n < c.MergedFrames {
			text += "; "
		}
		text += plural(n, "frame") + " that could not be told apart (cut, or damaged): only what came first in it counts"
	}
	return check{warning, "merged", text + ". Turn it off where you capture: ethtool -K IFACE gro off lro off"}
}

func dropCheck(c *analysis.Capture) check {
	switch {
	case c.KernelDroppedPackets == nil:
		return check{faint, "dropped", "not told by the file: whoever recorded it may have dropped packets"}
	case *c.KernelDroppedPackets == 0:
		return check{good, "dropped", "none, as the recorder tells"}
	}
	return check{warning, "dropped", plural(*c.KernelDroppedPackets, "packet") + " by the recorder: gaps may be its, not the network's"}
}

// oneWayCheck tells where one direction is missing.
func oneWayCheck(s *analysis.Snapshot) check {
	n, of := s.OneWay()
	switch {
	case of == 0:
		return check{faint, "one-way", "no reliable connection to judge it by"}
	case n == 0:
		return check{good, "one-way", "none: both directions were seen of " + plural(of, "reliable connection")}
	}
	return check{warning, "one-way", fmt.Sprintf("%s of %s: only one direction in the capture, or not paired; no loss, no latency there",
		count(n), plural(of, "reliable connection"))}
}

// writeStops shows where decoding ended early.
func writeStops(p *printer, c *analysis.Capture) {
	t := table{Indent: 1, columns: []column{
		{title: "DECODING ENDED IN"}, {title: "BECAUSE", min: 20}, {title: "PACKETS", right: true},
	}}
	for _, layer := range slices.Sorted(maps.Keys(c.DecodeStops)) {
		reasons := c.DecodeStops[layer]
		for _, why := range slices.Sorted(maps.Keys(reasons)) {
			t.add(text(layer), text(why), text(count(reasons[why])))
		}
	}
	t.write(p)
}

func writeInput(p *printer, in *analysis.Input) {
	line := in.Path
	if in.Path == "-" {
		line = "standard input"
	}
	if in.Format != "" {
		line += "  " + string(in.Format)
	}
	if in.Compression != "" {
		line += " in " + string(in.Compression)
	}
	if in.SizeBytes != nil {
		line += ", " + byteSize(*in.SizeBytes)
	}
	p.labelled(1, "read       ", plain, line)
	if !in.Complete {
		why := string(in.Error)
		if why == "" {
			why = "it ended early"
		}
		p.labelled(1, "           ", warning, "▲ CUT SHORT: "+why+". All before it was analysed; what came after is missing here.")
	}
	if len(in.Interfaces) > 1 || in.Complete && anyDrop(in) {
		for i := range in.Interfaces {
			p.labelled(1, "           ", plain, interfaceLine(&in.Interfaces[i]))
		}
	}
}

func anyDrop(in *analysis.Input) bool {
	return slices.ContainsFunc(in.Interfaces, func(f analysis.InputIface) bool { return value(f.DroppedPackets) > 0 })
}

func interfaceLine(f *analysis.InputIface) string {
	name := string(f.Name)
	if name == "" {
		name = fmt.Sprintf("interface %d", f.ID)
	}
	line := fmt.Sprintf("%s: link type %d", name, f.LinkType)
	if f.SpeedBps != nil {
		line += ", " + bitRate(*f.SpeedBps)
	}
	if f.ReceivedPackets != nil {
		line += ", " + count(*f.ReceivedPackets) + " received"
	}
	if f.DroppedPackets != nil {
		line += ", " + count(*f.DroppedPackets) + " dropped"
	}
	return line
}
