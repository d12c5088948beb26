package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// windowed is a source that keeps some packets of many.
type windowed struct {
	first, last int64
	ended       bool
	froze       *windowed // what it was
}

func (w *windowed) at() *windowed {
	if w.froze != nil {
		return w.froze
	}
	return w
}
func (w *windowed) Count() (int64, bool) { return w.at().last, w.ended }
func (w *windowed) First() int64         { return w.at().first }
func (w *windowed) Freeze(on bool) {
	if w.froze = nil; on {
		c := *w
		w.froze = &c
	}
}
func (w *windowed) Packet(n int64) (*wire.Packet, error) {
	if n < w.at().first || n > w.at().last {
		return nil, fmt.Errorf("packet %d is not kept any more", n)
	}
	p := &wire.Packet{Number: n, Time: int64(t0) + n*1000, Wire: uint32(n % 1000)}
	return p, nil
}

// liveStage is a capture under way.
func liveStage(t *testing.T, w, h int, l *Live, src *windowed) *stage {
	s := withFindings()
	s.Capture.KernelDroppedPackets = nil
	st := newStage(t, s, w, h, Options{Title: "-i eth7", Packets: src, Live: func() Live { return *l },
		Progress: func() Progress { return Progress{Packets: src.last} }})
	st.poll(timeZero)
	return st
}

// TestLiveHeaderTellsDropsFirst: whatever the width, what was missed is there,
// and looks bad as soon as it is anything.
func TestLiveHeaderTellsDropsFirst(t *testing.T) {
	l := &Live{Elapsed: 4*time.Minute + 11*time.Second, Interfaces: []LiveInterface{{Name: "eth7", Received: 1_000_000, NICDropped: 0}, {Name: "eth8", NICDropped: -1}}}
	src := &windowed{first: 1, last: 1_000_000}
	for _, width := range []int{60, 80, 120} {
		st := liveStage(t, width, 24, l, src)
		line := st.draw()[0]
		assert.True(t, strings.HasPrefix(line, " rdmascope  -i eth7  LIVE 00:04:11  ✔ no drops"), line)
	}
	l.Interfaces[0].KernelDropped, l.Interfaces[1].KernelDropped, l.Interfaces[0].NICDropped = 1200, 4, 7
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}} {
		width := size[0]
		st := liveStage(t, width, size[1], l, src)
		lines := st.draw()
		assert.Contains(t, lines[0], "LIVE 00:04:11  ✖ DROPS kernel 1,204 NIC 7")
		assert.LessOrEqual(t, columns(lines[0]), width)
		assert.Contains(t, strings.Join(lines, "\n"), "✖ drops        eth7: kernel 1,200, NIC 7 of 1,000,000")
		x := columns(lines[0][:strings.Index(lines[0], "✖ DROPS")])
		_, style, _ := st.screen.Get(x, 0)
		assert.Equal(t, st.theme.style(critical), style)
	}
	st := liveStage(t, 120, 40, l, src)
	assert.Contains(t, st.draw()[0], "✖ 2 ▲ 1 ● 1  0 packets/s")
	l.Ended = true
	st = liveStage(t, 120, 40, l, src)
	assert.Contains(t, st.draw()[0], "ENDED 00:04:11")
}

func TestLiveInterfaceGone(t *testing.T) {
	l := &Live{Interfaces: []LiveInterface{{Name: "eth7", Gone: true, NICDropped: -1}, {Name: "eth8", Down: true, NICDropped: -1}},
		Noticed: 1, Notices: []string{"eth7: gone"}}
	st := liveStage(t, 120, 40, l, &windowed{first: 1})
	st.contains("✖ interface    eth7 is gone")
	st.contains("▲ interface    eth8 is down")
	st.contains("▲ eth7: gone") // said once, until the next key
	st.press("j")
	assert.NotContains(t, st.draw()[39], "gone")
	l.Noticed, l.Notices = 2, append(l.Notices, "eth8: up again")
	require.True(t, st.poll(timeZero))
	st.contains("▲ eth8: up again")
}

// TestLiveRate is what comes now: none when none comes.
func TestLiveRate(t *testing.T) {
	src := &windowed{first: 1}
	st := liveStage(t, 120, 40, &Live{}, src)
	at := time.Now()
	for _, c := range []struct {
		more int64
		want string
	}{{0, "0 packets/s"}, {250_000, "250k packets/s"}, {7, "7 packets/s"}, {0, "0 packets/s"}} {
		src.last += c.more
		at = at.Add(time.Second)
		st.poll(at)
		st.contains(" " + c.want)
	}
}

