package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
	"rdmascope/pcaps/live"
)

// liveRun is one run of `live`.
type liveRun struct {
	app     *app
	flags   *liveFlags
	report  report.Options
	options analysis.Options
	clock   analysis.ClockMode

	tee     *liveTee
	writer  *ringWriter  // nil without -w
	trigger *trigger     // nil without --trigger
	server  *liveServer  // nil without --listen
	log     *findingsLog // what was found, told once
	engine  *analysis.Engine
	began   time.Time
	windows analysis.Windows                  // of look, one at a time
	newest  atomic.Pointer[analysis.Snapshot] // with its windows

	said  sync.Mutex   // one line at a time on standard error
	shown int          // columns of the status line at the bottom of a terminal
	tell  func(string) // where notices go instead, nil for standard error

	saves   bool                    // files may be written later, at wish
	stamped *analysis.StampedSource // what the engine reads
}

// open opens everything that may fail, before the first packet is analysed.
// more sinks get the packets, beside those that the flags ask for.
func (r *liveRun) open(more ...sink) error {
	if err := r.prepare(); err != nil {
		return err
	}
	src, err := r.openCapture()
	if err != nil {
		return err
	}
	r.tee = &liveTee{src: src, left: r.flags.stopPackets}
	r.tee.sinks = more
	if err := r.openSinks(); err != nil {
		r.close()
		return err
	}
	r.log = newFindingsLog(r)
	r.stamped = analysis.NewStamped(r.tee, r.options.Decode, r.clock) // what -w writes keeps its times
	r.engine = newEngine(r.stamped, r.options)
	r.began = time.Now()
	if len(r.flags.ifaces) > 0 {
		r.dropPrivileges()
	}
	return nil
}

// prepare finds fault with what the command line says about files and
// addresses, before anything is opened.
func (r *liveRun) prepare() (err error) {
	if r.flags.write != "" {
		if r.writer, err = newRingWriter(r.flags.write, r.flags.writeRing, r.notice); err != nil {
			return err
		}
	}
	if r.flags.trigger.severity != "" {
		if r.trigger, err = newTrigger(r.flags.trigger, r.notice); err != nil {
			return err
		}
	}
	if r.flags.listen != "" {
		if r.flags.listen, err = loopbackAddress(r.flags.listen); err != nil {
			return exitf(exitUsage, "--listen: %v", err)
		}
	}
	return nil
}

func (r *liveRun) openSinks() (err error) {
	if r.writer != nil {
		if err := r.writer.open(r.tee.src.Interfaces(), time.Now()); err != nil {
			return exitf(exitUsage, "-w: %v", err)
		}
		r.tee.sinks = append(r.tee.sinks, r.writer)
	}
	if r.trigger != nil {
		r.tee.sinks = append(r.tee.sinks, r.trigger)
	}
	if r.flags.listen != "" {
		r.server, err = newLiveServer(r.flags.listen, r)
	}
	return err
}

func (r *liveRun) close() {
	if r.server != nil {
		r.server.close()
	}
	_ = r.tee.src.Close()
}

// notice writes a line to standard error.
func (r *liveRun) notice(text string) {
	if r.tell != nil {
		r.tell(text)
		return
	}
	if r.flags.quiet {
		return
	}
	r.say("rdmascope: " + text)
}

// say writes a line to standard error, above the status line.
func (r *liveRun) say(line string) {
	r.said.Lock()
	defer r.said.Unlock()
	r.clearStatus()
	fmt.Fprintln(r.app.stderr, line)
}

// run captures to the end and reports.
func (r *liveRun) run() error {
	if len(r.flags.ifaces) > 0 {
		r.notice("capturing on " + strings.Join(r.flags.ifaces, ", ") + "; Ctrl-C ends it")
	}
	ctx, done := r.untilStopped()
	defer done()
	over, end := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(over) })
	watching.Go(func() { r.statusLoop(over) })
	snap, err := r.engine.Run(context.Background())
	end()
	watching.Wait()
	r.tee.finish()
	if err != nil {
		return err
	}
	snap = r.look(snap)
	if err := r.finalReport(snap); err != nil {
		return err
	}
	if r.writer != nil && r.writer.failed {
		return &exitError{code: exitUsage} // it was said when it happened
	}
	if ctx.Err() != nil && r.flags.failOn == "" && !r.flags.strict {
		return nil // Ctrl-C is how a capture ends
	}
	return r.flags.judge(snap)
}

func (r *liveRun) finalReport(snap *analysis.Snapshot) error {
	if !r.flags.quiet {
		r.app.warnInputs(snap)
		r.sayDrops()
	}
	f := r.flags.analyzeFlags
	if f.output == "ndjson" {
		f.output = "json"
		r.report.Compact = true
	}
	return r.app.writeReport(&f, snap, r.report)
}

// sayDrops says what the capture missed: the first thing to know about it.
func (r *liveRun) sayDrops() {
	for _, st := range r.stats() {
		line := fmt.Sprintf("%s: %d packets received, %d dropped by the kernel", st.Name, st.Received, st.KernelDropped)
		if st.NICDropped >= 0 {
			line += fmt.Sprintf(", %d by the network card", st.NICDropped)
		}
		r.notice(line)
	}
}

// stats are the kernel's counts; a stream has none.
func (r *liveRun) stats() []live.Stats {
	if src, ok := r.tee.src.(*live.Source); ok {
		return src.Stats()
	}
	return nil
}

// watch asks for a snapshot now and then and looks at what it says. The more a
// snapshot costs, the rarer they are: a tenth of the time at most.
func (r *liveRun) watch(ctx context.Context) {
	wait := r.flags.every
	for {
		if !sleep(ctx, wait) {
			return
		}
		old, asked := r.engine.Snapshot(), time.Now()
		r.engine.RequestSnapshot()
		for r.engine.Snapshot() == old {
			if !sleep(ctx, 10*time.Millisecond) {
				return
			}
		}
		r.look(r.engine.Snapshot())
		wait = max(r.flags.every, 9*time.Since(asked))
	}
}

// look passes a snapshot on to whoever wants it, and returns it with its
// windows.
func (r *liveRun) look(snap *analysis.Snapshot) *analysis.Snapshot {
	snap = r.windows.Add(snap, time.Now())
	r.newest.Store(snap)
	if r.server != nil {
		r.server.update(snap)
	}
	fresh := r.log.look(snap)
	if r.trigger != nil {
		r.trigger.look(fresh)
	}
	return snap
}

// sleep waits for d; it is false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
