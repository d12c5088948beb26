package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onTerminal is a browser on a real tcell screen over a fake terminal.
func onTerminal(t *testing.T, w, h int) (*ui, *shadow, *fakeTty) {
	tty := newFakeTty(w, h)
	s := newShadow(terminalOn(t, tty))
	require.NoError(t, s.Init())
	t.Cleanup(s.Fini)
	u, err := newUI(Options{Engine: &fixed{s: withFindings()}, Title: "rack7.pcapng", Details: sampleDetails{}, Packets: samplePackets()}, s, host{})
	require.NoError(t, err)
	return u, s, tty
}

// frame draws as tview does: clear, draw, show.
func frame(u *ui, s *shadow) {
	s.Clear()
	u.Draw(s)
	s.Show()
}

// TestBytesPerCursorMove holds the budget for slow lines: less than 1 kB for
// a move of the cursor at 120×40, on every page, and nothing at all for a
// tick that brings nothing new.
func TestBytesPerCursorMove(t *testing.T) {
	u, s, tty := onTerminal(t, 120, 40)
	frame(u, s)
	full := len(tty.take())
	require.Greater(t, full, 2000, "the first paint sends the screen")
	for v, name := range viewNames {
		t.Run(name, func(t *testing.T) {
			u.press(key('0' + rune(v)))
			frame(u, s)
			tty.take()
			for _, k := range []key{"j", "k", "l", "h"} {
				u.press(k)
				frame(u, s)
				n := len(tty.take())
				assert.Less(t, n, 1000, k)
				t.Logf("%s %s: %d bytes", name, k, n)
			}
			frame(u, s)
			frame(u, s)
			assert.Empty(t, tty.take(), "idle")
		})
	}
}

func TestShadowSendsEverythingAfterSync(t *testing.T) {
	u, s, tty := onTerminal(t, 80, 24)
	frame(u, s)
	tty.take()
	s.Sync()
	assert.Contains(t, string(tty.take()), "rdmascope")
	require.NoError(t, s.Suspend())
	require.NoError(t, s.Resume())
	tty.take()
	frame(u, s)
	assert.Contains(t, string(tty.take()), "rdmascope", "others wrote on the terminal meanwhile")
}

func TestShadowFollowsTheSize(t *testing.T) {
	u, s, tty := onTerminal(t, 80, 24)
	frame(u, s)
	tty.take()
	for _, size := range [][2]int{{120, 40}, {60, 15}, {20, 5}, {200, 60}} {
		tty.mu.Lock()
		tty.w, tty.h = size[0], size[1]
		tty.mu.Unlock()
		s.Screen.Show() // where tcell takes up the size
		frame(u, s)
		w, h := s.Size()
		assert.Equal(t, size, [2]int{w, h})
		assert.NotEmpty(t, tty.take())
	}
}

// TestShadowWideRunes: a wide character covers two cells, and leaves none of
// it behind when it goes.
func TestShadowWideRunes(t *testing.T) {
	sim := tcell.NewSimulationScreen("UTF-8")
	s := newShadow(sim)
	require.NoError(t, s.Init())
	defer s.Fini()
	sim.SetSize(10, 1)
	show := func(text string) string {
		s.Clear()
		s.PutStr(0, 0, text)
		s.Show()
		cells, w, _ := sim.GetContents()
		var b strings.Builder
		for x := 0; x < w; {
			c := string(cells[x].Runes)
			b.WriteString(c)
			x += max(columns(c), 1)
		}
		return strings.TrimRight(b.String(), " ")
	}
	for _, text := range []string{"ab", "網路x", "a網路", "abcdef", "é網", "x", "網", "ab網"} {
		assert.Equal(t, text, show(text))
	}
}

func TestShadowReadsBack(t *testing.T) {
	sim := tcell.NewSimulationScreen("UTF-8")
	s := newShadow(sim)
	require.NoError(t, s.Init())
	defer s.Fini()
	s.Size()
	st := tcell.StyleDefault.Bold(true)
	s.SetContent(3, 2, 'e', []rune{'\u0301'}, st)
	r, comb, got, w := s.GetContent(3, 2)
	assert.Equal(t, 'e', r)
	assert.Equal(t, []rune{'\u0301'}, comb)
	assert.Equal(t, st, got)
	assert.Equal(t, 1, w)
	s.SetContent(-1, 0, 'x', nil, st)
	s.SetContent(1000, 0, 'x', nil, st)
	s.SetContent(0, 0, 0x1b, nil, st)
	text, _, _ := s.Get(0, 0)
	assert.Equal(t, " ", text, "no control byte gets through")
	text, _, _ = s.Get(-1, 5)
	assert.Empty(t, text)
}

// BenchmarkCursorMove is a key and its paint with a million connections.
func BenchmarkCursorMove(b *testing.B) {
	for _, rows := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			sim := tcell.NewSimulationScreen("UTF-8")
			s := newShadow(sim)
			if err := s.Init(); err != nil {
				b.Fatal(err)
			}
			defer s.Fini()
			sim.SetSize(120, 40)
			u, err := newUI(Options{Engine: &fixed{s: manyConnections(rows)}, Theme: "256"}, s, host{})
			if err != nil {
				b.Fatal(err)
			}
			u.press("2")
			b.ResetTimer()
			for i := range b.N {
				u.press([]key{"j", "ctrl-f", "k"}[i%3])
				frame(u, s)
			}
		})
	}
}
