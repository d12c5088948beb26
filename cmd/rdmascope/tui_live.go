package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rdmascope/analysis"
	"rdmascope/tui"
)

// watching is a capture that somebody looks at while it goes on.
type watching struct {
	run   *liveRun
	since time.Time
	done  atomic.Bool
	err   atomic.Pointer[error]

	mu      sync.Mutex
	notices []string
	noticed int64
	ended   time.Duration // how long it went on; 0 while it does
}

// maxNotices bounds what the capture's notices take.
const maxNotices = 16

// notice keeps a line for the display.
func (w *watching) notice(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.notices) >= maxNotices {
		w.notices = w.notices[1:]
	}
	w.notices = append(w.notices, text)
	w.noticed++
}

// watch captures on interfaces and shows the snapshots as they come. Leaving
// the browser ends the capture.
func (a *app) watch(f *liveFlags, clock analysis.ClockMode, opt analysis.Options, view tui.Options, recentMiB int) error {
	switch {
	case recentMiB < 1 || recentMiB > 1<<16:
		return exitf(exitUsage, "--recent %d: from 1 to 65536 MiB", recentMiB)
	case len(f.read) > 0:
		return exitf(exitUsage, "-i and files: one of them")
	}
	if err := f.checkCapture(); err != nil {
		return err
	}
	f.stopPackets = -1
	opt.Idle, opt.MaxFlows = f.idle, 2*f.maxConnections
	if opt.Workers == 0 {
		opt.Workers = tuiWorkers()
	}
	w := &watching{since: time.Now()}
	marks := &packetMarks{}
	opt.Mark = marks.add
	w.run = &liveRun{app: a, flags: f, options: opt, clock: clock, tell: w.notice, saves: true}
	recent := newRecentPackets(opt.Decode, recentMiB)
	recent.gone = marks.forget
	if err := w.run.open(recent); err != nil {
		return err
	}
	defer w.run.close()
	recent.stamped = w.run.stamped
	view.Title = "-i " + strings.Join(f.ifaces, " -i ")
	view.Live, view.Progress = w.live, w.progress
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	view.Engine = &windowedEngine{Engine: w.run.engine}
	view.Details = newDetails(ctx, recent, &opt, w.done.Load)
	view.Packets, view.Saver = recent, recent

	over := make(chan struct{})
	go func() {
		defer close(over)
		w.analyse()
	}()
	err := a.show(ctx, view, marks)
	w.run.tee.src.Stop()
	<-over
	w.run.tell = nil // the terminal is as it was: standard error again
	w.run.sayDrops()
	return err
}

// windowedEngine gives snapshots with what came in the last seconds and minutes.
type windowedEngine struct {
	*analysis.Engine

	mu      sync.Mutex
	windows analysis.Windows
	plain   *analysis.Snapshot
	with    *analysis.Snapshot
}

// Snapshot is the newest one.
func (e *windowedEngine) Snapshot() *analysis.Snapshot {
	s := e.Engine.Snapshot()
	e.mu.Lock()
	defer e.mu.Unlock()
	if s != nil && s != e.plain {
		e.plain, e.with = s, e.windows.Add(s, time.Now())
	}
	return e.with
}

// analyse captures to the end.
func (w *watching) analyse() {
	if _, err := w.run.engine.Run(context.Background()); err != nil {
		w.err.Store(&err)
	}
	w.run.tee.finish()
	w.mu.Lock()
	w.ended = time.Since(w.since)
	w.mu.Unlock()
	w.done.Store(true)
}

func (w *watching) progress() tui.Progress {
	p := tui.Progress{Packets: w.run.engine.PacketsRead(), Done: w.done.Load()}
	if err := w.err.Load(); err != nil {
		p.Err = *err
	}
	return p
}

// live is what the capture tells just now.
func (w *watching) live() tui.Live {
	w.mu.Lock()
	l := tui.Live{Elapsed: w.ended, Ended: w.ended > 0, Noticed: w.noticed, Notices: append([]string(nil), w.notices...)}
	w.mu.Unlock()
	if !l.Ended {
		l.Elapsed = time.Since(w.since)
	}
	for _, st := range w.run.stats() {
		l.Interfaces = append(l.Interfaces, tui.LiveInterface{Name: st.Name, Received: st.Received, KernelDropped: st.KernelDropped,
			NICDropped: st.NICDropped, Down: !st.Up, Gone: st.Gone})
	}
	return l
}

// show runs the browser with what is the same for files and captures.
func (a *app) show(ctx context.Context, view tui.Options, marks *packetMarks) error {
	remembered := rememberedPath()
	view.Remembered = recallView(remembered)
	view.Remember = func(r tui.Remembered) error { return rememberView(remembered, r) }
	f := filters{marks: marks, findings: func() []analysis.Finding {
		if s := view.Engine.Snapshot(); s != nil {
			return s.Findings
		}
		return nil
	}}
	view.FlowFilter, view.PacketFilter, view.Marks = f, f, marks
	if err := tui.Run(ctx, view); err != nil && !errors.Is(err, context.Canceled) {
		return exitf(exitUsage, "%v", err)
	}
	return nil
}
