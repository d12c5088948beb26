package tui

import (
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/assert"
)

// colours is a screen with a number of colours.
type colours struct {
	tcell.SimulationScreen
	n int
}

func (c colours) Colors() int { return c.n }

func TestThemeByColours(t *testing.T) {
	sim := tcell.NewSimulationScreen("UTF-8")
	assert.NoError(t, sim.Init())
	defer sim.Fini()
	for n, want := range map[int]string{1 << 24: "truecolor", 256: "256", 16: "16", 8: "16", 0: "mono", 2: "mono"} {
		assert.Equal(t, want, newTheme("auto", colours{sim, n}).name, n)
	}
}

// TestNoColorIsMono: NO_COLOR (no-color.org) leaves a terminal no colours.
func TestNoColorIsMono(t *testing.T) {
	tty := newFakeTty(80, 24)
	s := terminalOn(t, tty)
	t.Setenv("NO_COLOR", "1")
	assert.NoError(t, s.Init())
	defer s.Fini()
	assert.Equal(t, "mono", newTheme("auto", s).name)
}

// TestSelectionIsReadable: what is selected has both its colours set, so that
// it can be read on a light and on a dark terminal.
func TestSelectionIsReadable(t *testing.T) {
	sim := tcell.NewSimulationScreen("UTF-8")
	assert.NoError(t, sim.Init())
	defer sim.Fini()
	for _, name := range Themes()[1:] {
		th := newTheme(name, sim)
		for _, l := range []look{selected, cell, match} {
			fg, bg, attr := th.style(l).Decompose()
			both := fg != tcell.ColorDefault && bg != tcell.ColorDefault
			assert.True(t, both || attr&tcell.AttrReverse != 0, "%s %d", name, l)
		}
		if name == "mono" {
			for l := range lookCount {
				fg, bg, _ := th.style(l).Decompose()
				assert.Equal(t, [2]tcell.Color{}, [2]tcell.Color{fg, bg})
			}
		}
	}
}
