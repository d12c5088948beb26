package tui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/gdamore/tcell/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// manyConnections is a snapshot with n of them.
func manyConnections(n int) *analysis.Snapshot {
	s := base(int64(n) * 100)
	s.ConnectionsTotal = int64(n)
	s.Connections = make(analysis.List[analysis.Connection], n)
	flows := make([]analysis.Flow, n)
	figures := make([]int64, n)
	for i := range s.Connections {
		figures[i] = int64(i*7919) % 1_000_003
		flows[i] = analysis.Flow{SrcIP: "10.0.0.1", DstIP: "10.0.0.2", Packets: int64(i), WireBytes: int64(i) * 100, Retransmitted: &figures[i]}
		s.Connections[i] = analysis.Connection{ID: fmt.Sprintf("c%07d", i), Transport: "rocev2", Service: "rc",
			A: analysis.Endpoint{IP: "10.0.0.1", QPN: &figures[i]}, B: analysis.Endpoint{IP: "10.0.0.2", QPN: &figures[i]},
			FirstTime: t0, LastTime: t0 + 1, Flows: flows[i : i+1 : i+1]}
	}
	return s
}

// TestBigSortDoesNotBlock: with many connections a key is answered at once;
// the old order stays until the new one is there, and the cursor keeps its
// row.
func TestBigSortDoesNotBlock(t *testing.T) {
	st := newStage(t, manyConnections(100_000), 120, 40, Options{})
	st.draw()
	p := st.roots[viewFlows].(*flowsPage)
	st.settle(func() bool { st.draw(); return !st.roots[viewOverview].(*overviewPage).flows.working })
	st.press("2")
	st.contains("sorting …")
	st.settle(func() bool { return !p.working && p.g.length() == 100_000 })
	st.press("G")
	id := p.g.id()
	st.press(":")
	st.types("sort PKTS")
	st.press("enter")
	assert.True(t, p.working, "the key is answered before the order is made")
	assert.Equal(t, 100_000, p.g.length(), "the old order stays meanwhile")
	st.settle(func() bool { return !p.working })
	assert.Equal(t, id, p.g.id())
	st.press("g")
	row, _ := p.g.current()
	assert.Equal(t, int64(99_999), row.c.Flows[0].Packets)
	st.press("S", "s")
	st.settle(func() bool { st.draw(); return !p.working })
	assert.Equal(t, p.query(st.ui), p.have, "the last of several orders asked for is made")
}

// TestBigHostsDoNotBlock: the matrix of many connections comes later, and the
// cursor stays on its pair.
func TestBigHostsDoNotBlock(t *testing.T) {
	st := newStage(t, manyConnections(100_000), 120, 40, Options{})
	st.draw()
	st.press("5")
	p := st.top().(*hostsPage)
	st.contains("adding up …")
	st.settle(func() bool { return p.making == nil })
	st.contains("10.0.0.1 → 10.0.0.2")
	st.press("j")
	src, dst := p.pair()
	st.engine.s = manyConnections(100_001)
	require.True(t, st.poll(timeZero))
	st.draw()
	assert.NotNil(t, p.making)
	st.contains(src + " → " + dst)
	st.settle(func() bool { return p.making == nil })
	after, there := p.pair()
	assert.Equal(t, [2]string{src, dst}, [2]string{after, there})
}

// TestOldSnapshotsAreLetGo: of a hundred thousand connections a snapshot takes
// hundreds of megabytes; pages that were looked at once must not keep theirs.
func TestOldSnapshotsAreLetGo(t *testing.T) {
	st := newStage(t, withFindings(), 120, 40, Options{Packets: samplePackets(), Details: sampleDetails{}})
	st.press("0", "tab", "1", "2", "j", "3", "4", "5", "2")
	id := st.top().(*flowsPage).g.id()
	st.press("5")
	old := weak.Make(&st.snap.Connections[0])
	st.engine.s = withFindings()
	require.True(t, st.poll(timeZero))
	st.draw()
	assert.Eventually(t, func() bool { runtime.GC(); return old.Value() == nil }, 10*time.Second, time.Millisecond)
	st.press("2")
	assert.Equal(t, id, st.top().(*flowsPage).g.id(), "the cursor is where it was")
}

// TestSelectionFollowsTheFlow: a new snapshot with other connections before
// it moves the row, not the selection.
func TestSelectionFollowsTheFlow(t *testing.T) {
	st := fullStage(t)
	st.press("2", "j")
	p := st.top().(*flowsPage)
	id := p.g.id()
	next := withFindings()
	c := pair("c99", "10.0.0.99", "10.0.1.9", 9, 10)
	c.Flows[0].Retransmitted = analysis.Int(1_000_000)
	next.Connections = append(analysis.List[analysis.Connection]{c}, next.Connections...)
	st.engine.s = next
	require.True(t, st.poll(timeZero))
	st.draw()
	assert.Equal(t, id, p.g.id())
	assert.Equal(t, 4, p.g.length())
	require.False(t, st.poll(timeZero), "nothing new, nothing to draw")
}

