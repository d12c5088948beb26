package report

import (
	"slices"
	"strings"
)

// column describes one column of a table.
type column struct {
	title string
	right bool   // numbers
	min   int    // may be elided down to this many columns; 0 is never elided
	early bool   // when too wide, this column goes before all else
	own   bool   // then this one takes a line of its own above the figures
	drop  int    // then columns with the highest drop go first; 0 stays
	hide  bool   // not shown at all
	note  string // why the column is missing when every cell is unknown; "" keeps it
}

// cell is the text of a table's cell.
type cell = span

// table lays out rows of cells. All of the layout of the text report's tables
// is here: number alignment, fitting into the width, leaving out.
type table struct {
	columns []column
	rows    [][]cell
	Indent  int
}

const gutter = 2

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// text makes a plain cell.
func text(s string) cell { return cell{text: s} }

// laid is a table fitted into a width.
type laid struct {
	show    []int // columns shown, in order, without own
	widths  []int
	own     int // column on a line of its own, or -1
	missing []missing
}

// missing names columns that are left out for one and the same reason.
type missing struct {
	titles []string
	why    string
}

func (l *laid) leaveOut(c column) {
	for i := range l.missing {
		if m := &l.missing[i]; m.why == c.note {
			m.titles = append(m.titles, c.title)
			return
		}
	}
	l.missing = append(l.missing, missing{[]string{c.title}, c.note})
}

// write prints the table, then why columns are missing.
func (t *table) write(p *printer) {
	if len(t.rows) == 0 {
		return
	}
	for _, r := range t.rows {
		for i := range r {
			r[i].text = clean(r[i].text)
		}
	}
	l := t.fit(p.width - t.Indent)
	p.line(t.format(l, nil)...)
	for i, r := range t.rows {
		// Rows that follow each other under one name share its line.
		if l.own >= 0 && (i == 0 || r[l.own].text != t.rows[i-1][l.own].text) {
			p.line(span{text: spaces(t.Indent)}, r[l.own])
		}
		p.line(t.format(l, r)...)
	}
	for _, n := range l.missing {
		p.paragraph(t.Indent, faint, unknown+" "+strings.Join(n.titles, ", ")+": "+n.why)
	}
}

func (t *table) fit(width int) laid {
	l := laid{own: -1, widths: make([]int, len(t.columns))}
	for i, c := range t.columns {
		if c.hide {
			continue
		}
		if c.note != "" && t.allUnknown(i) {
			l.leaveOut(c)
			continue
		}
		l.show = append(l.show, i)
		l.widths[i] = columns(c.title)
		for _, r := range t.rows {
			l.widths[i] = max(l.widths[i], columns(r[i].text))
		}
	}
	for k := len(l.show) - 1; k >= 0 && l.total() > width; k-- {
		if t.columns[l.show[k]].early {
			l.show = slices.Delete(l.show, k, k+1)
		}
	}
	if l.total() > width {
		t.takeOwn(&l)
	}
	for l.total() > width && t.shrink(&l, l.total()-width) {
	}
	for l.total() > width && t.dropOne(&l) {
	}
	return l
}

func (l *laid) total() int {
	n := gutter * (len(l.show) - 1)
	if l.own >= 0 {
		n += gutter // the figures are indented below the name
	}
	for _, i := range l.show {
		n += l.widths[i]
	}
	return n
}

func (t *table) allUnknown(i int) bool {
	return !slices.ContainsFunc(t.rows, func(r []cell) bool { return r[i].text != unknown })
}

func (t *table) takeOwn(l *laid) {
	for k, i := range l.show {
		if t.columns[i].own {
			l.own = i
			l.show = slices.Delete(l.show, k, k+1)
			return
		}
	}
}

// shrink elides the widest column that may be, by at most need.
func (t *table) shrink(l *laid, need int) bool {
	best := -1
	for _, i := range l.show {
		c := t.columns[i]
		if c.min > 0 && l.widths[i] > c.min && (best < 0 || l.widths[i] > l.widths[best]) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	l.widths[best] = max(t.columns[best].min, l.widths[best]-need)
	return true
}

func (t *table) dropOne(l *laid) bool {
	best := -1
	for k, i := range l.show {
		if d := t.columns[i].drop; d > 0 && (best < 0 || d > t.columns[l.show[best]].drop) {
			best = k
		}
	}
	if best < 0 {
		return false
	}
	l.show = slices.Delete(l.show, best, best+1)
	return true
}

// format gives one line; a nil row is the title line.
func (t *table) format(l laid, row []cell) []span {
	indent := t.Indent
	if l.own >= 0 && row != nil {
		indent += gutter
	}
	line := []span{{text: spaces(indent)}}
	for k, i := range l.show {
		c := cell{faint, t.columns[i].title}
		if row != nil {
			c = row[i]
		}
		w := l.widths[i]
		if k == 0 && l.own >= 0 && row == nil {
			w += gutter // the figures below are indented
		}
		c.text = pad(elide(c.text, w), w, t.columns[i].right)
		if k > 0 {
			line = append(line, span{text: spaces(gutter)})
		}
		line = append(line, c)
	}
	return line
}
