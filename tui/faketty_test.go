package tui

import (
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
	_ "github.com/gdamore/tcell/v2/terminfo/x/xterm" // the terminal that the fake is
	"github.com/stretchr/testify/require"
)

// fakeTty counts what is sent to a terminal, and types for the user.
type fakeTty struct {
	mu     sync.Mutex
	w, h   int
	sent   []byte
	keys   chan []byte
	resize func()
	closed bool
	raw    bool
}

func newFakeTty(w, h int) *fakeTty { return &fakeTty{w: w, h: h, keys: make(chan []byte, 16)} }

func (t *fakeTty) Start() error { t.mu.Lock(); t.raw = true; t.mu.Unlock(); return nil }
func (t *fakeTty) Stop() error  { t.mu.Lock(); t.raw = false; t.mu.Unlock(); return nil }
func (t *fakeTty) Drain() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		close(t.keys)
	}
	return nil
}
func (t *fakeTty) Close() error          { return nil }
func (t *fakeTty) NotifyResize(f func()) { t.mu.Lock(); t.resize = f; t.mu.Unlock() }
func (t *fakeTty) WindowSize() (tcell.WindowSize, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return tcell.WindowSize{Width: t.w, Height: t.h}, nil
}

func (t *fakeTty) Read(p []byte) (int, error) {
	b, ok := <-t.keys
	if !ok {
		return 0, nil
	}
	return copy(p, b), nil
}

func (t *fakeTty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = append(t.sent, p...)
	return len(p), nil
}

// take gives what was sent since the last time.
func (t *fakeTty) take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.sent
	t.sent = nil
	return out
}

func (t *fakeTty) isRaw() bool { t.mu.Lock(); defer t.mu.Unlock(); return t.raw }

// terminalOn is a real tcell screen on a fake terminal.
func terminalOn(t *testing.T, tty *fakeTty) tcell.Screen {
	t.Setenv("LC_ALL", "en_US.UTF-8")
	t.Setenv("NO_COLOR", "")
	ti, err := terminfo.LookupTerminfo("xterm-256color")
	require.NoError(t, err)
	s, err := tcell.NewTerminfoScreenFromTtyTerminfo(tty, ti)
	require.NoError(t, err)
	return s
}

func TestShadowFirstPaint(t *testing.T) {
	tty := newFakeTty(120, 40)
	s := newShadow(terminalOn(t, tty))
	require.NoError(t, s.Init())
	defer s.Fini()
	s.Clear()
	s.SetContent(0, 0, 'x', nil, tcell.StyleDefault)
	s.Show()
	require.Contains(t, string(tty.take()), "x")
}
