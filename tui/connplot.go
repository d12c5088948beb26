package tui

import (
	"math"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// Classes of the sequence plot, from what matters least.
const (
	classPause plot.Class = iota + 1
	classAck
	classData
	classResent
	classRNR
	classNak
)

var pointClass = [...]plot.Class{PointAck: classAck, PointData: classData, PointResent: classResent, PointRNR: classRNR, PointNak: classNak}

func plotLook(k plot.Class) look {
	switch k {
	case classPause:
		return pauseShade
	case classAck:
		return ackDots
	case classResent:
		return resentDots
	case classRNR:
		return rnrDots
	case classNak:
		return nakDots
	}
	return dataDots
}

// seqPlot is the view state of the sequence plot.
type seqPlot struct {
	flow     uint8
	byPacket bool // the axis is packet numbers instead of time
	x, y     int  // cursor, in cells
	w, h     int  // of the canvas, as drawn last

	xs, ys plot.Axis
	have   plotKey
	canvas *plot.Canvas
}

// plotKey is what a canvas was made from; the same key, the same picture.
type plotKey struct {
	d        *ConnDetail
	flow     uint8
	byPacket bool
	win      window
	w, h     int
}

// labelWidth is the columns left of the axis: room for the longest label.
func (p *seqPlot) labelWidth(d *ConnDetail) int {
	least, most := int64(0), int64(0)
	for i := range d.Points {
		if pt := &d.Points[i]; pt.Flow == p.flow {
			least, most = min(least, pt.Seq), max(most, pt.Seq)
		}
	}
	return max(len(psnText(least)), len(psnText(most))) + 1
}

// xOf is where a point stands on the horizontal axis.
func (p *seqPlot) xOf(pt *Point) int64 {
	if p.byPacket {
		return pt.Packet
	}
	return int64(pt.Time)
}

// visible tells whether a point belongs to the picture.
func (p *seqPlot) visible(u *ui, pt *Point) bool {
	return pt.Flow == p.flow && (u.window.all() || u.window.shows(u.snap, pt.Time, pt.Time))
}

// build makes the canvas anew when what it shows changed.
func (p *seqPlot) build(u *ui, d *ConnDetail, w, h int) {
	k := plotKey{d, p.flow, p.byPacket, u.window, w, h}
	if p.canvas != nil && p.have == k {
		return
	}
	p.have, p.w, p.h = k, w, h
	c := plot.New(w, h)
	p.canvas = c
	minX, maxX, minY, maxY := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MinInt64)
	for i := range d.Points {
		if pt := &d.Points[i]; p.visible(u, pt) {
			minX, maxX = min(minX, p.xOf(pt)), max(maxX, p.xOf(pt))
			minY, maxY = min(minY, pt.Seq), max(maxY, pt.Seq)
		}
	}
	if minX > maxX {
		p.xs, p.ys = plot.Axis{}, plot.Axis{}
		return
	}
	p.xs, p.ys = plot.Axis{Min: minX, Max: maxX, N: c.DotW()}, plot.Axis{Min: minY, Max: maxY, N: c.DotH()}
	for i := range d.Points {
		pt := &d.Points[i]
		if !p.visible(u, pt) {
			continue
		}
		x, y := p.xs.At(p.xOf(pt)), c.DotH()-1-p.ys.At(pt.Seq)
		switch pt.Kind {
		case PointResent:
			c.Mark(x/2, y/4, '▪', classResent)
		case PointRNR:
			c.Mark(x/2, y/4, '▲', classRNR)
		case PointNak:
			c.Mark(x/2, y/4, '✖', classNak)
		default:
			c.Dot(x, y, pointClass[pt.Kind])
		}
	}
	if !p.byPacket {
		for _, s := range d.Pauses {
			from, to := p.xs.At(int64(s.Start)), p.xs.At(int64(s.Start)+s.NS)
			if to >= 0 && from < c.DotW() {
				c.Shade(from/2, to/2, '▒', classPause)
			}
		}
	}
}

