package plot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lines(c *Canvas, l Level) string {
	var b strings.Builder
	for y := range c.H {
		for x := range c.W {
			r, _ := c.Cell(x, y, l)
			if r == 0 {
				r = ' '
			}
			b.WriteRune(r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEveryDotHasItsBit(t *testing.T) {
	for x := range 2 {
		for y := range 4 {
			c := New(1, 1)
			c.Dot(x, y, 1)
			r, class := c.Cell(0, 0, Braille)
			require.Equal(t, 0x2800+rune(brailleBit[y][x]), r)
			require.Equal(t, Class(1), class)
		}
	}
	c := New(1, 1)
	for x := range 2 {
		for y := range 4 {
			c.Dot(x, y, 0)
		}
	}
	r, _ := c.Cell(0, 0, Braille)
	assert.Equal(t, '⣿', r, "all eight dots")
}

func TestOutsideIsIgnored(t *testing.T) {
	c := New(2, 2)
	for _, p := range [][2]int{{-1, 0}, {0, -1}, {4, 0}, {0, 8}, {1 << 30, 1 << 30}} {
		c.Dot(p[0], p[1], 1)
		c.Mark(p[0], p[1], 'x', 1)
	}
	assert.Equal(t, "  \n  \n", lines(c, Braille))
	none := New(-3, 5)
	none.Dot(0, 0, 1)
	none.Shade(-5, 5, '▒', 1)
	assert.Equal(t, 0, none.W)
}

func TestLine(t *testing.T) {
	c := New(4, 2)
	c.Line(0, 7, 7, 0, 1)
	assert.Equal(t, "  ⡠⠊\n⡠⠊  \n", lines(c, Braille))
	c = New(4, 1)
	c.Line(0, 0, 7, 0, 1)
	assert.Equal(t, "▀▀▀▀\n", lines(c, Half))
	assert.Equal(t, "....\n", lines(c, ASCII))
}

func TestSeverityWinsTheCell(t *testing.T) {
	c := New(1, 1)
	c.Dot(0, 0, 3)
	c.Dot(1, 1, 1)
	_, class := c.Cell(0, 0, Braille)
	assert.Equal(t, Class(3), class)
	c.Mark(0, 0, '✖', 5)
	c.Mark(0, 0, '▪', 2)
	r, class := c.Cell(0, 0, Braille)
	assert.Equal(t, '✖', r)
	assert.Equal(t, Class(5), class)
}

func TestShadeLeavesData(t *testing.T) {
	c := New(3, 2)
	c.Dot(2, 0, 1)
	c.Shade(1, 9, '▒', 2)
	assert.Equal(t, " ⠁▒\n ▒▒\n", lines(c, Braille))
}

func TestBar(t *testing.T) {
	assert.Equal(t, "", Bar(0, 10, 8, Braille))
	assert.Equal(t, "▏", Bar(1, 1_000_000, 8, Braille), "never invisible")
	assert.Equal(t, "████", Bar(5, 10, 8, Braille))
	assert.Equal(t, "████████", Bar(99, 10, 8, Braille), "never beyond its width")
	assert.Equal(t, "####", Bar(5, 10, 8, ASCII))
	assert.Equal(t, "#", Bar(1, 1000, 8, ASCII))
	assert.Equal(t, "▌", Bar(1, 1000, 8, Half))
}

func TestSpark(t *testing.T) {
	assert.Equal(t, " ▁▄█·", string(Spark([]int64{0, 1, 50, 100, Unknown}, 100, Braille)))
	assert.Equal(t, " .:#·", string(Spark([]int64{0, 1, 50, 100, Unknown}, 100, ASCII)))
	assert.Equal(t, "   ", string(Spark([]int64{0, 5, 7}, 0, Braille)), "no scale, no bars")
}

func TestShades(t *testing.T) {
	got := ""
	for _, v := range []float64{-1, 0, 0.001, 0.3, 0.5, 0.79, 1, 7} {
		got += string(Shade(v, Braille))
	}
	assert.Equal(t, "··░▒▓███", got)
}

func TestRebinKeepsPeaks(t *testing.T) {
	v := make([]int64, 1000)
	v[517] = 9
	got := Rebin(v, 0, 1000, 10)
	assert.Equal(t, []int64{0, 0, 0, 0, 0, 9, 0, 0, 0, 0}, got)
	assert.Equal(t, []int64{Unknown, Unknown}, Rebin(nil, 0, 10, 2))
	assert.Equal(t, []int64{0, 0, 0, 0}, Rebin(v, 0, 1, 4), "zoomed in below a bin repeats it")
	assert.Nil(t, Rebin(v, 0, 1, 0))
}

func TestAxis(t *testing.T) {
	a := Axis{Min: 100, Max: 200, N: 11}
	assert.Equal(t, 0, a.At(100))
	assert.Equal(t, 10, a.At(200))
	assert.Equal(t, 5, a.At(150))
	assert.Less(t, a.At(0), 0)
	assert.Equal(t, int64(150), a.Value(5))
	assert.Equal(t, 3, Axis{Min: 5, Max: 5, N: 7}.At(5), "one value stands in the middle")
	assert.Equal(t, int64(5), Axis{Min: 5, Max: 5, N: 1}.Value(0))
}

func BenchmarkScatterMillion(b *testing.B) {
	for b.Loop() {
		c := New(110, 20)
		a := Axis{Min: 0, Max: 1e6, N: c.DotW()}
		for i := range int64(1_000_000) {
			c.Dot(a.At(i), int(i)%c.DotH(), Class(i&1))
		}
	}
}