// TestLiveSelectionStays on its connection while others come, go and pass it.
func TestLiveSelectionStays(t *testing.T) {
	st := liveStage(t, 120, 40, &Live{}, &windowed{first: 1})
	st.press("2", "j")
	p := st.top().(*flowsPage)
	id := p.g.id()
	require.NotEmpty(t, id)
	for round := range 5 {
		next := withFindings()
		for i := range 3 + round {
			c := pair(fmt.Sprintf("n%d", i), "10.9.0.1", "10.9.0.2", int64(i), int64(i))
			c.Flows[0].Retransmitted = analysis.Int(int64(1_000_000 + i*round))
			next.Connections = append(analysis.List[analysis.Connection]{c}, next.Connections...)
		}
		st.engine.s = next
		require.True(t, st.poll(timeZero.Add(time.Duration(round)*time.Second)))
		st.draw()
		assert.Equal(t, id, p.g.id())
	}
	// Rows that are equal keep their order in every snapshot.
	st.press(":")
	st.types("sort SERVICE")
	st.press("enter")
	order := func() (ids []string) {
		for i := range p.g.length() {
			ids = append(ids, p.g.list.ID(i))
		}
		return ids
	}
	before := order()
	again := *st.snap
	st.engine.s = &again
	require.True(t, st.poll(timeZero.Add(time.Minute)))
	st.draw()
	assert.Equal(t, before, order())
}

// TestLiveFreeze: the display stands still, packets and all, while the capture
// goes on; its drops and its time are still told.
func TestLiveFreeze(t *testing.T) {
	l := &Live{Elapsed: time.Second}
	src := &windowed{first: 1, last: 100}
	st := liveStage(t, 120, 40, l, src)
	st.press("4", "space")
	frozen := st.top().(*packetsPage)
	assert.Equal(t, int64(100), frozen.number())
	src.first, src.last = 5000, 9000
	l.Elapsed, l.Interfaces = 9*time.Second, []LiveInterface{{Name: "eth7", KernelDropped: 3, NICDropped: -1}}
	newer := withFindings()
	newer.Capture.Packets += 12_031
	st.engine.s = newer
	require.True(t, st.poll(timeZero))
	st.contains("PAUSED +12,031")
	st.contains("LIVE 00:00:09  ✖ DROPS kernel 3")
	assert.Equal(t, int64(100), frozen.number())
	st.press("k")
	assert.Equal(t, int64(99), frozen.number())
	assert.NotContains(t, st.text(), "not kept")
	st.press("space")
	assert.Equal(t, int64(5000), frozen.number(), "its packet is gone: the oldest there is")
	assert.NotContains(t, st.text(), "PAUSED")
}

// TestLivePacketsFollow: on the newest packet the cursor stays on the newest;
// anywhere else on its packet, as long as that is kept.
func TestLivePacketsFollow(t *testing.T) {
	src := &windowed{first: 1, last: 50}
	st := liveStage(t, 120, 40, &Live{}, src)
	st.press("4")
	p := st.top().(*packetsPage)
	assert.Equal(t, int64(50), p.number(), "it begins with the newest")
	src.last = 400
	st.draw()
	assert.Equal(t, int64(400), p.number())
	st.press("k", "k")
	line := strings.Index(st.text(), "▸")
	src.first, src.last = 300, 700
	assert.Equal(t, line, strings.Index(st.text(), "▸"), "neither packet nor line moves")
	assert.Equal(t, int64(398), p.number())
	st.contains("newest 401 of 700 packets so far")
	src.first, src.last = 500, 900
	st.draw()
	assert.Equal(t, int64(500), p.number(), "it is gone: the oldest there is")
	st.press("G")
	src.last = 1000
	st.draw()
	assert.Equal(t, int64(1000), p.number())
	st.press(":")
	st.types("499")
	st.press("enter")
	st.contains("packet 499 is not in this list")
	st.openPacket(400)
	st.contains("packet 400 is not kept any more, only those from 500 on")
	st.openPacket(600)
	st.draw()
	assert.Equal(t, int64(600), st.top().(*packetsPage).number())
}

