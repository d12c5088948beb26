package tui

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keeper remembers for a test.
type keeper struct {
	mu   sync.Mutex
	last Remembered
	n    int
	err  error
}

func (k *keeper) save(r Remembered) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last, k.n = r, k.n+1
	return k.err
}

func (k *keeper) saves() int { k.mu.Lock(); defer k.mu.Unlock(); return k.n }

func rememberStage(t *testing.T, k *keeper, from Remembered) *stage {
	st := newStage(t, withFindings(), 120, 40, Options{Theme: "256", Packets: samplePackets(), Remembered: from, Remember: k.save})
	st.draw()
	return st
}

// TestRemembers: theme, order and columns are saved when they change, nothing
// is while they don't, and the next browser begins with them.
func TestRemembers(t *testing.T) {
	k := &keeper{}
	st := rememberStage(t, k, Remembered{})
	st.press("1", "2", "j", "k", "enter", "esc", "4", "j", "0")
	st.run()
	assert.Zero(t, k.saves(), "moving about changes nothing")

	st.press("2")
	for _, command := range []string{"sort p99", "theme mono"} {
		st.press(":")
		st.types(command)
		st.press("enter")
	}
	st.press("S", "c", "j", "j", "enter", "esc") // reversed; the third column off
	st.settle(func() bool { return !st.busySaving })
	want := Remembered{Theme: "mono", Tables: map[string]RememberedTable{"flows": {Sort: "p99", Hidden: []string{"QPs A↔B"}}}}
	assert.Equal(t, want, k.last)

	next := newStage(t, withFindings(), 120, 40, Options{Remembered: k.last, Remember: k.save})
	next.ui.theme = newTheme(next.memory.Theme, next.screen)
	next.press("2")
	next.contains("sort p99▲")
	assert.NotContains(t, next.text(), "QPs A↔B")
}

// TestRememberedTheme: it counts where no theme is asked for, and nonsense in
// it doesn't.
func TestRememberedTheme(t *testing.T) {
	st := newStage(t, withFindings(), 80, 24, Options{Theme: "16"})
	for _, c := range []struct{ asked, remembered, want string }{
		{"", "mono", "mono"}, {"16", "mono", "16"}, {"16", "", "16"}, {"", "pink", newTheme("", st.screen).name},
	} {
		u, err := newUI(Options{Engine: st.engine, Theme: c.asked, Remembered: Remembered{Theme: c.remembered}}, st.screen, host{})
		require.NoError(t, err)
		assert.Equal(t, c.want, u.theme.name, c)
	}
}

// TestRememberedNonsense: columns that there are not, all hidden, and a table
// of nobody do no harm.
func TestRememberedNonsense(t *testing.T) {
	all := RememberedTable{Sort: "nothing"}
	for _, c := range connColumns() {
		all.Hidden = append(all.Hidden, c.title)
	}
	st := rememberStage(t, &keeper{}, Remembered{Tables: map[string]RememberedTable{"flows": all, "ghosts": {Sort: "x"}, "packets": {Sort: "Info"}}})
	st.press("2")
	st.contains("10.0.0.8→10.0.1.9")
	st.contains("worst first")
	st.press("4")
	st.contains("RC RDMA Write First")
}

// TestRememberFails in one line, once for each change.
func TestRememberFails(t *testing.T) {
	k := &keeper{err: errors.New("read-only file system")}
	st := rememberStage(t, k, Remembered{})
	st.press("2", ">")
	st.settle(func() bool { return !st.busySaving })
	st.contains("▲ not remembered for the next time: read-only file system")
	st.press("j")
	st.run()
	assert.NotContains(t, st.text(), "not remembered")
	assert.Equal(t, 1, k.saves())
}

// TestEventOrderStays: a new snapshot keeps the order that the events are in.
func TestEventOrderStays(t *testing.T) {
	st := fullStage(t)
	st.press("2", "enter", "l", "l", "s", "S")
	p := st.top().(*connPage)
	order := func() (out []string) {
		for i := range p.events.length() {
			out = append(out, p.events.list.ID(i))
		}
		return out
	}
	before := order()
	require.Greater(t, len(before), 1)
	st.engine.s = withFindings()
	require.True(t, st.poll(timeZero))
	st.draw()
	assert.Equal(t, before, order())
}