// TestResizeKeepsTheCursor on every page.
func TestResizeKeepsTheCursor(t *testing.T) {
	for _, pg := range pageScripts {
		st := sampleStage(t, pg.sample, 120, 40, "256")
		st.draw()
		st.press(pg.keys...)
		st.prompt, st.menu = nil, nil
		m, ok := st.top().(marker)
		if !ok {
			continue
		}
		before := m.place()
		for _, size := range [][2]int{{60, 15}, {200, 50}, {30, 8}, {80, 24}, {120, 40}} {
			st.screen.SetSize(size[0], size[1])
			st.draw()
			assert.Equal(t, before, m.place(), "%s at %v", pg.name, size)
		}
	}
}

func TestTooSmall(t *testing.T) {
	st := fullStage(t)
	for _, size := range [][2]int{{59, 24}, {80, 14}, {10, 3}, {3, 1}, {1, 1}} {
		st.screen.SetSize(size[0], size[1])
		text := st.text()
		if size[0] > 20 {
			assert.Contains(t, text, "terminal too small")
		}
	}
	st.screen.SetSize(60, 15)
	for v := range viewNames {
		st.press(key('0' + rune(v)))
		assert.NotContains(t, st.text(), "too small")
		checkClean(t, st.text(), 60)
	}
}

// TestEveryColumnFits: no figure is wider than its column, whatever the
// figure; a cut number would be a wrong number.
func TestEveryColumnFits(t *testing.T) {
	for _, v := range []int64{0, 9, 999, 9_999, 10_000, 99_999, 999_999, 1_000_000, 123_456_789, 999_999_999, 99_999_999_999, 999_999_999_999_999} {
		assert.LessOrEqual(t, len(short(v)), 5, v)
	}
	for _, ns := range []int64{1, 999, 1001, 9_999, 99_999, 999_999, 1_234_567, 99_999_999, 999_999_999, 9_999_999_999, 119_999_999_999} {
		assert.LessOrEqual(t, columns(duration(ns)), 7, duration(ns))
	}
}

func TestUnits(t *testing.T) {
	for v, want := range map[int64]string{0: "0", 9_999: "9999", 10_000: "10.0k", 540_112: "540k", 1_234_567: "1.23M", 999_999: "999k", -15_000: "-15.0k"} {
		assert.Equal(t, want, short(v))
	}
	assert.Equal(t, "3.390420310", since(t0+3_390_420_310, t0))
	assert.Equal(t, "-0.000000001", since(t0-1, t0))
}

func TestText(t *testing.T) {
	assert.Equal(t, "ab c", clean("a\x1b\x07b\nc\u202e\xff"))
	assert.Equal(t, "10…9", elide("10.0.0.9", 4))
	assert.Equal(t, "go-ba…", cut("go-back-N", 6))
	assert.Equal(t, "", cut("x", 0))
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 8))
	assert.Equal(t, []string{"0123", "4567", "89"}, wrap("0123456789", 4))
	assert.Equal(t, []string{"網路", "網"}, wrap("網路網", 4))
	assert.Equal(t, "網", takeColumns("網路", 3))
	assert.Equal(t, "路", cutLeft("網路", 2))
	assert.Nil(t, wrap("x", 0))
}

// TestASCIITerminal: a terminal without UTF-8 gets plain characters and the
// same columns.
func TestASCIITerminal(t *testing.T) {
	st := fullStage(t)
	st.theme.level = 2
	for v := range viewNames {
		st.press(key('0' + rune(v)))
		text := st.text()
		for _, r := range text {
			assert.Less(t, r, rune(0x80), "%q", r)
		}
		assert.Less(t, strings.Count(text, "?"), 12, "a character without a plain form:\n"+text)
	}
}

// BenchmarkRedrawMillion is a paint of the connection table at 120×40 with a
// million rows: of new data, that is without a key.
func BenchmarkRedrawMillion(b *testing.B) {
	sim := tcell.NewSimulationScreen("UTF-8")
	s := newShadow(sim)
	require.NoError(b, s.Init())
	defer s.Fini()
	sim.SetSize(120, 40)
	u, err := newUI(Options{Engine: &fixed{s: manyConnections(1_000_000)}, Theme: "256"}, s, host{})
	require.NoError(b, err)
	u.press("2")
	b.ReportAllocs()
	for b.Loop() {
		frame(u, s)
	}
}

// BenchmarkHostsMillion adds up the host matrix of a million connections.
func BenchmarkHostsMillion(b *testing.B) {
	s := manyConnections(1_000_000)
	for b.Loop() {
		newHostMatrix(s)
	}
}

func BenchmarkSortMillion(b *testing.B) {
	s := manyConnections(1_000_000)
	cols := connColumns()
	for _, name := range []string{"RESENT", "A→B", "!"} {
		b.Run(name, func(b *testing.B) {
			col := 0
			for i := range cols {
				if cols[i].title == name {
					col = i
				}
			}
			for b.Loop() {
				connQuery{s: s, col: col, desc: true}.build(cols, nil, nil, window{})
			}
		})
	}
}

func BenchmarkFilterMillion(b *testing.B) {
	s := manyConnections(1_000_000)
	cols := connColumns()
	match := func(_ *analysis.Snapshot, _ *analysis.Connection, f *analysis.Flow) bool {
		return *f.Retransmitted > 999_000
	}
	for b.Loop() {
		connQuery{s: s, col: 5, desc: true}.build(cols, nil, match, window{})
	}
}
