// Package plot draws charts with characters. It knows neither a screen nor
// colours: a cell has a rune and the class of what is in it, and who shows it
// decides how a class looks.
package plot

// Level is how much the terminal's font can show.
type Level uint8

// Levels, best first.
const (
	Braille Level = iota // 2×4 dots a cell
	Half                 // half blocks, 1×2 a cell
	ASCII
)

// Class names what a dot stands for. Where several meet in a cell the highest
// decides its look: severity wins.
type Class uint8

// Canvas is a raster of W×H cells with 2×4 dots each.
type Canvas struct {
	W, H  int
	dots  []uint8
	class []Class
	mark  []rune
}

// New makes an empty canvas; negative sizes count as 0.
func New(w, h int) *Canvas {
	w, h = max(w, 0), max(h, 0)
	return &Canvas{W: w, H: h, dots: make([]uint8, w*h), class: make([]Class, w*h), mark: make([]rune, w*h)}
}

// DotW and DotH are the sizes in dots.
func (c *Canvas) DotW() int { return 2 * c.W }

// DotH is the height in dots.
func (c *Canvas) DotH() int { return 4 * c.H }

// brailleBit has the bit of the dot in column x, row y of a cell (Unicode
// numbers the dots 1-2-3-7 down the left side and 4-5-6-8 down the right).
var brailleBit = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// Dot sets one dot; y grows downwards. Outside the canvas it does nothing.
func (c *Canvas) Dot(x, y int, class Class) {
	if x < 0 || y < 0 || x >= 2*c.W || y >= 4*c.H {
		return
	}
	i := y/4*c.W + x/2
	c.dots[i] |= brailleBit[y%4][x%2]
	c.class[i] = max(c.class[i], class)
}

// Mark puts a whole character over the dots of a cell, unless one of a higher
// class is there.
func (c *Canvas) Mark(cellX, cellY int, r rune, class Class) {
	if cellX < 0 || cellY < 0 || cellX >= c.W || cellY >= c.H {
		return
	}
	i := cellY*c.W + cellX
	if c.mark[i] != 0 && c.class[i] > class {
		return
	}
	c.mark[i] = r
	c.class[i] = max(c.class[i], class)
}

// Shade fills the cells without dots or marks of a column range.
func (c *Canvas) Shade(fromX, toX int, r rune, class Class) {
	for x := max(fromX, 0); x <= min(toX, c.W-1); x++ {
		for y := range c.H {
			if i := y*c.W + x; c.dots[i] == 0 && c.mark[i] == 0 {
				c.mark[i], c.class[i] = r, class
			}
		}
	}
}

// Line connects two dots (Bresenham).
func (c *Canvas) Line(x0, y0, x1, y1 int, class Class) {
	dx, sx := abs(x1-x0), sign(x1-x0)
	dy, sy := -abs(y1-y0), sign(y1-y0)
	for e := dx + dy; ; {
		c.Dot(x0, y0, class)
		if x0 == x1 && y0 == y1 {
			return
		}
		e2 := 2 * e
		if e2 >= dy {
			e += dy
			x0 += sx
		}
		if e2 <= dx {
			e += dx
			y0 += sy
		}
	}
}

// Cell gives what to show at a cell; rune 0 is nothing.
func (c *Canvas) Cell(x, y int, l Level) (rune, Class) {
	i := y*c.W + x
	if c.mark[i] != 0 {
		return c.mark[i], c.class[i]
	}
	d := c.dots[i]
	if d == 0 {
		return 0, 0
	}
	switch l {
	case Braille:
		return 0x2800 + rune(d), c.class[i]
	case Half:
		const upper, lower = 0x01 | 0x08 | 0x02 | 0x10, 0x04 | 0x20 | 0x40 | 0x80
		switch {
		case d&upper == 0:
			return '▄', c.class[i]
		case d&lower == 0:
			return '▀', c.class[i]
		}
		return '█', c.class[i]
	}
	switch n := count(d); {
	case n <= 2:
		return '.', c.class[i]
	case n <= 5:
		return ':', c.class[i]
	}
	return '#', c.class[i]
}

func count(d uint8) (n int) {
	for ; d != 0; d &= d - 1 {
		n++
	}
	return n
}

func abs(v int) int { return max(v, -v) }

func sign(v int) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}
