package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// filterError points at a column, as a filter's error does.
type filterError struct{ at int }

func (filterError) Error() string {
	return "no field infiniband.bth.pns; did you mean infiniband.bth.psn?"
}
func (e filterError) Column() int { return e.at }

// toyFilter knows "resent" for flows and "nak" for packets.
type toyFilter struct{}

func (toyFilter) CompileFlow(expr string) (FlowMatch, error) {
	if strings.Contains(expr, "pns") {
		return nil, filterError{strings.Index(expr, "infiniband")}
	}
	return func(_ *analysis.Snapshot, _ *analysis.Connection, f *analysis.Flow) bool {
		return f != nil && (strings.Contains(expr, "!") || value(f.Retransmitted) > 0)
	}, nil
}

func (toyFilter) FlowNames() []Name {
	return []Name{{"flow.retx_packets", "packets resent"}, {"flow.rnr_naks", "RNR NAKs"}, {"ip.addr", "either address"}}
}

func (toyFilter) CompilePacket(expr string) (func(*wire.Packet) bool, error) {
	if expr != "nak" {
		return nil, errors.New("only nak is known")
	}
	return isNak, nil
}

func (toyFilter) PacketNames() []Name { return []Name{{"infiniband.bth.psn", "PSN"}} }

func fullStage(t *testing.T) *stage {
	st := newStage(t, withFindings(), 120, 40, Options{Inputs: []string{"rack 7.pcapng"}, Details: sampleDetails{}, Packets: samplePackets(),
		FlowFilter: toyFilter{}, PacketFilter: toyFilter{}, Saver: &saved{}})
	st.draw()
	return st
}

func (st *stage) contains(text string) {
	st.t.Helper()
	require.Contains(st.t, st.text(), text)
}

func TestKeyNames(t *testing.T) {
	for _, c := range []struct {
		ev   *tcell.EventKey
		want key
	}{
		{tcell.NewEventKey(tcell.KeyRune, 'j', 0), "j"}, {tcell.NewEventKey(tcell.KeyRune, ' ', 0), "space"},
		{tcell.NewEventKey(tcell.KeyCtrlF, 6, tcell.ModCtrl), "ctrl-f"}, {tcell.NewEventKey(tcell.KeyEscape, 0, 0), "esc"},
		{tcell.NewEventKey(tcell.KeyRune, 'j', tcell.ModAlt), ""}, {tcell.NewEventKey(tcell.KeyF5, 0, 0), ""},
		{tcell.NewEventKey(tcell.KeyEnter, 13, 0), "enter"}, {tcell.NewEventKey(tcell.KeyTab, 9, 0), "tab"},
	} {
		assert.Equal(t, c.want, nameKey(c.ev))
	}
}

func TestNumberKeysInOrder(t *testing.T) {
	st := fullStage(t)
	for i, want := range []string{"Overview", "Findings", "Flows", "PFC", "Packets", "Hosts"} {
		st.press(key('0' + rune(i)))
		assert.Equal(t, i, st.view, want)
		st.contains(want)
	}
}

func TestMovement(t *testing.T) {
	st := fullStage(t)
	st.press("2")
	g := st.top().(*flowsPage).g
	for _, c := range []struct {
		k    key
		want int
	}{{"j", 1}, {"down", 2}, {"j", 2}, {"k", 1}, {"up", 0}, {"k", 0}, {"G", 2}, {"g", 0}, {"ctrl-f", 2}, {"ctrl-b", 0},
		{"ctrl-d", 2}, {"ctrl-u", 0}, {"end", 2}, {"home", 0}, {"pgdn", 2}, {"pgup", 0}} {
		st.press(c.k)
		assert.Equal(t, c.want, g.cursor, c.k)
	}
	col := g.col
	st.press("l")
	assert.NotEqual(t, col, g.col)
	st.press("h")
	assert.Equal(t, col, g.col)
	st.press("right", "left")
	assert.Equal(t, col, g.col)
}

