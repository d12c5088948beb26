package tui

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// samplePackets is a short exchange written byte by byte: writes, a NAK, and
// the writes again.
func samplePackets() memory {
	var out memory
	d := wire.NewDecoder(wire.Config{})
	for i, f := range sampleFrames() {
		p := &wire.Packet{Number: int64(i + 1), Time: int64(t0) + int64(i)*12_345, Data: f, Wire: uint32(len(f)), Link: 1}
		d.Decode(p)
		out = append(out, p)
	}
	return out
}

// sampleDetails is a plot with a go-back-N behind a pause.
type sampleDetails struct{}

func (sampleDetails) Connection(_ *analysis.Snapshot, c *analysis.Connection) (*ConnDetail, string) {
	id := c.ID
	if id != "c02" {
		return nil, "kept for the worst connections only"
	}
	d := &ConnDetail{PointsNote: "every 8th packet"}
	at, seq, n := t0, int64(8_118_000), int64(1000)
	add := func(kind PointKind, step analysis.Time) {
		at += step
		n++
		d.Points = append(d.Points, Point{Time: at, Seq: seq, Packet: n, Kind: kind})
	}
	for range 400 {
		seq += 10
		add(PointData, 7_000_000)
	}
	d.Pauses = []Span{{Start: at + 10_000_000, NS: 480_000_000}}
	at += 490_000_000
	seq -= 600
	add(PointNak, 1_000_000)
	for range 60 {
		seq += 10
		add(PointResent, 2_000_000)
	}
	for range 300 {
		seq += 10
		add(PointData, 8_000_000)
	}
	d.Histograms = []Histogram{{Name: "message", Buckets: []Bucket{
		{3000, 4000, 10}, {4100, 5000, 2000}, {8200, 9000, 51_870}, {16_500, 17_000, 6904}, {40_000, 41_000, 402}, {70_000, 71_000, 13}, {400_000_000, 500_000_000, 5}}}}
	d.Events = []Event{{Time: t0 + 3_390_000_000, Packet: 1402, Text: "NAK PSN sequence error, expected 8,121,400", Bad: true}}
	return d, ""
}

func (sampleDetails) Arrived() uint64 { return 0 }

func (sampleDetails) Timeline(*analysis.Snapshot) *Timeline {
	t := &Timeline{Start: t0, BinNS: 62_400_000, ReadTo: t0 + 6_240_000_000}
	var bits, resent, cnp, paused []int64
	for i := range int64(100) {
		b, r, c, p := 200_000_000_000+i%17*9_000_000_000, int64(0), max(0, 40-(i-20)*(i-20)), int64(0)
		if i >= 46 && i < 54 {
			b, p = 0, 1000
		}
		if i >= 54 && i < 56 {
			r = 2211
		}
		bits, resent, cnp, paused = append(bits, b), append(resent, r), append(cnp, c), append(paused, p)
	}
	bits[98], bits[99], resent[99], cnp[99], paused[99] = -1, -1, -1, -1, -1
	t.Series = []Series{{"traffic", UnitBits, bits}, {"resent", UnitCount, resent}, {"CNP", UnitCount, cnp}, {"paused", UnitPerMille, paused}}
	return t
}

func (sampleDetails) Pauses(*analysis.Snapshot) []PauseLane {
	l := PauseLane{Interface: "eth7", EthSrc: "b8:ce:f6:11:22:33", Priority: 3}
	l.Spans = append(l.Spans, PauseSpan{Start: t0 + 300_000_000, NS: 40_000_000, Frames: 12, Packet: 3})
	l.Spans = append(l.Spans, PauseSpan{Start: t0 + 2_909_117_000, NS: 480_787_000, Frames: 4814, Packet: 5})
	return []PauseLane{l}
}

