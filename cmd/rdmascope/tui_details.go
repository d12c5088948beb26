package main

import (
	"context"
	"sync"
	"sync/atomic"

	"rdmascope/analysis"
	"rdmascope/decode"
	"rdmascope/decode/roce"
	"rdmascope/pcaps"
	"rdmascope/tui"
)

// details gives the browser what a snapshot doesn't hold. Plots of a
// connection come from reading the files once more, for that connection
// alone: so memory goes with what is looked at, not with the capture.
type details struct {
	b   *browsing
	ctx context.Context

	arrived atomic.Uint64

	mu    sync.Mutex
	plots map[string]*plot
}

// Arrived counts the plots that were read.
func (d *details) Arrived() uint64 { return d.arrived.Load() }

// plot is a connection's sequence plot, nil points until it was read.
type plot struct {
	detail *tui.ConnDetail
	why    string
}

// maxPlots bounds how many plots are remembered.
const maxPlots = 16

func (b *browsing) details(ctx context.Context) *details {
	return &details{b: b, ctx: ctx, plots: map[string]*plot{}}
}

// Timeline is the capture over time.
func (d *details) Timeline() *tui.Timeline {
	s := d.b.engine.Snapshot()
	if s == nil || s.Rates() == nil {
		return nil
	}
	r := s.Rates()
	t := &tui.Timeline{Start: r.Start, BinNS: r.BinNS, Series: []tui.Series{
		{Name: "traffic", Unit: tui.UnitBits, Values: perSecond(r.WireBytes, r.BinNS, 8)},
		{Name: "NAK", Unit: tui.UnitCount, Values: perSecond(r.NAKs, r.BinNS, 1)},
		{Name: "CNP", Unit: tui.UnitCount, Values: perSecond(r.CNPs, r.BinNS, 1)},
	}}
	if s.Capture.PFCVisible {
		t.Series = append(t.Series, tui.Series{Name: "paused", Unit: tui.UnitPerMille, Values: pausedShare(s, r)})
	}
	if !d.b.done.Load() {
		t.ReadTo = s.Capture.EndTime
	}
	return t
}

func perSecond(counts []int64, binNS, factor int64) []int64 {
	out := make([]int64, len(counts))
	for i, n := range counts {
		out[i] = int64(float64(n) * float64(factor) * 1e9 / float64(binNS))
	}
	return out
}

// pausedShare is, for each bin, the largest share of it that any source paused.
func pausedShare(s *analysis.Snapshot, r *analysis.Rates) []int64 {
	out := make([]int64, len(r.Packets))
	for i := range s.PFC.Sources {
		row := make([]int64, len(out))
		for _, v := range s.PFC.Intervals(i) {
			from, to := int64(v.Start-r.Start), int64(v.Start-r.Start)+v.NS
			for at := max(from, 0); at < to; {
				bin := at / r.BinNS
				if bin >= int64(len(row)) {
					break
				}
				end := min((bin+1)*r.BinNS, to)
				row[bin] += end - at
				at = end
			}
		}
		for k, ns := range row {
			out[k] = max(out[k], min(ns*1000/r.BinNS, 1000))
		}
	}
	return out
}

// Pauses are the pause intervals of every source.
func (d *details) Pauses() []tui.PauseLane {
	s := d.b.engine.Snapshot()
	if s == nil || !s.Capture.PFCVisible {
		return nil
	}
	lanes := make([]tui.PauseLane, len(s.PFC.Sources))
	for i := range s.PFC.Sources {
		src := &s.PFC.Sources[i]
		lanes[i] = tui.PauseLane{Interface: src.Interface, EthSrc: src.EthSrc, Priority: src.Priority}
		for _, v := range s.PFC.Intervals(i) {
			lanes[i].Spans = append(lanes[i].Spans, tui.PauseSpan{Start: v.Start, NS: v.NS, Frames: v.Frames, Packet: v.Packet})
		}
	}
	return lanes
}

