package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/tui"
)

// details gives the browser what a snapshot doesn't hold. Plots of a
// connection come from reading the packets once more, for that connection
// alone: so memory goes with what is looked at, not with the capture.
type details struct {
	ctx   context.Context
	input rereader
	opt   *analysis.Options
	done  func() bool // everything was read

	arrived atomic.Uint64

	mu    sync.Mutex
	plots map[string]*plot

	// Of the drawing goroutine.
	timeline *tui.Timeline
	of       *analysis.Snapshot // whose timeline it is
}

// rereader reads packets once more, in order. The packet is valid during the
// call alone.
type rereader interface {
	reread(ctx context.Context, f func(*wire.Packet) bool) error
	// whyNot says why there is nothing to read again, or not yet; "" when there is.
	whyNot(done bool) string
	// faces names where packets came from.
	faces() []analysis.Interface
	// moving tells that what is read again changes as time passes.
	moving() bool
}

// Arrived counts the plots that were read.
func (d *details) Arrived() uint64 { return d.arrived.Load() }

// plot is a connection's sequence plot, nil until it was read.
type plot struct {
	detail  *tui.ConnDetail
	why     string
	reading bool
	stale   time.Time // when it may be read again; zero: never
}

// maxPlots bounds how many plots are remembered.
const maxPlots = 16

// replotShare bounds the time that goes into plots of packets that still come,
// to this part of all time.
const replotShare = 10

func newDetails(ctx context.Context, input rereader, opt *analysis.Options, done func() bool) *details {
	return &details{ctx: ctx, input: input, opt: opt, done: done, plots: map[string]*plot{}}
}

// Timeline is the capture over time. It is asked for at every redraw.
func (d *details) Timeline(s *analysis.Snapshot) *tui.Timeline {
	if s.Rates() == nil {
		return nil
	}
	if d.of != s || d.timeline.ReadTo != 0 && d.done() {
		d.of, d.timeline = s, timeline(s, d.done())
	}
	return d.timeline
}

func timeline(s *analysis.Snapshot, done bool) *tui.Timeline {
	r := s.Rates()
	t := &tui.Timeline{Start: r.Start, BinNS: r.BinNS, Series: []tui.Series{
		{Name: "traffic", Unit: tui.UnitBits, Values: perSecond(r.WireBytes, r.BinNS, 8)},
		{Name: "NAK", Unit: tui.UnitCount, Values: perSecond(r.NAKs, r.BinNS, 1)},
		{Name: "CNP", Unit: tui.UnitCount, Values: perSecond(r.CNPs, r.BinNS, 1)},
	}}
	if s.Capture.PFCVisible {
		t.Series = append(t.Series, tui.Series{Name: "paused", Unit: tui.UnitPerMille, Values: pausedShare(s, r)})
	}
	if !done {
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
func (d *details) Pauses(s *analysis.Snapshot) []tui.PauseLane {
	if !s.Capture.PFCVisible {
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
// isn't there yet, or is behind what comes in.
func (d *details) Connection(s *analysis.Snapshot, c *analysis.Connection) (*tui.ConnDetail, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.plots[c.ID]
	if p == nil {
		if why := d.input.whyNot(d.done()); why != "" {
			return nil, why
		}
		if len(d.plots) >= maxPlots {
			clear(d.plots)
		}
		p = &plot{why: "reading the packets again…"}
		d.plots[c.ID] = p
	} else if p.reading || p.stale.IsZero() || time.Now().Before(p.stale) {
		return p.detail, p.why
	}
	p.reading = true
	go d.read(p, s, c)
	return p.detail, p.why
}

// read fills p.
func (d *details) read(p *plot, s *analysis.Snapshot, c *analysis.Connection) {
	start := time.Now()
	sample := newSampler(c, d.opt)
	err := d.input.reread(d.ctx, func(pkt *wire.Packet) bool {
		sample.packet(pkt)
		return d.ctx.Err() == nil
	})
	detail := sample.detail()
	detail.Pauses = sample.pauses(s, d.input.faces())
	detail.Histograms = histograms(c)
	moving := d.input.moving()
	defer d.arrived.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	p.reading = false
	if err != nil {
		p.why = err.Error()
		return
	}
	p.detail, p.why = detail, ""
	if moving {
		now := time.Now()
		p.stale = now.Add(max(time.Second, replotShare*now.Sub(start)))
	}
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

// files is captures that can be read again from their start.
type files struct {
	paths  []string
	config wire.Config
	clock  analysis.ClockMode
	*pcaps.Indexed
}

func (f *files) whyNot(done bool) string {
	if !done {
		return "comes when the capture has been read to its end"
	}
	return ""
}

func (f *files) moving() bool { return false }

func (f *files) faces() []analysis.Interface { return f.Interfaces() }

func (f *files) reread(_ context.Context, each func(*wire.Packet) bool) error {
	again, err := pcaps.Open(f.paths, pcaps.Options{})
	if err != nil {
		return err
	}
	defer again.Close()
	config := f.config
	config.SkipICRC = true
	return analysis.Packets(analysis.Stamped(again, config, f.clock), config, each)
}