func TestTabGoesRoundThePanes(t *testing.T) {
	st := fullStage(t)
	p := st.top().(*overviewPage)
	var seen []int
	for range 4 {
		seen = append(seen, p.focus)
		st.press("tab")
	}
	assert.Equal(t, []int{0, 1, 2, 0}, seen)
	st.press("shift-tab")
	assert.Equal(t, 0, p.focus)
}

func TestEnterAndEscape(t *testing.T) {
	st := fullStage(t)
	st.press("2", "j", "enter")
	_, ok := st.top().(*connPage)
	require.True(t, ok)
	st.press("esc")
	g := st.top().(*flowsPage).g
	assert.Equal(t, 1, g.cursor, "the cursor is where it was")
	st.press("esc", "esc", "esc", "esc")
	assert.Equal(t, viewOverview, st.view)
	assert.Zero(t, st.quits, "esc never quits")
	st.press("enter", "enter")
	assert.Len(t, st.stack, 1+1, "finding, then what it leads to")
	st.press("esc", "esc")
	assert.Empty(t, st.stack)
}

func TestSearch(t *testing.T) {
	st := fullStage(t)
	st.press("2")
	g := st.top().(*flowsPage).g
	st.press("/")
	st.types("FD00")
	assert.Equal(t, 2, g.cursor, "while typing, without case")
	st.press("esc")
	assert.Equal(t, 0, g.cursor, "esc goes back")
	st.press("/")
	st.types("10.0.1.9")
	st.press("enter")
	assert.Equal(t, 0, g.cursor)
	st.press("n")
	assert.Equal(t, 1, g.cursor)
	st.press("n")
	assert.Equal(t, 0, g.cursor, "round")
	st.press("N")
	assert.Equal(t, 1, g.cursor)
	st.press("/")
	st.types("nowhere")
	st.press("enter")
	st.contains("not found: nowhere")
	assert.Equal(t, 1, g.cursor)
}

// TestFieldsTakeEveryKey: who types "q" into a filter must not quit.
func TestFieldsTakeEveryKey(t *testing.T) {
	st := fullStage(t)
	for _, open := range []key{":", "/", "f"} {
		st.press("2", open)
		require.NotNil(t, st.prompt, open)
		st.types("q?12 hjkl:/nN'm")
		assert.Equal(t, "q?12 hjkl:/nN'm", st.prompt.String())
		st.press("esc")
		assert.Nil(t, st.prompt)
	}
	assert.Zero(t, st.quits)
	assert.Equal(t, viewFlows, st.view)
}

func TestFieldEditing(t *testing.T) {
	st := fullStage(t)
	st.press("2", "f")
	st.types("one two")
	for _, c := range []struct {
		k    key
		want string
	}{{"ctrl-w", "one "}, {"ctrl-a", "one "}, {"delete", "ne "}, {"right", "ne "}, {"backspace", "e "}, {"end", "e "}, {"left", "e "},
		{"ctrl-k", "e"}, {"x", "ex"}, {"home", "ex"}, {"ctrl-e", "ex"}, {"ctrl-u", ""}} {
		st.press(c.k)
		assert.Equal(t, c.want, st.prompt.String(), c.k)
	}
	st.press("backspace")
	assert.Nil(t, st.prompt, "out of an empty field")
}