// Connection gives the plot of a connection, and starts reading it when it
// isn't there yet.
func (d *details) Connection(id string) (*tui.ConnDetail, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.plots[id]; p != nil {
		return p.detail, p.why
	}
	if d.b.files.Reason() != "" && len(d.b.paths) == 1 && d.b.paths[0] == pcaps.Stdin {
		return nil, "standard input can be read only once: save it to a file for plots"
	}
	if !d.b.done.Load() {
		return nil, "comes when the capture has been read to its end"
	}
	c := connectionByID(d.b.engine.Snapshot(), id)
	if c == nil {
		return nil, "not in the analysis any more"
	}
	if len(d.plots) >= maxPlots {
		clear(d.plots)
	}
	p := &plot{why: "reading the capture again…"}
	d.plots[id] = p
	go d.read(p, c)
	return nil, p.why
}

func connectionByID(s *analysis.Snapshot, id string) *analysis.Connection {
	if s == nil {
		return nil
	}
	for i := range s.Connections {
		if s.Connections[i].ID == id {
			return &s.Connections[i]
		}
	}
	return nil
}

// read fills p.
func (d *details) read(p *plot, c *analysis.Connection) {
	detail, err := readPlot(d.ctx, d.b.paths, d.b.config, d.b.clock, c)
	if err == nil {
		detail.Histograms = histograms(c)
	}
	defer d.arrived.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		p.why = err.Error()
		return
	}
	p.detail, p.why = detail, ""
}

// histograms are the latencies of both directions.
func histograms(c *analysis.Connection) (list []tui.Histogram) {
	for i := range c.Flows {
		l := &c.Flows[i].Latency
		for _, h := range []struct {
			name  string
			block *analysis.Latency
		}{{"message", l.Message}, {"ack", l.Ack}, {"read, first", l.ReadFirst}, {"read, last", l.ReadLast}, {"atomic", l.Atomic}} {
			var buckets []tui.Bucket
			h.block.Buckets(func(from, to, n int64) { buckets = append(buckets, tui.Bucket{FromNS: from, ToNS: to, Count: n}) })
			if len(buckets) > 0 {
				list = append(list, tui.Histogram{Name: h.name, Flow: uint8(i), Buckets: buckets})
			}
		}
	}
	return list
}

// readPlot reads the files once more and collects a connection's packets.
func readPlot(ctx context.Context, paths []string, config decode.Config, clock analysis.ClockMode, c *analysis.Connection) (*tui.ConnDetail, error) {
	files, err := pcaps.Open(paths, pcaps.Options{})
	if err != nil {
		return nil, err
	}
	defer files.Close()
	config.SkipICRC = true
	s := newSampler(c)
	err = analysis.Packets(analysis.Stamped(files, config, clock), config, func(pkt *decode.Packet) bool {
		s.packet(pkt)
		return ctx.Err() == nil
	})
	if err != nil {
		return nil, err
	}
	return s.detail(), ctx.Err()
}

// sampler collects the points of one connection. When there are too many, it
// drops every second one but those that tell of trouble, and from then on takes
// half as many.
type sampler struct {
	flows  []sampled
	name   string
	points []tui.Point
	every  int64
	seen   int64
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

func newSampler(c *analysis.Connection) *sampler {
	s := &sampler{every: 1, name: "PSN"}
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

func (f *sampled) has(p *decode.Packet) bool {
	if f.tcp {
		if p.Kind != decode.KindTCP || p.SrcPort != f.srcPort || p.DstPort != f.dstPort {
			return false
		}
	} else if !p.Kind.IsRoCE() || !p.Has(decode.FlagBTH) || uint32(p.RoCE.BTH.DestQP) != f.destQP {
		return false
	}
	return p.Src.String() == f.src && p.Dst.String() == f.dst
}

func (s *sampler) packet(p *decode.Packet) {
	for i := range s.flows {
		f := &s.flows[i]
		if !f.has(p) {
			continue
		}
		if f.tcp {
			s.segment(p, i)
		} else {
			s.transport(p, i)
		}
		return
	}
}

// segment adds a TCP segment with data.
func (s *sampler) segment(p *decode.Packet, i int) {
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
func (s *sampler) transport(p *decode.Packet, i int) {
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

func (s *sampler) add(p *decode.Packet, seq int64, kind tui.PointKind, flow int) {
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

func (s *sampler) detail() *tui.ConnDetail {
	d := &tui.ConnDetail{SequenceName: s.name, Points: s.points}
	if s.every > 1 {
		d.PointsNote = "every " + ordinal(s.every) + " packet"
	}
	return d
}