// pageScripts lead to each page.
var pageScripts = []struct {
	name   string
	sample string
	keys   []key
}{
	{"overview", "findings", nil},
	{"overview_clean", "healthy", nil},
	{"overview_no_rdma", "no_rdma", nil},
	{"overview_empty", "empty", nil},
	{"overview_cut", "cut", nil},
	{"findings", "findings", []key{"1", "j"}},
	{"findings_none", "healthy", []key{"1"}},
	{"finding", "findings", []key{"1", "j", "enter"}},
	{"flows", "findings", []key{"2"}},
	{"flows_iwarp", "iwarp", []key{"2"}},
	{"flows_cm_only", "cm_only", []key{"2"}},
	{"connection", "findings", []key{"2", "enter"}},
	{"connection_plain", "healthy", []key{"2", "enter"}},
	{"connection_iwarp", "iwarp", []key{"2", "enter"}},
	{"pfc", "findings", []key{"3", "a", "n"}},
	{"pfc_storms_only", "pfc", []key{"3"}},
	{"pfc_none", "healthy", []key{"3"}},
	{"packets", "findings", []key{"4", "j", "j", "j", "j", "enter", "j"}},
	{"hosts", "findings", []key{"5"}},
	{"help", "findings", []key{"2", "?"}},
	{"copy", "findings", []key{"1", "y"}},
	{"columns", "findings", []key{"2", "c"}},
	{"command", "findings", []key{":", "t", "h", "tab"}},
	{"hostile", "hostile", nil},
	{"hostile_flows", "hostile", []key{"2"}},
	{"hostile_finding", "hostile", []key{"1", "enter"}},
	{"hostile_pfc", "hostile", []key{"3"}},
}

func sampleStage(t *testing.T, sample string, w, h int, theme string) *stage {
	s := samples()[sample]
	require.NotNil(t, s)
	opt := Options{Inputs: []string{"rack7.pcapng"}, Theme: theme}
	if sample == "findings" {
		opt.Details, opt.Packets = sampleDetails{}, samplePackets()
	} else {
		opt.WhyNoPacket = "it came through a pipe"
	}
	return newStage(t, s, w, h, opt)
}

func TestGoldenPages(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		for _, p := range pageScripts {
			name := fmt.Sprintf("%s.%dx%d.txt", p.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				st := sampleStage(t, p.sample, size[0], size[1], "256")
				st.draw()
				st.press(p.keys...)
				got := st.text()
				golden(t, name, got)
				checkClean(t, got, size[0])
			})
		}
	}
}

// checkClean looks for what must never be on a screen.
func checkClean(t *testing.T, text string, w int) {
	t.Helper()
	for _, r := range text {
		assert.False(t, r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e', "control character %q", r)
	}
	for _, l := range strings.Split(text, "\n") {
		assert.LessOrEqual(t, columns(l), w, l)
	}
}

// TestGoldenMono holds that without colours nothing is lost: every look that
// matters has an attribute, and no cell has a colour.
func TestGoldenMono(t *testing.T) {
	for _, p := range pageScripts {
		if strings.HasPrefix(p.name, "hostile") || strings.Contains(p.name, "_") {
			continue
		}
		name := p.name + ".mono.txt"
		t.Run(name, func(t *testing.T) {
			st := sampleStage(t, p.sample, 80, 24, "mono")
			st.draw()
			st.press(p.keys...)
			text := st.text()
			looks := st.looks()
			assert.NotContains(t, looks, "c", "a colour")
			golden(t, name, text+strings.Repeat("-", 80)+"\n"+looks)
		})
	}
}

// sampleFrames are two writes, a gap, the NAK, and the write again.
func sampleFrames() [][]byte {
	s := &synth.Scenario{}
	path := synth.Path{SrcMAC: synth.MAC{0xb8, 0xce, 0xf6, 1, 2, 3}, DstMAC: synth.MAC{4, 0x3f, 0x72, 0xaa, 0, 0x10},
		Src: netip.MustParseAddr("10.0.0.8"), Dst: netip.MustParseAddr("10.0.1.9"), TOS: 26 << 2, SrcPort: 49203}
	c := synth.NewConn(s, path, [2]uint32{0x91c5, 0x1a2f4}, [2]uint32{100, 7}, int64(t0))
	data := synth.Pattern(1, 2048)
	c.Write(synth.SideA, 0x7f0000001000, 0x1234, data)
	c.Write(synth.SideA, 0x7f0000002000, 0x1234, data)
	c.Emit(synth.SideB, synth.Packet{Opcode: 0x11, DestQP: 0x91c5, PSN: c.PSN[0], Syndrome: 0x60, MSN: 2}, 1000)
	c.Write(synth.SideA, 0x7f0000003000, 0x1234, data)
	c.Send(synth.SideA, data[:64])
	var out [][]byte
	for _, f := range s.Frames {
		out = append(out, f.Data)
	}
	return out
}