func TestFilter(t *testing.T) {
	st := fullStage(t)
	st.press("2", "f")
	st.types("resent")
	st.press("enter")
	g := st.top().(*flowsPage).g
	assert.Equal(t, 1, g.length())
	st.contains("filter: resent")
	st.contains("1 of 412 connections")
	st.press("f")
	assert.Equal(t, "resent", st.prompt.String(), "it is edited")
	st.press("ctrl-u")
	st.types("infiniband.bth.pns")
	st.contains("did you mean infiniband.bth.psn?")
	st.press("enter")
	assert.Equal(t, 1, g.length(), "a wrong filter changes nothing")
	st.press("esc")
	assert.Equal(t, 3, g.length(), "esc takes the filter off first")
	assert.Equal(t, viewFlows, st.view)
	st.press("f")
	st.types("flow.r")
	st.press("tab")
	assert.Equal(t, "flow.retx_packets", st.prompt.String())
	st.press("tab")
	assert.Equal(t, "flow.rnr_naks", st.prompt.String())
	st.press("esc", "f", "up")
	assert.Equal(t, "infiniband.bth.pns", st.prompt.String(), "history")
}

func TestFilterFromCell(t *testing.T) {
	st := fullStage(t)
	st.press("2", "F")
	require.NotNil(t, st.menu)
	st.contains("ip.addr == 10.0.0.8 && ip.addr == 10.0.1.9")
	st.press("1")
	assert.Equal(t, "ip.addr == 10.0.0.8 && ip.addr == 10.0.1.9", st.top().(*flowsPage).expr)
	st.press("l", "F", "j", "j", "enter")
	assert.Equal(t, "(ip.addr == 10.0.0.8 && ip.addr == 10.0.1.9) && infiniband.bth.destqp == 0x01a2f4", st.top().(*flowsPage).expr)
	st.press("F", "2")
	assert.True(t, strings.HasPrefix(st.top().(*flowsPage).expr, "!("))
}

func TestFilterMissing(t *testing.T) {
	st := newStage(t, withFindings(), 80, 24, Options{})
	st.draw()
	st.press("2", "f")
	st.types("x")
	st.press("enter")
	st.contains(errNoFilter.Error())
}

func TestCommands(t *testing.T) {
	st := fullStage(t)
	run := func(text string) {
		st.press(":")
		st.types(text)
		st.press("enter")
	}
	for i, name := range viewNames {
		run(strings.ToLower(name))
		assert.Equal(t, i, st.view)
	}
	run("fl")
	assert.Equal(t, viewFlows, st.view, "an unambiguous beginning")
	run("3g")
	assert.Equal(t, 2, st.top().(*flowsPage).g.cursor)
	run("99999")
	st.contains("no 99,999 here")
	run("sort p99")
	st.contains("sort p99▼")
	run("sort nothing")
	st.contains("no column nothing")
	run("theme mono")
	assert.Equal(t, "mono", st.theme.name)
	run("set theme=16")
	assert.Equal(t, "16", st.theme.name)
	run("set window=10s")
	assert.Equal(t, int64(10e9), st.window.rolling)
	run("set window = all")
	assert.True(t, st.window.all())
	run("set pause=on")
	assert.True(t, st.paused)
	run("pause")
	assert.False(t, st.paused)
	run("set nonsense=1")
	st.contains("not a setting")
	run("nonsense")
	st.contains("no command nonsense")
	run("packets")
	run("4")
	assert.Equal(t, int64(4), st.top().(*packetsPage).number())
	run("help")
	st.contains("Everywhere")
	run("q")
	assert.Equal(t, 1, st.quits)
	st.press(":", "up")
	assert.Equal(t, "q", st.prompt.String())
	st.press("ctrl-u", "f", "tab")
	assert.Equal(t, "filter", st.prompt.String())
	st.press("tab")
	assert.Equal(t, "findings", st.prompt.String())
	st.press("shift-tab")
	assert.Equal(t, "filter", st.prompt.String())
}

// TestEveryColumnSorts goes round all columns by > and back by <, also
// those that have no room.
func TestEveryColumnSorts(t *testing.T) {
	st := fullStage(t)
	st.press("2")
	p := st.top().(*flowsPage)
	seen := map[int]bool{}
	for range p.g.cols {
		st.press(">")
		seen[p.g.sortCol] = true
		require.Contains(t, p.g.shown, p.g.sortCol, "the column that sorts is shown")
		st.contains("sort " + p.g.cols[p.g.sortCol].title)
	}
	assert.Len(t, seen, len(p.g.cols))
	at := p.g.sortCol
	st.press("<", ">")
	assert.Equal(t, at, p.g.sortCol)
	st.press("s")
	desc := p.g.desc
	st.press("S")
	assert.NotEqual(t, desc, p.g.desc)
}

