package tui

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// onTerminal is a browser on a real tcell screen over a fake terminal.
func onTerminal(t *testing.T, w, h int) (*ui, *shadow, *fakeTty) {
	tty := newFakeTty(w, h)
	s := newShadow(terminalOn(t, tty))
	require.NoError(t, s.Init())
	t.Cleanup(s.Fini)
	u, err := newUI(Options{Engine: &fixed{s: withFindings()}, Title: "rack7.pcapng"}, s, host{})
	require.NoError(t, err)
	return u, s, tty
}

func frame(u *ui, s *shadow) {
	s.Clear()
	u.Draw(s)
	s.Show()
}

func TestFullFrame(t *testing.T) {
	u, s, tty := onTerminal(t, 120, 40)
	frame(u, s)
	require.Contains(t, string(tty.take()), "rdmascope")
}
