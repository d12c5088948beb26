package tui

import (
	"strconv"

	"rdmascope/analysis"
)

// export is what the pane with the focus shows, as numbers: the points of the
// plot, the latencies, the figures, else the events.
func (p *connPage) export(u *ui) *sheet {
	switch {
	case p.c == nil:
		return nil
	case p.focus == panePlot && p.detail != nil:
		return p.pointSheet(u)
	case p.focus == paneLatency:
		return p.latencySheet()
	case p.focus == paneNumbers:
		return p.numberSheet()
	}
	return p.events.sheet("events")
}

// pointSheet has the points of the plot's direction that lie in the window.
func (p *connPage) pointSheet(u *ui) *sheet {
	var list []*Point
	for i := range p.detail.Points {
		if pt := &p.detail.Points[i]; p.plot.visible(u, pt) {
			list = append(list, pt)
		}
	}
	name := p.detail.SequenceName
	if name == "" {
		name = "PSN"
	}
	return &sheet{name: "plot", columns: []string{"time", "packet", name, "kind"}, rows: len(list), row: func(i int) []string {
		pt := list[i]
		return []string{pt.Time.String(), strconv.FormatInt(pt.Packet, 10), psnText(pt.Seq), pointName(pt.Kind)}
	}}
}

// latencySheet has the buckets of the histogram shown, or the table of
// quantiles where samples were not kept.
func (p *connPage) latencySheet() *sheet {
	if h := p.histogram(); h != nil {
		return &sheet{name: "latency", columns: []string{"from_ns", "to_ns", "count"}, rows: len(h.Buckets), row: func(i int) []string {
			b := h.Buckets[i]
			return []string{strconv.FormatInt(b.FromNS, 10), strconv.FormatInt(b.ToNS, 10), strconv.FormatInt(b.Count, 10)}
		}}
	}
	var list [][]string
	for i := range p.c.Flows {
		f := &p.c.Flows[i]
		for _, k := range latencyKinds(f) {
			row := []string{f.SrcIP, f.DstIP, k.name}
			for _, v := range []int64{k.block.Count, k.block.MinNS, k.block.P50NS, k.block.P99NS, k.block.P999NS, k.block.MaxNS, k.block.Recovered} {
				row = append(row, strconv.FormatInt(v, 10))
			}
			list = append(list, row)
		}
	}
	return &sheet{name: "latency", columns: []string{"from", "to", "what", "samples", "min_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns", "recovered"},
		rows: len(list), row: func(i int) []string { return list[i] }}
}

// numberSheet has the figures as they are written, a line each.
func (p *connPage) numberSheet() *sheet {
	lines := connNumbers(p.c)
	return &sheet{name: "numbers", columns: []string{"numbers"}, rows: len(lines), row: func(i int) []string {
		text := ""
		for _, s := range lines[i] {
			text += s.text
		}
		return []string{text}
	}}
}

// timelineSheet has the series of the timeline in the window, a row a bin.
func timelineSheet(u *ui) *sheet {
	t := timelineOf(u)
	if t == nil || len(t.Series) == 0 {
		return nil
	}
	from, to := u.window.span(u.snap)
	bin := max(t.BinNS, 1)
	s := &sheet{name: "timeline", columns: []string{"time"}}
	n := 0
	for i := range t.Series {
		s.columns = append(s.columns, t.Series[i].Name+seriesUnit(t.Series[i].Unit))
		n = max(n, len(t.Series[i].Values))
	}
	first := int(max(int64(from-t.Start)/bin, 0))
	last := min(int(int64(to-t.Start)/bin)+1, n)
	s.rows = max(last-first, 0)
	s.row = func(i int) []string {
		at := first + i
		out := []string{(t.Start + analysis.Time(int64(at)*bin)).String()}
		for k := range t.Series {
			text := unknown
			if v := t.Series[k].Values; at < len(v) && v[at] >= 0 {
				text = strconv.FormatInt(v[at], 10)
			}
			out = append(out, text)
		}
		return out
	}
	return s
}

func seriesUnit(u Unit) string {
	switch u {
	case UnitBits:
		return "_bps"
	case UnitPerMille:
		return "_per_mille"
	}
	return "_per_second"
}
