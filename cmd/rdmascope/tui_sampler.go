package main

import (
	"strconv"

	"rdmascope/analysis"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/tui"
)

// sampler collects the points of one connection. When there are too many, it
// drops every second one but those that tell of trouble, and from then on takes
// half as many.
type sampler struct {
	flows  []sampled
	queues map[queue]bool // what its packets waited in
	class  func(*wire.Packet) uint8
	name   string
	points []tui.Point
	every  int64
	seen   int64
}

// queue is the priority of packets on an interface: what a pause stops.
type queue struct {
	iface    uint16
	priority uint8
}

// sampled is one flow of the connection, and where its sequence stands.
type sampled struct {
	src, dst         string
	destQP           uint32
	srcPort, dstPort uint16
	tcp              bool
	begun            bool
	newest           int64 // unwrapped
}

// maxPoints bounds a plot: far more than a terminal has dots.
const maxPoints = 1 << 15

func newSampler(c *analysis.Connection, opt *analysis.Options) *sampler {
	s := &sampler{every: 1, name: "PSN", queues: map[queue]bool{}, class: opt.PriorityOf}
	for i := range c.Flows {
		f := &c.Flows[i]
		x := sampled{src: f.SrcIP, dst: f.DstIP, tcp: c.Transport == "iwarp"}
		if f.DestQP != nil {
			x.destQP = uint32(*f.DestQP)
		}
		if f.SrcPort != nil && f.DstPort != nil {
			x.srcPort, x.dstPort = uint16(*f.SrcPort), uint16(*f.DstPort)
		}
		s.flows = append(s.flows, x)
		if x.tcp {
			s.name = "TCP sequence"
		}
	}
	return s
}

func (f *sampled) has(p *wire.Packet) bool {
	if f.tcp {
		if p.Kind != wire.KindTCP || p.SrcPort != f.srcPort || p.DstPort != f.dstPort {
			return false
		}
	} else if !p.Kind.IsRoCE() || !p.Has(wire.FlagBTH) || uint32(p.RoCE.BTH.DestQP) != f.destQP {
		return false
	}
	return p.Src.String() == f.src && p.Dst.String() == f.dst
}

func (s *sampler) packet(p *wire.Packet) {
	for i := range s.flows {
		f := &s.flows[i]
		if !f.has(p) {
			continue
		}
		s.queues[queue{p.Iface, s.class(p)}] = true
		if f.tcp {
			s.segment(p, i)
		} else {
			s.transport(p, i)
		}
		return
	}
}

// segment adds a TCP segment with data.
func (s *sampler) segment(p *wire.Packet, i int) {
	if p.TransLen == 0 {
		return
	}
	f := &s.flows[i]
	seq, resent := f.unwrap(uint64(p.TCP.Seq), 32)
	kind := tui.PointData
	if resent {
		kind = tui.PointResent
	}
	s.add(p, seq, kind, i)
}

// transport adds a RoCE packet. A response speaks of the sequence of the other
// direction.
func (s *sampler) transport(p *wire.Packet, i int) {
	op := p.RoCE.BTH.Opcode
	if !op.IsResponse() {
		if !op.Flags().Has(roce.FlagRequest) {
			return
		}
		seq, resent := s.flows[i].unwrap(uint64(p.RoCE.BTH.PSN), 24)
		kind := tui.PointData
		if resent {
			kind = tui.PointResent
		}
		s.add(p, seq, kind, i)
		return
	}
	of := 1 - i
	if of >= len(s.flows) || !s.flows[of].begun {
		return
	}
	kind := tui.PointAck
	if p.RoCE.Present.Has(roce.HeaderAETH) {
		switch p.RoCE.AETH.Syndrome.Kind() {
		case roce.SyndromeNAK:
			kind = tui.PointNak
		case roce.SyndromeRNRNAK:
			kind = tui.PointRNR
		}
	}
	f := s.flows[of] // a copy: an answer doesn't move the sequence
	seq, _ := f.unwrap(uint64(p.RoCE.BTH.PSN), 24)
	s.add(p, seq, kind, of)
}

// unwrap turns a serial number of so many bits into one that grows, and tells
// whether it isn't beyond the newest.
func (f *sampled) unwrap(v uint64, bits uint) (seq int64, old bool) {
	if !f.begun {
		f.begun, f.newest = true, int64(v)
		return f.newest, false
	}
	d := int64(v-uint64(f.newest)) << (64 - bits) >> (64 - bits)
	seq = f.newest + d
	if d > 0 {
		f.newest = seq
	}
	return seq, d <= 0
}

func (s *sampler) add(p *wire.Packet, seq int64, kind tui.PointKind, flow int) {
	if s.seen++; kind <= tui.PointData && s.seen%s.every != 0 {
		return
	}
	if len(s.points) >= maxPoints {
		s.thin()
	}
	s.points = append(s.points, tui.Point{Time: analysis.Time(p.Time), Packet: p.Number, Seq: seq, Kind: kind, Flow: uint8(flow)})
}

func (s *sampler) thin() {
	s.every *= 2
	kept := s.points[:0]
	for i, p := range s.points {
		if i%2 == 0 || p.Kind > tui.PointData && len(kept) < maxPoints/2 {
			kept = append(kept, p)
		}
	}
	s.points = kept
}

// pauses are the spans in which a queue of the connection was paused, by
// whomever: the same that the pause share of its latencies counts.
func (s *sampler) pauses(snap *analysis.Snapshot, faces []analysis.Interface) (list []tui.Span) {
	for i := range snap.PFC.Sources {
		src := &snap.PFC.Sources[i]
		for q := range s.queues {
			if faceName(faces, q.iface) != src.Interface || src.Priority != analysis.PriorityAll && src.Priority != analysis.Priority(q.priority) {
				continue
			}
			for _, v := range snap.PFC.Intervals(i) {
				list = append(list, tui.Span{Start: v.Start, NS: v.NS})
			}
			break
		}
	}
	return list
}

// faceName is an interface's name in the report: its number where it has none.
func faceName(faces []analysis.Interface, i uint16) string {
	if int(i) < len(faces) && faces[i].Name != "" {
		return faces[i].Name
	}
	return strconv.Itoa(int(i))
}

func (s *sampler) detail() *tui.ConnDetail {
	d := &tui.ConnDetail{SequenceName: s.name, Points: s.points}
	if s.every > 1 {
		d.PointsNote = "every " + ordinal(s.every) + " packet"
	}
	return d
}
