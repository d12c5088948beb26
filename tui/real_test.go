package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// capture analyses a real capture of the corpus and keeps its packets.
func capture(t testing.TB, name string) (*analysis.Snapshot, memory) {
	path := filepath.Join("..", "pcaps", "testdata", name)
	f, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	s, err := analysis.Analyze(t.Context(), f, analysis.Options{Version: "test", Workers: 1})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	f, err = pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var m memory
	require.NoError(t, analysis.Packets(f, wire.Config{}, func(p *wire.Packet) bool {
		q := *p
		q.Data = slices.Clone(p.Data)
		m = append(m, &q)
		return true
	}))
	return s, m
}

// realCaptures with what must be on their screens whatever the layout.
var realCaptures = []struct {
	file  string
	facts map[string][]string // page: texts
}{
	{"rxe_exact_write_every50.pcap.gz", map[string][]string{
		"flows":      {"10.77.0.1→10.77.0.2", "0x000011↔0x000018", "1893", "611"},
		"connection": {"sequence NAK"},
	}},
	{"rxe_rnr_nak.pcap.gz", map[string][]string{"flows": {"RNR"}}},
	{"pfc_storm.pcap.gz", map[string][]string{"pfc": {"52:00:00:00:0b:02", "prio 3"}, "flows": {"192.0.2.1→192.0.2.2"}}},
	{"rxe_cm_reject_noport.pcap", map[string][]string{"flows": {"▲"}}},
	{"siw_mixed_loss1_after_cap.pcap.gz", nil},
}

var realPages = map[string][]key{
	"overview": nil, "findings": {"1"}, "flows": {"2"}, "connection": {"2", "enter"}, "pfc": {"3"}, "packets": {"4"}, "hosts": {"5"},
}

func realStage(t *testing.T, file string, w, h int) *stage {
	s, m := capture(t, file)
	return newStage(t, s, w, h, Options{Title: file, Inputs: []string{file}, Packets: m})
}

// TestGoldenReal freezes screens of real captures. When the analysis finds
// more, they change: look at them, then -update.
func TestGoldenReal(t *testing.T) {
	for _, c := range realCaptures {
		base, _, _ := strings.Cut(c.file, ".")
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			st := realStage(t, c.file, size[0], size[1])
			for page, keys := range realPages {
				t.Run(fmt.Sprintf("%s.%s.%d", base, page, size[0]), func(t *testing.T) {
					st.prompt, st.menu, st.stack = nil, nil, nil
					st.press("0")
					st.press(keys...)
					got := st.text()
					checkClean(t, got, size[0])
					for _, fact := range c.facts[page] {
						assert.Contains(t, got, fact)
					}
					golden(t, fmt.Sprintf("real/%s.%s.%dx%d.txt", base, page, size[0], size[1]), got)
				})
			}
		}
	}
}

// TestToTheNakInTenKeys is the way of issue and habit: start, the worst
// connection, its packets, the NAK, its decode.
func TestToTheNakInTenKeys(t *testing.T) {
	st := realStage(t, "rxe_exact_write_every50.pcap.gz", 120, 40)
	st.draw()
	keys := []key{"2", "enter", "p", ".", "enter"}
	for _, k := range keys {
		st.press(k)
		st.settle(func() bool {
			p, ok := st.top().(*packetsPage)
			return !ok || (p.scan == nil || p.scan.done) && (p.seek == nil || p.seek.done)
		})
	}
	require.Less(t, len(keys), 10)
	st.contains("✖ NAK PSN sequence error")
	st.contains("infiniband.aeth.syndrome")
	assert.Equal(t, int64(92), st.top().(*packetsPage).number(), "the capture's first NAK answers packet 90's gap")
	st.press("esc", "esc", "esc")
	assert.Equal(t, 0, len(st.stack))
	assert.Equal(t, viewFlows, st.view)
}

// TestPacketsOfAConnection: the list holds the packets of the connection
// and no others, as its counters say.
func TestPacketsOfAConnection(t *testing.T) {
	st := realStage(t, "rxe_exact_write_every50.pcap.gz", 120, 40)
	st.draw()
	st.press("2", "p")
	p := st.top().(*packetsPage)
	st.settle(func() bool { return p.scan.done })
	c := &st.snap.Connections[0]
	want := plainTotal(c, packetsOf)
	cm := 0
	for _, n := range p.list.list {
		if q, _ := st.opt.Packets.Packet(n); q.RoCE.BTH.DestQP == 1 {
			cm++
		}
	}
	assert.Equal(t, want, int64(len(p.list.list)-cm))
	assert.True(t, slices.IsSorted(p.list.list))
}

func TestPacketFilterAndJumps(t *testing.T) {
	s, m := capture(t, "rxe_exact_write_every50.pcap.gz")
	st := newStage(t, s, 120, 40, Options{Packets: m, PacketFilter: toyFilter{}})
	st.draw()
	st.press("4", "f")
	st.types("nak")
	st.press("enter")
	p := st.top().(*packetsPage)
	st.settle(func() bool { return p.scan.done })
	assert.Len(t, p.list.list, 32, "the truth of this capture: 32 NAKs")
	st.contains("display: nak")
	st.contains("32 of 1,902 packets")
	st.press("G")
	last := p.number()
	st.press("esc")
	assert.True(t, p.list.all)
	st.draw()
	assert.Equal(t, last, p.number(), "the cursor stays on its packet")
	st.press(",")
	st.settle(func() bool { return p.seek.done })
	assert.Less(t, p.number(), last)
	st.press("G", ".")
	st.settle(func() bool { return p.seek.done })
	st.contains("no more NAK that way")
	st.press("g", "n")
	assert.Contains(t, s.Findings[0].Packets, p.number(), "the next packet that proves something")
	st.press("g", "t")
	st.contains("↻")
}

// slow is a source that takes its time for each packet.
type slow struct {
	memory
	gate chan struct{}
}

func (s slow) Packet(n int64) (*wire.Packet, error) {
	<-s.gate
	return s.memory.Packet(n)
}

// TestSlowPacketsDoNotBlock: what isn't there within the budget of a redraw
// shows as … and comes later.
func TestSlowPacketsDoNotBlock(t *testing.T) {
	m := samplePackets()
	src := slow{m, make(chan struct{})}
	st := newStage(t, withFindings(), 120, 40, Options{Packets: src})
	p := st.roots[viewPackets].(*packetsPage)
	p.cache.spent = fetchBudget
	st.view = viewPackets
	p.have = st.snap
	drawOnce := func() []string {
		st.screen.Clear()
		p.list.total = int64(len(m))
		r := region{st.screen, st.theme, 0, 2, 120, 36}
		p.draw(st.ui, r)
		st.screen.Show()
		return st.lines()
	}
	assert.Contains(t, strings.Join(drawOnce(), "\n"), "…")
	close(src.gate)
	st.settle(func() bool { return !p.cache.fetching })
	p.cache.begin()
	assert.Contains(t, strings.Join(drawOnce(), "\n"), "RC RDMA Write First")
}

func TestPacketAt(t *testing.T) {
	m := samplePackets()
	assert.Equal(t, int64(1), packetAt(t.Context(), m, t0-1))
	assert.Equal(t, int64(3), packetAt(t.Context(), m, t0+2*12_345))
	assert.Equal(t, int64(4), packetAt(t.Context(), m, t0+2*12_345+1))
	assert.Equal(t, int64(len(m)), packetAt(t.Context(), m, t0+1e12))
	assert.Equal(t, int64(1), packetAt(t.Context(), memory{}, t0))
}
