package tui

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// fixed is an engine that has what it is given.
type fixed struct {
	s        *analysis.Snapshot
	requests int
}

func (f *fixed) Snapshot() *analysis.Snapshot { return f.s }
func (f *fixed) RequestSnapshot()             { f.requests++ }

// stage is a browser on a simulated screen, without an event loop: keys are
// handled and the screen drawn at once.
type stage struct {
	*ui
	t       *testing.T
	screen  tcell.SimulationScreen
	engine  *fixed
	quits   int
	stops   int
	repaint int
	copied  string
	written map[string]string

	mu    sync.Mutex
	queue []func()
}

func newStage(t *testing.T, s *analysis.Snapshot, w, h int, opt Options) *stage {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	require.NoError(t, screen.Init())
	t.Cleanup(screen.Fini)
	screen.SetSize(w, h)
	st := &stage{t: t, screen: screen, engine: &fixed{s: s}, written: map[string]string{}}
	opt.Engine = st.engine
	if opt.Title == "" {
		opt.Title = "rack7.pcapng"
	}
	if opt.Theme == "" {
		opt.Theme = "256"
	}
	u, err := newUI(opt, screen, host{
		post: func(f func()) {
			st.mu.Lock()
			st.queue = append(st.queue, f)
			st.mu.Unlock()
		},
		guard:   func() {},
		quit:    func() { st.quits++ },
		suspend: func() { st.stops++ },
		repaint: func() { st.repaint++ },
		copy:    func(s string) { st.copied = s },
		write: func(path string, data []byte) error {
			if _, ok := st.written[path]; ok {
				return errors.New("exists")
			}
			st.written[path] = string(data)
			return nil
		},
		screen: func() tcell.Screen { return screen },
	})
	require.NoError(t, err)
	st.ui = u
	return st
}

// run runs what was posted.
func (st *stage) run() {
	st.mu.Lock()
	q := st.queue
	st.queue = nil
	st.mu.Unlock()
	for _, f := range q {
		f()
	}
}

// settle waits until cond holds, running what arrives.
func (st *stage) settle(cond func() bool) {
	st.t.Helper()
	require.Eventually(st.t, func() bool { st.run(); return cond() }, 20*time.Second, time.Millisecond)
}

// press presses keys by name, one after the other, drawing after each.
func (st *stage) press(keys ...key) {
	for _, k := range keys {
		st.ui.press(k)
		st.draw()
	}
}

// types writes a text into a field.
func (st *stage) types(text string) {
	for _, r := range text {
		k := key(string(r))
		if r == ' ' {
			k = "space"
		}
		st.press(k)
	}
}

func (st *stage) draw() []string {
	st.screen.Clear()
	st.Draw(st.screen)
	st.screen.Show()
	return st.lines()
}

// lines is the text on the screen.
func (st *stage) lines() []string {
	cells, w, h := st.screen.GetContents()
	out := make([]string, h)
	for y := range h {
		var b strings.Builder
		for x := 0; x < w; {
			c := cells[y*w+x]
			text := string(c.Runes)
			if text == "" {
				text = " "
			}
			b.WriteString(text)
			x += max(columns(text), 1)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func (st *stage) text() string { return strings.Join(st.draw(), "\n") + "\n" }

// looks is the attributes of the screen as letters: b bold, r reverse, u
// underlined, c coloured.
func (st *stage) looks() string {
	cells, w, h := st.screen.GetContents()
	var b strings.Builder
	for y := range h {
		line := make([]byte, w)
		for x := range w {
			fg, bg, attr := cells[y*w+x].Style.Decompose()
			line[x] = ' '
			switch {
			case fg != tcell.ColorDefault && fg != tcell.ColorReset, bg != tcell.ColorDefault && bg != tcell.ColorReset:
				line[x] = 'c'
			case attr&tcell.AttrReverse != 0:
				line[x] = 'r'
			case attr&tcell.AttrBold != 0:
				line[x] = 'b'
			case cells[y*w+x].Style.GetUnderlineStyle() != tcell.UnderlineStyleNone:
				line[x] = 'u'
			}
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	require.Equal(t, string(want), got, name)
}

// memory is a packet source over packets in memory.
type memory []*wire.Packet

func (m memory) Count() (int64, bool) { return int64(len(m)), true }

func (m memory) Packet(n int64) (*wire.Packet, error) {
	if n < 1 || n > int64(len(m)) {
		return nil, errors.New("no such packet")
	}
	return m[n-1], nil
}

// saved remembers what was saved.
type saved struct {
	mu      sync.Mutex
	path    string
	packets []int64
}

func (s *saved) Save(_ context.Context, path string, packets []int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.path, s.packets = path, packets
	return int64(len(packets)), nil
}

var timeZero = time.Unix(0, 0)