// draw draws the plot with its axes and cursor.
func (p *seqPlot) draw(u *ui, r region, d *ConnDetail, focus bool) {
	label := p.labelWidth(d)
	w, h := r.w-label-2, r.h-1
	if w < 10 || h < 2 {
		return
	}
	p.build(u, d, w, h)
	if p.ys.N == 0 {
		r.print(1, 0, faint, "no packet of this direction in this window")
		return
	}
	at := region{r.s, r.t, r.x + label + 1, r.y, w, h}
	at.canvas(p.canvas, plotLook)
	for y := range h {
		r.print(label, y, faint, "│")
	}
	r.print(0, 0, faint, pad(psnText(p.ys.Max), label-1, true))
	r.print(0, h-1, faint, pad(psnText(p.ys.Min), label-1, true))
	if h >= 9 {
		r.print(0, h/2, faint, pad(psnText(p.ys.Value(p.ys.N-1-h/2*4)), label-1, true))
	}
	p.drawXAxis(r.rows(h, 1), label, w)
	if focus {
		p.x, p.y = min(max(p.x, 0), w-1), min(max(p.y, 0), h-1)
		at.restyle(p.x, p.y, 1, cell)
		if pt := p.nearest(u, d); pt != nil {
			text := " " + pointText(pt) + " "
			r.rows(h, 1).print(label+1+(w-columns(text))/2, 0, heading, text)
		}
	}
}

func (p *seqPlot) drawXAxis(r region, label, w int) {
	r.print(label, 0, faint, "└")
	left, right := "packet "+count(p.xs.Min), count(p.xs.Max)
	if !p.byPacket {
		n := decimals(p.xs.Max - p.xs.Min)
		left, right = clock(analysis.Time(p.xs.Min), n), clock(analysis.Time(p.xs.Max), n)
	}
	r.print(label+1, 0, faint, left)
	r.print(label+1+w-columns(right), 0, faint, right)
}

func pointText(pt *Point) string {
	return pointName(pt.Kind) + " " + psnText(pt.Seq) + "  #" + count(pt.Packet) + "  " + clock(pt.Time, 6)
}

func pointName(k PointKind) string {
	switch k {
	case PointAck:
		return "ACK"
	case PointResent:
		return "resent"
	case PointRNR:
		return "RNR NAK"
	case PointNak:
		return "NAK"
	}
	return "data"
}

// nearest is the point next to the cursor: the most telling one of its cell,
// else the one least far away in cells.
func (p *seqPlot) nearest(u *ui, d *ConnDetail) *Point {
	var best *Point
	bestD := math.MaxInt
	for i := range d.Points {
		pt := &d.Points[i]
		if !p.visible(u, pt) {
			continue
		}
		dx := p.xs.At(p.xOf(pt))/2 - p.x
		dy := (p.ys.N-1-p.ys.At(pt.Seq))/4 - p.y
		dist := dx*dx*4 + dy*dy
		if dist < bestD || dist == bestD && pt.Kind > best.Kind {
			best, bestD = pt, dist
		}
	}
	return best
}

// next moves the cursor to the next point that tells of trouble.
func (p *seqPlot) next(u *ui, d *ConnDetail, dir int) bool {
	here := p.nearest(u, d)
	if here == nil {
		return false
	}
	at := 0
	for i := range d.Points {
		if &d.Points[i] == here {
			at = i
		}
	}
	for i := at + dir; i >= 0 && i < len(d.Points); i += dir {
		pt := &d.Points[i]
		if pt.Kind < PointResent || !p.visible(u, pt) {
			continue
		}
		if x, y := p.xs.At(p.xOf(pt))/2, (p.ys.N-1-p.ys.At(pt.Seq))/4; x != p.x || y != p.y {
			p.x, p.y = x, y
			return true
		}
	}
	return false
}

// turn goes to the next axes that have points: A→B and B→A, by time and by
// packet number.
func (p *seqPlot) turn(d *ConnDetail) {
	has := [2]bool{}
	for i := range d.Points {
		if f := d.Points[i].Flow; f < 2 {
			has[f] = true
		}
	}
	for range 4 {
		p.flow ^= 1
		if p.flow == 0 {
			p.byPacket = !p.byPacket
		}
		if has[p.flow] {
			return
		}
	}
}
