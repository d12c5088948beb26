package tui

import (
	"strings"

	"rdmascope/analysis"
)

// histogramRow is a bar of a latency histogram.
type histogramRow struct {
	from, count int64
}

// octaveOf is the lower end of a latency's octave: 1 µs times a power of two,
// so that the labels are what people count in.
func octaveOf(ns int64) int64 {
	low := int64(1000)
	for low > 125 && low > ns {
		low /= 2
	}
	for low <= ns/2 {
		low *= 2
	}
	return low
}

// octaves brings buckets together by powers of two, which is what a log
// scale shows.
func octaves(list []Bucket) []histogramRow {
	var out []histogramRow
	for _, b := range list {
		if b.Count == 0 {
			continue
		}
		low := octaveOf(b.FromNS)
		if len(out) == 0 || out[len(out)-1].from < low {
			out = append(out, histogramRow{low, 0})
		}
		out[len(out)-1].count += b.Count
	}
	return out
}

// withGaps puts an empty row where octaves without samples are left out.
func withGaps(rows []histogramRow) []histogramRow {
	var out []histogramRow
	for i, r := range rows {
		if i > 0 && rows[i-1].from*2 < r.from {
			out = append(out, histogramRow{rows[i-1].from * 2, 0})
		}
		out = append(out, r)
	}
	return out
}

// drawHistogram draws a histogram with a bar an octave; what doesn't fit is
// summed up in the last row.
func drawHistogram(r region, h *Histogram, block *analysis.Latency) {
	rows := octaves(h.Buckets)
	if g := withGaps(rows); len(g) <= r.h {
		rows = g
	} else {
		rows = squeeze(rows, r.h)
	}
	top := int64(0)
	for _, row := range rows {
		top = max(top, row.count)
	}
	width := max(r.w-40, 10)
	for y, row := range rows {
		label := duration(row.from)
		if row.count == 0 {
			label = "…"
		}
		r.print(0, y, faint, pad(label, 10, true)+" │")
		x := 12
		x = r.print(x, y, barLook, r.barFor(row.count, top, width))
		if row.count > 0 {
			x = r.print(x+1, y, plain, count(row.count))
		}
		if block != nil {
			r.print(x+2, y, notice, quantileNote(block, row.from, rowEnd(rows, y)))
		}
	}
}

func rowEnd(rows []histogramRow, i int) int64 {
	if i+1 < len(rows) {
		return rows[i+1].from
	}
	return 1 << 62
}

// squeeze joins neighbours until the rows fit.
func squeeze(rows []histogramRow, n int) []histogramRow {
	for len(rows) > n && n > 0 {
		var half []histogramRow
		for i := 0; i < len(rows); i += 2 {
			row := rows[i]
			if i+1 < len(rows) {
				row.count += rows[i+1].count
			}
			half = append(half, row)
		}
		rows = half
	}
	return rows
}

// quantileNote names the quantiles that lie in a bar.
func quantileNote(b *analysis.Latency, from, to int64) string {
	var out []string
	for _, q := range []struct {
		name string
		v    int64
	}{{"min", b.MinNS}, {"p50", b.P50NS}, {"p99", b.P99NS}, {"p99.9", b.P999NS}, {"max", b.MaxNS}} {
		if q.v >= from && q.v < to {
			out = append(out, q.name+" "+duration(q.v))
		}
	}
	return strings.Join(out, "  ")
}

// latencyTable is the quantiles of every kind that has samples.
func latencyTable(c *analysis.Connection) []string {
	var out []string
	for i := range c.Flows {
		f := &c.Flows[i]
		for _, k := range latencyKinds(f) {
			if len(out) == 0 {
				out = append(out, pad("FROM → TO", 34, false)+pad("WHAT", 12, false)+pad("SAMPLES", 9, true)+
					pad("p50", 9, true)+pad("p99", 9, true)+pad("MAX", 9, true)+pad("RECOVERED", 11, true))
			}
			b := k.block
			out = append(out, pad(elide(clean(f.SrcIP+" → "+f.DstIP), 33), 34, false)+pad(k.name, 12, false)+pad(short(b.Count), 9, true)+
				pad(duration(b.P50NS), 9, true)+pad(duration(b.P99NS), 9, true)+pad(duration(b.MaxNS), 9, true)+pad(short(b.Recovered), 11, true))
		}
	}
	return out
}

// narrowLatency is latencyTable in short lines, for narrow screens.
func narrowLatency(c *analysis.Connection) []string {
	var out []string
	for i := range c.Flows {
		arrow := "→ "
		if c.Flows[i].SrcIP != string(c.A.IP) {
			arrow = "← "
		}
		for _, k := range latencyKinds(&c.Flows[i]) {
			b := k.block
			out = append(out, arrow+pad(k.name, 12, false)+pad(short(b.Count), 6, true)+"  p50 "+pad(duration(b.P50NS), 8, false)+
				" p99 "+pad(duration(b.P99NS), 8, false)+" max "+pad(duration(b.MaxNS), 8, false)+" recovered "+short(b.Recovered))
		}
	}
	return out
}
