package report

import (
	"math"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// glyphs are what charts are drawn with.
type glyphs struct {
	heights []string // of a bar, from nothing to full
	shades  []string // of a share, from nothing to all
}

var (
	blocks = glyphs{[]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, []string{"·", "░", "▒", "▓", "█"}}
	ascii  = glyphs{[]string{" ", "_", ".", "-", "=", "+", "*", "%", "#"}, []string{".", "-", "+", "*", "#"}}
)

// UseASCII tells whether charts must do without block characters: on a terminal
// that says so, or in a locale that isn't UTF-8. Without any locale (a service,
// a container) UTF-8 is assumed, as in the rest of the report.
func UseASCII(getenv func(string) string) bool {
	if getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// resample spreads values, each the sum over a window of width from start on,
// over n equal parts of [from, to): each gets of a window what overlaps it.
func resample(values []int64, start, width, from, to int64, n int) []float64 {
	out := make([]float64, n)
	if to <= from || width <= 0 {
		return out
	}
	part := float64(to-from) / float64(n)
	for i, v := range values {
		if v == 0 {
			continue
		}
		lo := float64(start-from) + float64(i)*float64(width)
		hi := lo + float64(width)
		for k := max(0, int(lo/part)); k < n && float64(k)*part < hi; k++ {
			overlap := min(hi, float64(k+1)*part) - max(lo, float64(k)*part)
			if overlap > 0 {
				out[k] += float64(v) * overlap / float64(width)
			}
		}
	}
	return out
}

// bars draws values against the largest of them. What isn't 0 shows at least
// the lowest bar.
func (g glyphs) bars(values []float64) string {
	top := slices.Max(values)
	return drawSteps(values, g.heights, top)
}

// shares draws shares 0…1.
func (g glyphs) shares(values []float64) string { return drawSteps(values, g.shades, 1) }

func drawSteps(values []float64, steps []string, top float64) string {
	var b strings.Builder
	last := len(steps) - 1
	for _, v := range values {
		i := 0
		if v > 0 && top > 0 {
			i = min(max(int(math.Round(v/top*float64(last))), 1), last)
			if i == last && v < top*0.995 { // full means all of it
				i--
			}
		}
		b.WriteString(steps[i])
	}
	return b.String()
}

const (
	maxChart   = 64 // columns
	chartLabel = 9
	maxPaused  = 8 // rows of pauses
)

// writeOverTime draws how much passed, and which priorities were paused, over
// the time of the capture.
func writeOverTime(p *printer, s *analysis.Snapshot, o Options) {
	from, to := int64(s.Capture.StartTime), int64(s.Capture.EndTime)
	if to <= from || from == 0 {
		return
	}
	n := min(p.width-chartLabel-26, maxChart)
	g := blocks
	if o.ASCII {
		g = ascii
	}
	paused := pausedSources(s)
	rates := s.Rates()
	if rates == nil || len(rates.WireBytes) < 2 {
		return
	}
	p.section("OVER TIME", duration((to-from)/int64(n))+" per character, "+duration(to-from)+" in all")
	bytes := resample(rates.WireBytes, int64(rates.Start), rates.BinNS, from, to, n)
	part := float64(to-from) / float64(n)
	peak := int64(slices.Max(bytes) * 8e9 / part)
	p.line(span{faint, " " + pad("traffic", chartLabel, false)}, span{text: g.bars(bytes)}, span{faint, "  peak " + bitRate(peak)})
	for _, row := range []struct {
		name   string
		values []int64
	}{{"CNPs", rates.CNPs}, {"NAKs", rates.NAKs}} {
		if slices.Max(row.values) > 0 {
			v := resample(row.values, int64(rates.Start), rates.BinNS, from, to, n)
			p.line(span{faint, " " + pad(row.name, chartLabel, false)}, span{text: g.bars(v)}, span{faint, "  " + plural(total(row.values), row.name[:3])})
		}
	}
	for _, src := range paused[:min(len(paused), maxPaused)] {
		line := src.Timeline()
		v := resample(line, from, (to-from)/int64(len(line)), from, to, n)
		for i := range v {
			v[i] /= part
		}
		name := "prio " + src.Priority.String()
		p.line(span{faint, " " + pad(name, chartLabel, false)}, span{warning, g.shares(v)},
			span{faint, "  " + elide(clean(src.EthSrc+" "+src.Interface), 24)})
	}
	if n := len(paused) - maxPaused; n > 0 {
		p.paragraph(1, faint, plural(int64(n), "further row")+" of pauses not drawn: see PAUSES")
	}
}

func total(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// pausedSources are those that paused anything, the most paused first.
func pausedSources(s *analysis.Snapshot) []*analysis.PFCSource {
	var list []*analysis.PFCSource
	for i := range s.PFC.Sources {
		if src := &s.PFC.Sources[i]; value(src.PausedNS) > 0 && len(src.Timeline()) > 0 {
			list = append(list, src)
		}
	}
	slices.SortStableFunc(list, func(a, b *analysis.PFCSource) int {
		return int(min(max(*b.PausedNS-*a.PausedNS, -1), 1))
	})
	return list
}