func TestSortKeepsTheRow(t *testing.T) {
	st := fullStage(t)
	st.press("2", "G")
	p := st.top().(*flowsPage)
	id := p.g.id()
	for range 40 {
		st.press(">")
		require.Equal(t, id, p.g.id(), p.g.sortText())
	}
}

func TestColumns(t *testing.T) {
	st := fullStage(t)
	st.press("2", "c")
	p := st.top().(*flowsPage)
	qps := 2
	require.Contains(t, p.g.shown, qps)
	st.press("j", "j", "enter")
	assert.NotContains(t, p.g.shown, qps)
	require.NotNil(t, st.menu, "it stays open, to tick several")
	st.press("enter")
	assert.Contains(t, p.g.shown, qps)
	st.press("G", "space")
	assert.Contains(t, p.g.shown, len(p.g.cols)-1, "ticked columns are shown though it is narrow")
	st.press("esc")
	assert.Nil(t, st.menu)
}

func TestMarks(t *testing.T) {
	st := fullStage(t)
	st.press("2", "j", "m", "a", "g", "1", "'", "a")
	assert.Equal(t, viewFlows, st.view)
	assert.Equal(t, 1, st.top().(*flowsPage).g.cursor)
	st.press("'", "z")
	st.contains("no mark z")
	st.press("4", "j", "j", "m", "p", "g", "0", "'", "p")
	assert.Equal(t, int64(3), st.top().(*packetsPage).number())
}

func TestCopy(t *testing.T) {
	st := fullStage(t)
	st.press("2", "y", "4")
	assert.Equal(t, `tshark -r 'rack 7.pcapng' -Y 'ip.addr == 10.0.0.8 && ip.addr == 10.0.1.9 && (infiniband.bth.destqp == 0x0091c5 || infiniband.bth.destqp == 0x01a2f4)'`, st.copied)
	st.contains("sent to the terminal's clipboard: tshark")
	st.press("y", "1")
	assert.Equal(t, "10.0.0.8→10.0.1.9", st.copied)
	for v := range viewNames {
		st.press(key('0'+rune(v)), "y")
		require.NotNil(t, st.menu, viewNames[v])
		st.press("1")
		assert.NotEmpty(t, st.copied)
	}
}

func TestShellQuote(t *testing.T) {
	assert.Equal(t, "a.pcap", shellQuote("a.pcap"))
	assert.Equal(t, `'$(reboot)'\''; x'`, shellQuote("$(reboot)'; x"))
	assert.Equal(t, "''", shellQuote(""))
}

func TestExport(t *testing.T) {
	st := fullStage(t)
	st.press("2", "e")
	assert.Equal(t, "rdmascope-flows.csv", st.prompt.String())
	st.press("enter")
	csv := st.written["rdmascope-flows.csv"]
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	require.Len(t, lines, 4, csv)
	assert.True(t, strings.HasPrefix(lines[0], "!,A→B,QPs A↔B"), lines[0])
	assert.Contains(t, lines[1], "✖ F2,10.0.0.8→10.0.1.9", "in the order of the screen")
	st.contains("3 rows exported to rdmascope-flows.csv")
	st.press("e", "enter")
	st.contains("exists")
	for _, name := range []string{"a.json", "a.svg", "a.txt"} {
		st.press("e", "ctrl-u")
		st.types(name)
		st.press("enter")
		require.NotEmpty(t, st.written[name], name)
	}
	assert.Contains(t, st.written["a.json"], `"A→B": "10.0.0.8→10.0.1.9"`)
	assert.Contains(t, st.written["a.txt"], "10.0.0.8→10.0.1.9")
	assert.NotContains(t, st.written["a.txt"], "to: ", "the page, not the question")
	assert.Contains(t, st.written["a.svg"], "<svg")
	st.press("e", "ctrl-u")
	st.types("a.doc")
	st.press("enter")
	st.contains(`no format ".doc"`)
}

