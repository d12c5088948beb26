package tui

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// live is an engine that another goroutine feeds.
type live struct {
	s        atomic.Pointer[analysis.Snapshot]
	requests atomic.Int64
}

func (l *live) Snapshot() *analysis.Snapshot { return l.s.Load() }
func (l *live) RequestSnapshot()             { l.requests.Add(1) }

// startRun runs the browser on a fake terminal.
func startRun(t *testing.T, ctx context.Context, opt Options) (*fakeTty, chan error) {
	tty := newFakeTty(100, 30)
	opt.Screen = terminalOn(t, tty)
	done := make(chan error, 1)
	go func() { done <- Run(ctx, opt) }()
	t.Cleanup(func() { _ = tty.Drain() })
	return tty, done
}

// sees waits until a text was sent to the terminal.
func (t *fakeTty) sees(tt *testing.T, text string) {
	tt.Helper()
	seen := ""
	require.Eventually(tt, func() bool {
		seen += string(t.take())
		return strings.Contains(seen, text)
	}, 20*time.Second, 2*time.Millisecond, text)
}

func ended(t *testing.T, done chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("Run does not end")
		return nil
	}
}

// TestRunPaintsBeforeReading: the first paint needs no snapshot; what comes
// later appears by itself, and q ends.
func TestRunPaintsBeforeReading(t *testing.T) {
	e := &live{}
	var done atomic.Bool
	tty, end := startRun(t, t.Context(), Options{Engine: e, Title: "rack7.pcapng", Progress: func() Progress { return Progress{Done: done.Load(), Packets: 7} }})
	tty.sees(t, "reading begins")
	assert.True(t, tty.isRaw())
	require.Eventually(t, func() bool { return e.requests.Load() > 0 }, 10*time.Second, time.Millisecond, "it asks for snapshots")
	e.s.Store(withFindings())
	done.Store(true)
	tty.sees(t, "froze")
	tty.keys <- []byte("2")
	tty.sees(t, "0x01a2f4")
	tty.keys <- []byte("q")
	require.NoError(t, ended(t, end))
	assert.False(t, tty.isRaw(), "the terminal is as it was")
}

// TestRunIdleSendsNothing: with nothing new the ticks send no byte.
func TestRunIdleSendsNothing(t *testing.T) {
	e := &live{}
	e.s.Store(withFindings())
	tty, end := startRun(t, t.Context(), Options{Engine: e})
	tty.sees(t, "froze")
	time.Sleep(2 * tick)
	tty.take()
	time.Sleep(4 * tick)
	assert.Empty(t, tty.take())
	tty.keys <- []byte("q")
	require.NoError(t, ended(t, end))
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	tty, end := startRun(t, ctx, Options{Engine: &live{}})
	tty.sees(t, "rdmascope")
	why := errors.New("enough")
	cancel(why)
	require.ErrorIs(t, ended(t, end), why)
	assert.False(t, tty.isRaw())
}

func TestRunAlreadyEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tty, end := startRun(t, ctx, Options{Engine: &live{}})
	require.NoError(t, ended(t, end))
	assert.False(t, tty.isRaw())
}

func TestRunEndsBySignal(t *testing.T) {
	tty, end := startRun(t, t.Context(), Options{Engine: &live{}})
	tty.sees(t, "rdmascope")
	p, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, p.Signal(os.Interrupt))
	err = ended(t, end)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "interrupt")
	assert.False(t, tty.isRaw())
}

// panicky is an engine whose snapshots make the page panic.
type panicky struct{ live }

func (*panicky) Snapshot() *analysis.Snapshot { panic("a bug") }

// TestRunRestoresAfterPanic, both on the drawing goroutine and on another.
func TestRunRestoresAfterPanic(t *testing.T) {
	tty := newFakeTty(80, 24)
	restored := false
	assert.PanicsWithValue(t, "a bug", func() {
		_ = Run(t.Context(), Options{Engine: &panicky{}, Screen: terminalOn(t, tty), OnPanicked: func() { restored = !tty.isRaw() }})
	})
	assert.True(t, restored)

	tty = newFakeTty(80, 24)
	s := newShadow(terminalOn(t, tty))
	require.NoError(t, s.Init())
	r := &runner{screen: s}
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		defer r.guard()
		panic("in the background")
	}()
	assert.Equal(t, "in the background", <-ended)
	assert.False(t, tty.isRaw())
}

func TestRunRefuses(t *testing.T) {
	require.ErrorIs(t, Run(t.Context(), Options{}), errNoEngine)
	require.Error(t, Run(t.Context(), Options{Engine: &live{}, Theme: "pink"}))
}

func TestStartView(t *testing.T) {
	e := &live{}
	e.s.Store(withFindings())
	tty, end := startRun(t, t.Context(), Options{Engine: e, StartView: "hosts"})
	tty.sees(t, "from row to column")
	tty.keys <- []byte{3} // ^C
	require.NoError(t, ended(t, end))
}

func TestMeter(t *testing.T) {
	var m meter
	at := time.Unix(100, 0)
	m.take(Progress{ReadBytes: 0}, at)
	m.take(Progress{ReadBytes: 100}, at.Add(100*time.Millisecond))
	assert.Zero(t, m.bytesPerSecond, "too soon to tell")
	m.take(Progress{ReadBytes: 1000}, at.Add(time.Second))
	assert.Equal(t, int64(1000), m.bytesPerSecond)
	m.take(Progress{ReadBytes: 6000}, at.Add(2*time.Second))
	assert.Equal(t, int64(2000), m.bytesPerSecond, "it follows slowly")
	m.take(Progress{Done: true}, at.Add(3*time.Second))
	assert.Zero(t, m.bytesPerSecond)
}
