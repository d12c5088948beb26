package tui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

func TestOctaves(t *testing.T) {
	got := octaves([]Bucket{{FromNS: 0, Count: 1}, {FromNS: 130, Count: 2}, {FromNS: 999, Count: 1}, {FromNS: 1000, Count: 5}, {FromNS: 1999, Count: 5}, {FromNS: 2000, Count: 7}, {FromNS: 5000}, {FromNS: 9000, Count: 3}})
	assert.Equal(t, []histogramRow{{125, 3}, {500, 1}, {1000, 10}, {2000, 7}, {8000, 3}}, got)
	sum := int64(0)
	for _, r := range squeeze(got, 2) {
		sum += r.count
	}
	assert.Equal(t, int64(24), sum, "no sample is lost")
	assert.Len(t, squeeze(got, 2), 2)
	assert.Equal(t, int64(0), withGaps(got)[1].count)
}

func TestFoldNumbersKeepsEveryFigure(t *testing.T) {
	lines := connNumbers(&withFindings().Connections[1])
	for _, w := range []int{30, 58, 78, 118} {
		text := ""
		for _, l := range foldNumbers(lines, w) {
			assert.LessOrEqual(t, spanColumns(l), max(w, 60))
			for _, s := range l {
				text += s.text
			}
		}
		for _, l := range lines {
			for _, s := range l {
				assert.Contains(t, text, strings.TrimSpace(s.text))
			}
		}
	}
}

// TestPauseShares: a pause of half a cell is half a cell, one over a border
// is shared out, and storms that stand in for pauses leave the rest unknown.
func TestPauseShares(t *testing.T) {
	src := &analysis.PFCSource{}
	l := lane{source: src, spans: []PauseSpan{{Start: 105, NS: 5, Frames: 1}, {Start: 118, NS: 4, Frames: 2, Packet: 9}}}
	assert.InDeltaSlice(t, []float64{0.5, 0.2, 0.2, 0}, l.shares(100, 140, 4), 1e-9)
	l.rough = true
	assert.InDeltaSlice(t, []float64{0.5, 0.2, 0.2, notKnown}, l.shares(100, 140, 4), 1e-9)
	ns, frames, packet := l.within(110, 120)
	assert.Equal(t, []int64{2, 2, 9}, []int64{ns, frames, packet})
	assert.Equal(t, []float64{0, 0}, (&lane{}).shares(5, 5, 2), "no time, no share")
}

// TestPlotCursor finds the packets that it stands on.
func TestPlotCursor(t *testing.T) {
	st := fullStage(t)
	st.press("2", "enter", "shift-tab", "shift-tab", "shift-tab")
	p := st.top().(*connPage)
	require.Equal(t, panePlot, p.focus)
	st.press("g", "n")
	pt := p.plot.nearest(st.ui, p.detail)
	require.NotNil(t, pt)
	assert.Equal(t, PointNak, pt.Kind, "the first trouble is the NAK")
	st.contains("NAK " + psnText(pt.Seq))
	st.press("n")
	assert.Equal(t, PointResent, p.plot.nearest(st.ui, p.detail).Kind)
	st.press("N")
	assert.Equal(t, PointNak, p.plot.nearest(st.ui, p.detail).Kind)
	st.press("x")
	st.contains("PSN over packets A→B")
	st.press("x")
	st.contains("PSN over time A→B")
	before := p.plot.nearest(st.ui, p.detail).Time
	st.press("]")
	from, to := st.window.span(st.snap)
	assert.True(t, from <= before && before <= to, "zoom keeps the cursor's point")
	st.press("[")
	st.press("enter")
	_, ok := st.top().(*packetsPage)
	assert.True(t, ok)
}

func TestLatencyHistogramOnScreen(t *testing.T) {
	st := fullStage(t)
	st.press("2", "enter")
	st.contains("Latency: message — log scale, n = 61,204")
	st.contains("51,870")
}

// TestTimelineSlices: bars of several rows fill from below, and what is not 0
// shows at least in the lowest.
func TestTimelineSlices(t *testing.T) {
	v := []int64{100, 50, 1, 0, plot.Unknown}
	assert.Equal(t, []int64{1000, 1000, 20, 0, plot.Unknown}, slice(v, 100, 2, 0))
	assert.Equal(t, []int64{1000, 0, 0, 0, plot.Unknown}, slice(v, 100, 2, 1))
	assert.Equal(t, v, slice(v, 0, 2, 0), "no scale")
	assert.Equal(t, int64(1), slice([]int64{1}, 1_000_000, 2, 0)[0])
}

func TestWindow(t *testing.T) {
	s := withFindings()
	var w window
	assert.Equal(t, "", w.text(s))
	w.zoom(s, 0.5)
	w.zoom(s, 0.5)
	from, to := w.span(s)
	assert.Equal(t, int64(1_560_000_000), int64(to-from))
	w.shift(s, 100)
	_, to = w.span(s)
	assert.Equal(t, s.Capture.EndTime, to, "it stays in the capture")
	for range 40 {
		w.zoom(s, 0.5)
	}
	from, to = w.span(s)
	assert.GreaterOrEqual(t, int64(to-from), int64(minWindow-1))
	for range 60 {
		w.zoom(s, 2)
	}
	assert.True(t, w.all())
	assert.True(t, w.shows(s, 0, 0))
	w = window{rolling: 1e9}
	assert.False(t, w.shows(s, t0, t0+1), "before the last second")
	assert.True(t, w.shows(s, t0, t0+7_000_000_000))
	empty := &analysis.Snapshot{}
	w = window{}
	w.zoom(empty, 0.5)
	assert.True(t, w.all(), "nothing to zoom into")
}

// TestSVGIsWellFormed and holds the text of the screen.
func TestSVG(t *testing.T) {
	st := sampleStage(t, "hostile", 80, 24, "256")
	st.draw()
	svg := string(screenSVG(st.capture()))
	assert.NotContains(t, svg, "\x1b")
	st = fullStage(t)
	st.press("2", "enter")
	svg = string(screenSVG(st.capture()))
	assert.Contains(t, svg, "<circle", "braille as dots")
	assert.Contains(t, svg, "10.0.0.8→10.0.1.9")
	assert.Equal(t, strings.Count(svg, "<g "), strings.Count(svg, "</g>"))
	assert.NotContains(t, svg, "&&")
}

func TestCSVIsHarmless(t *testing.T) {
	s := &sheet{columns: []string{"a"}, rows: 1, row: func(int) []string { return []string{`=cmd|' /C calc'!A0`} }}
	b, err := s.csv()
	require.NoError(t, err)
	assert.Equal(t, "a\n'=cmd|' /C calc'!A0\n", string(b))
	s.row = func(int) []string { return []string{unknown} }
	b, err = s.json()
	require.NoError(t, err)
	assert.Equal(t, "[\n {\"a\": null}\n]\n", string(b))
}
