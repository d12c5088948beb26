package tui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// Intervals of the one ticker, and between two snapshots asked for.
const (
	tick          = 250 * time.Millisecond
	snapshotEvery = time.Second
)

// errNoEngine is a mistake of the caller.
var errNoEngine = errors.New("tui: Options.Engine is missing")

// Run browses until the user quits or ctx ends. The terminal is as it was
// when Run returns, also after a signal and after a panic on any goroutine
// that it started.
func Run(ctx context.Context, opt Options) error {
	if opt.Engine == nil {
		return errNoEngine
	}
	if err := checkTheme(opt.Theme); err != nil {
		return err
	}
	screen := opt.Screen
	if screen == nil {
		var err error
		if screen, err = openScreen(); err != nil {
			return err
		}
	}
	s := newShadow(screen)
	if err := s.Init(); err != nil {
		return errors.Join(errNoTerminal, err)
	}
	r := &runner{screen: s, opt: opt, app: tview.NewApplication(),
		signals: make(chan os.Signal, 4), drawn: make(chan struct{}), stopped: make(chan struct{})}
	return r.run(ctx)
}

// runner connects the browser with tview's event loop.
type runner struct {
	screen  *shadow
	opt     Options
	app     *tview.Application
	ui      *ui
	signals chan os.Signal
	drawn   chan struct{} // closed by the first paint
	stopped chan struct{}
	wg      sync.WaitGroup
}

func (r *runner) run(ctx context.Context) error {
	defer r.guard()
	u, err := newUI(r.opt, r.screen, r.host())
	if err != nil {
		r.screen.Fini()
		return err
	}
	r.ui = u
	if v := r.opt.StartView; v != "" {
		u.runCommand(v)
	}
	r.app.SetScreen(r.screen).EnableMouse(!r.opt.NoMouse).EnablePaste(true).SetRoot(u, true)
	if r.opt.NoMouse {
		r.screen.DisableMouse()
	} else {
		r.screen.EnableMouse()
	}
	r.screen.EnablePaste()
	first := sync.OnceFunc(func() { close(r.drawn) })
	r.app.SetAfterDrawFunc(func(tcell.Screen) { first() })
	ctx, cancel := signalContext(ctx, r)
	defer cancel()
	r.wg.Go(func() { r.ticker(ctx) })
	err = r.app.Run()
	close(r.stopped)
	cancel()
	r.wg.Wait()
	if err == nil && context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		err = context.Cause(ctx)
	}
	return err
}

func (r *runner) host() host {
	h := host{
		post:    r.post,
		guard:   r.guard,
		quit:    r.app.Stop,
		suspend: r.suspend,
		repaint: r.screen.Sync,
		copy:    func(s string) { r.screen.SetClipboard([]byte(s)) },
		write:   r.opt.WriteFile,
		screen:  func() tcell.Screen { return r.screen },
	}
	if h.write == nil {
		h.write = writeNewFile
	}
	return h
}

// post runs f on the drawing goroutine and redraws. It must not be called
// from there: the event loop would wait for itself.
func (r *runner) post(f func()) { r.queue(r.app.QueueUpdateDraw, f) }

// queue waits until f has run, or the loop has ended and never will.
func (r *runner) queue(how func(func()) *tview.Application, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-r.stopped:
		default:
			how(f)
		}
	}()
	select {
	case <-done:
	case <-r.stopped:
	}
}

// ticker takes what is new, four times a second, and asks for snapshots no
// more often than making one is cheap.
func (r *runner) ticker(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	defer r.guard()
	select { // stopping an application that has not begun makes it open a second screen
	case <-r.drawn:
	case <-r.stopped:
		return
	}
	asked := time.Now()
	r.opt.Engine.RequestSnapshot()
	last := r.opt.Engine.Snapshot()
	every := snapshotEvery
	for {
		select {
		case <-r.stopped:
			return
		case <-ctx.Done():
			r.app.Stop()
			return
		case now := <-t.C:
			if s := r.opt.Engine.Snapshot(); s != last {
				last = s
				every = max(snapshotEvery, 5*now.Sub(asked))
			}
			if now.Sub(asked) >= every && !r.done() {
				asked = now
				r.opt.Engine.RequestSnapshot()
			}
			r.pollNow(now)
		}
	}
}

func (r *runner) done() bool { return r.opt.Progress == nil || r.opt.Progress().Done }

// pollNow redraws only when there is something new: an idle screen sends
// nothing.
func (r *runner) pollNow(now time.Time) {
	changed := false
	r.queue(r.app.QueueUpdate, func() { changed = r.ui.poll(now) })
	if changed {
		r.post(func() {})
	}
}

// guard is deferred on every goroutine of ours: a panic must not leave the
// terminal in raw mode with the trace unreadable on it.
func (r *runner) guard() {
	if p := recover(); p != nil {
		r.screen.Fini()
		if r.opt.OnPanicked != nil {
			r.opt.OnPanicked()
		}
		panic(p)
	}
}

// suspend gives the terminal back to the shell until it continues us.
func (r *runner) suspend() {
	if !canStop() {
		r.ui.say("no shell here that could bring it back")
		return
	}
	r.app.Suspend(stopSelf)
}

// signalContext ends at the signals that end a program, and suspends at the
// one that suspends.
func signalContext(ctx context.Context, r *runner) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := r.signals
	signal.Notify(ch, endSignals...)
	if stopSignal != nil {
		signal.Notify(ch, stopSignal)
	}
	go func() {
		defer r.guard()
		defer signal.Stop(ch)
		for {
			select {
			case <-r.stopped:
				return
			case <-ctx.Done():
				return
			case s := <-ch:
				if s != stopSignal {
					cancel(errSignal{s})
					return
				}
				r.post(r.suspend)
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// errSignal tells which signal ended the browser.
type errSignal struct{ s os.Signal }

func (e errSignal) Error() string { return "ended by signal: " + e.s.String() }