func TestEveryPageExports(t *testing.T) {
	st := fullStage(t)
	for v, name := range viewNames {
		for _, ext := range []string{".csv", ".json", ".svg"} {
			st.press(key('0' + rune(v)))
			st.exportTo(name + ext)
			assert.NotEmpty(t, st.written[name+ext], name+ext)
		}
	}
	assert.NotContains(t, st.written["Packets.csv"], "…", "an export waits for its packets")
}

func TestSave(t *testing.T) {
	st := fullStage(t)
	s := st.opt.Saver.(*saved)
	st.press("1", "w")
	require.NotNil(t, st.prompt)
	st.press("enter")
	st.settle(func() bool { return strings.Contains(st.note.text, "written to") })
	assert.Equal(t, []int64{40_112_008}, s.packets)
	assert.Equal(t, "packets.pcapng", s.path)
	st.press("5", "w")
	st.contains("no packets to save here")
}

func TestZoomAndRollingWindow(t *testing.T) {
	st := fullStage(t)
	st.press("]")
	from, to := st.window.span(st.snap)
	assert.Equal(t, int64(3_120_000_000), int64(to-from))
	st.contains("window 10:15:03.67 +3.12 s")
	st.press("1")

	st.press("}")
	a, _ := st.window.span(st.snap)
	assert.Greater(t, a, from)
	st.press("{", "[")
	assert.True(t, st.window.all())
	for _, want := range []int64{10e9, 60e9, 600e9, 0} {
		st.press("r")
		assert.Equal(t, want, st.window.rolling)
	}
}

func TestWindowHidesAndSaysSo(t *testing.T) {
	st := fullStage(t)
	st.press("1")
	st.window.set(st.snap, t0, t0+1_000_000_000)
	st.contains("2 of 4 findings")
	st.contains("window 10:15:02.11")
	st.press("2")
	st.contains("3 of 412")
}

func TestPause(t *testing.T) {
	st := fullStage(t)
	st.press("space")
	newer := withFindings()
	newer.Capture.Packets += 12_031
	newer.Verdict.Headline = "changed"
	st.engine.s = newer
	require.True(t, st.poll(timeZero))
	st.contains("PAUSED +12,031")
	st.contains("PFC storm on priority 3 froze")
	st.press("space")
	st.contains("changed")
	assert.NotContains(t, st.text(), "PAUSED")
}

func TestMaximise(t *testing.T) {
	st := fullStage(t)
	st.press("\\")
	assert.NotContains(t, st.text(), "Can you trust")
	st.press("esc")
	st.contains("Can you trust")
	st.press("2", "enter", "tab", "\\")
	assert.NotContains(t, st.text(), "── Events")
	st.press("esc")
	st.contains("── Events")
	st.press("4", "|")
	assert.NotContains(t, st.text(), "Octets")
	st.press("|", "|")
	st.contains("Octets")
}

func TestQuitSuspendRepaintHelp(t *testing.T) {
	st := fullStage(t)
	st.press("ctrl-z", "ctrl-l")
	assert.Equal(t, 1, st.stops)
	assert.Equal(t, 1, st.repaint)
	st.press("?")
	st.contains("Here: Overview")
	for _, h := range keyTable[:5] {
		st.contains(h.text)
	}
	st.press("G", "k", "ctrl-u", "esc")
	assert.Empty(t, st.stack)
	st.press("q")
	assert.Equal(t, 1, st.quits)
	st.press("ctrl-c")
	assert.Equal(t, 2, st.quits)
}