// TestFilterGoesOn: a filter finds what comes after it was set, and lets go
// what is not kept any more.
func TestFilterGoesOn(t *testing.T) {
	src := &windowed{first: 1, last: 100}
	st := liveStage(t, 120, 40, &Live{}, src)
	st.opt.PacketFilter = everyTenth{}
	st.press("4", "f")
	st.types("tenth")
	st.press("enter")
	p := st.top().(*packetsPage)
	done := func() bool { return p.scan.done }
	st.settle(done)
	assert.Equal(t, []int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, p.list.list)
	src.first, src.last = 55, 131
	p.scan.ended = time.Time{}
	st.draw()
	st.settle(done)
	st.draw()
	assert.Equal(t, []int64{60, 70, 80, 90, 100, 110, 120, 130}, p.list.list)
}

type everyTenth struct{ toyFilter }

func (everyTenth) CompilePacket(string) (func(*wire.Packet) bool, error) {
	return func(p *wire.Packet) bool { return p.Number%10 == 0 }, nil
}

// TestFilterStaysWithin what a page is limited to.
func TestFilterStaysWithin(t *testing.T) {
	src := &windowed{first: 1, last: 100, ended: true}
	st := liveStage(t, 120, 40, &Live{}, src)
	st.opt.PacketFilter = everyTenth{}
	p := newPacketsPage(st.ui)
	p.name, p.only = "of a half", func(q *wire.Packet) bool { return q.Number > 50 }
	p.match = p.only
	p.limit(st.ui)
	st.open(p)
	done := func() bool { return p.scan.done }
	st.settle(done)
	assert.Len(t, p.list.list, 50)
	st.press("f")
	st.types("tenth")
	st.press("enter")
	st.settle(done)
	assert.Equal(t, []int64{60, 70, 80, 90, 100}, p.list.list)
	st.press("esc")
	st.settle(done)
	assert.Len(t, p.list.list, 50, "without the filter it is still limited")
	p.given, p.only = []int64{3, 10, 17, 20}, nil
	st.press("f")
	st.types("tenth")
	st.press("enter")
	st.settle(done)
	assert.Equal(t, []int64{10, 20}, p.list.list)
	st.press("esc")
	assert.Equal(t, p.given, p.list.list)
}

// TestRollingWindowGoesOn: when nothing comes, the last ten seconds are those
// before now, not those before the last packet.
func TestRollingWindowGoesOn(t *testing.T) {
	st := liveStage(t, 120, 40, &Live{}, &windowed{first: 1})
	st.press("r")
	st.contains("last 10 s")
	now := time.Now()
	st.newestAt = now
	end := st.snap.Capture.EndTime
	for _, idle := range []time.Duration{0, 2500 * time.Millisecond, time.Minute} {
		st.poll(now.Add(idle))
		from, to := st.window.span(st.snap)
		assert.Equal(t, int64(idle/time.Second), int64(to-end)/1e9)
		assert.Equal(t, min(int64(10e9), int64(to-st.snap.Capture.StartTime)), int64(to-from))
	}
	st.press("2")
	st.contains("no connection was active in this window")
	st.press("space")
	st.poll(now.Add(2 * time.Minute))
	_, to := st.window.span(st.snap)
	assert.Equal(t, int64(60), int64(to-end)/1e9, "frozen")
}

// TestLiveWindowFigures: the chosen window's figures stand above everything.
func TestLiveWindowFigures(t *testing.T) {
	st := liveStage(t, 120, 40, &Live{}, &windowed{first: 1})
	next := withFindings()
	for i, name := range []string{"10s", "1m", "10m", "all"} {
		n := int64(i + 1)
		next.Windows = append(next.Windows, analysis.Window{Name: name, DurationNS: 10e9, Packets: n * 10_000, WireBytes: n * 1_250_000,
			Retransmitted: analysis.Int(n * 11), Naks: analysis.Int(0), LostUpstream: analysis.Int(n), Dropped: analysis.Int(n * 7)})
	}
	st.engine.s = next
	require.True(t, st.poll(timeZero))
	st.contains("last 10 s  packets/s 1000  traffic 1 Mb/s  resent 11  lost 1  NAK 0  RNR –  CE 0  CNP –  drops 7")
	st.press("r", "r")
	st.contains("last 1 min  packets/s 2000  traffic 2 Mb/s  resent 22")
	st.press("r", "r")
	st.contains("last 10 s  packets/s 1000")
}