// TestEveryKeyEverywhere presses every key on every page at both sizes:
// nothing may panic, and every key that takes a page away comes back by esc.
func TestEveryKeyEverywhere(t *testing.T) {
	keys := []key{"h", "j", "k", "l", "g", "G", "up", "down", "left", "right", "home", "end", "pgup", "pgdn", "ctrl-f", "ctrl-b", "ctrl-d", "ctrl-u",
		"tab", "shift-tab", "enter", "/", "n", "N", "f", "F", ":", "s", "S", "<", ">", "m", "'", "y", "e", "w", "space", "r", "c", "?", "[", "]", "{", "}",
		"\\", "|", "x", "p", "o", "a", ".", ",", "t", "T", "ctrl-l", "0", "1", "2", "3", "4", "5", "@", "Z", "delete", "backspace"}
	for _, p := range pageScripts {
		for _, sample := range []string{p.sample, "hostile"} {
			st := sampleStage(t, sample, 80, 24, "16")
			st.draw()
			for _, k := range keys {
				st.prompt, st.menu, st.stack, st.view, st.window = nil, nil, nil, 0, window{}
				for _, before := range p.keys {
					st.ui.press(before)
				}
				st.prompt, st.menu = nil, nil
				st.ui.press(k)
				checkClean(t, st.text(), 80)
				st.ui.press("esc")
				st.run()
			}
			assert.Zero(t, st.quits)
			if p.sample == "hostile" {
				break
			}
		}
	}
}

func TestMouse(t *testing.T) {
	st := fullStage(t)
	click := func(x, y int) { st.mouse(tview.MouseLeftClick, x, y); st.draw() }
	click(25, 1)
	assert.Equal(t, viewFlows, st.view, "a tab")
	p := st.top().(*flowsPage)
	click(5, 4)
	assert.Equal(t, 1, p.g.cursor)
	line := st.lines()[2]
	click(columns(line[:strings.Index(line, "RESENT")])+1, 2)
	assert.Equal(t, "RESENT", p.g.cols[p.g.sortCol].title, "a title sorts")
	st.mouse(tview.MouseScrollDown, 5, 5)
	assert.Equal(t, 2, p.g.cursor)
	st.mouse(tview.MouseScrollUp, 5, 5)
	assert.Equal(t, 1, p.g.cursor)
	st.mouse(tview.MouseLeftDoubleClick, 5, 3)
	_, ok := st.top().(*connPage)
	assert.True(t, ok, "a double click opens")
	st.draw()
	click(2, 1)
	assert.Equal(t, viewOverview, st.view, "breadcrumbs")
	for v := range viewNames {
		st.press(key('0' + rune(v)))
		for y := range 40 {
			for _, a := range []tview.MouseAction{tview.MouseLeftClick, tview.MouseLeftDoubleClick, tview.MouseScrollDown} {
				st.mouse(a, 30, y)
				st.draw()
				st.show(v)
			}
		}
	}
}

func TestPaste(t *testing.T) {
	st := fullStage(t)
	st.PasteHandler()("q\x1b[2J", nil)
	assert.Zero(t, st.quits, "what is pasted by mistake is no keys")
	st.press("2", "f")
	st.PasteHandler()("a\nb", nil)
	assert.Equal(t, "a b", st.prompt.String())
}

func TestKeyTableIsComplete(t *testing.T) {
	var all []string
	for _, h := range keyTable {
		all = append(all, strings.Fields(h.key)...)
	}
	for _, k := range []string{"h", "j", "k", "l", "g", "G", "^F", "^B", "^D", "^U", "tab", "enter", "esc", "/", "n", "N", "f", "F", ":", "s", "S", "<", ">",
		"m", "'", "y", "e", "w", "space", "r", "c", "?", "q", "^Z", "^L"} {
		assert.True(t, slices.Contains(all, k), k)
	}
}
