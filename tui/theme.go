package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"rdmascope/tui/plot"
)

// look is a meaning. Pages use looks; only the theme knows colours.
type look uint8

const (
	plain look = iota
	faint
	heading
	tableHead
	sortHead // title of the column that sorts
	good
	notice
	warning
	critical
	link     // what enter opens, and keys in hints
	selected // row under the cursor
	resting  // row under the cursor of a pane that has no focus
	cell     // cell under the cursor
	match    // text found
	dataDots
	ackDots
	resentDots
	rnrDots
	nakDots
	pauseShade
	barLook
	lookCount
)

// theme turns looks into styles.
type theme struct {
	name   string
	styles [lookCount]tcell.Style
	heat   []tcell.Style // low to high; empty: glyphs alone
	level  plot.Level
}

// Themes are the names that Options.Theme and :theme take.
func Themes() []string { return []string{"auto", "truecolor", "256", "16", "mono"} }

// checkTheme refuses a name that is not one.
func checkTheme(name string) error {
	if name == "" || slices.Contains(Themes(), name) {
		return nil
	}
	return fmt.Errorf("no theme %q: %s", name, strings.Join(Themes(), ", "))
}

// newTheme makes the named theme for a screen. auto goes by the number of
// colours, of which NO_COLOR leaves 0.
func newTheme(name string, s tcell.Screen) *theme {
	if name == "" || name == "auto" {
		switch n := s.Colors(); {
		case n >= 1<<24:
			name = "truecolor"
		case n >= 256:
			name = "256"
		case n >= 8:
			name = "16"
		default:
			name = "mono"
		}
	}
	t := &theme{name: name}
	switch name {
	case "truecolor", "256":
		t.okabeIto()
	case "16":
		t.sixteen()
	default:
		t.name = "mono"
		t.mono()
	}
	t.level = glyphLevel(s)
	return t
}

// glyphLevel asks whether the terminal's character set has the characters.
// The answer is called unreliable because of fonts, which nothing tells; the
// character set is what fails on real machines (LANG=C).
func glyphLevel(s tcell.Screen) plot.Level {
	//lint:ignore SA1019 nothing else tells
	if s.CanDisplay('⣿', false) {
		return plot.Braille
	}
	//lint:ignore SA1019 nothing else tells
	if s.CanDisplay('▀', false) {
		return plot.Half
	}
	return plot.ASCII
}

// okabeIto is the palette that people with the common colour blindnesses can
// tell apart; tcell maps it to the nearest of 256 where that is all there is.
func (t *theme) okabeIto() {
	d := tcell.StyleDefault
	rgb := func(hex int32) tcell.Color { return tcell.NewHexColor(hex) }
	const vermillion, yellow, sky, green, blue, orange, purple = 0xD55E00, 0xF0E442, 0x56B4E9, 0x009E73, 0x0072B2, 0xE69F00, 0xCC79A7
	t.styles = [lookCount]tcell.Style{
		plain: d, faint: d.Foreground(rgb(0x8A8A8A)), heading: d.Bold(true),
		tableHead: d.Foreground(rgb(0x8A8A8A)), sortHead: d.Bold(true).Underline(true),
		good: d.Foreground(rgb(green)), notice: d.Foreground(rgb(sky)),
		warning: d.Foreground(rgb(yellow)), critical: d.Foreground(rgb(vermillion)).Bold(true),
		link:     d.Foreground(rgb(sky)),
		selected: d.Background(rgb(0x005F87)).Foreground(rgb(0xFFFFFF)),
		resting:  d.Background(rgb(0x3A3A3A)).Foreground(rgb(0xE4E4E4)),
		cell:     d.Background(rgb(blue)).Foreground(rgb(0xFFFFFF)).Bold(true).Underline(true),
		match:    d.Background(rgb(yellow)).Foreground(rgb(0x000000)),
		dataDots: d.Foreground(rgb(sky)), ackDots: d.Foreground(rgb(0x8A8A8A)),
		resentDots: d.Foreground(rgb(orange)).Bold(true), rnrDots: d.Foreground(rgb(purple)).Bold(true), nakDots: d.Foreground(rgb(vermillion)).Bold(true),
		pauseShade: d.Foreground(rgb(yellow)), barLook: d.Foreground(rgb(sky)),
	}
	// cividis, from its dark to its bright end; the darkest steps are left out
	// for they vanish on a black background.
	for _, hex := range []int32{0x414D6B, 0x5D5F6F, 0x7C7B78, 0x9B9476, 0xBCAE6C, 0xDDC95B, 0xFEE838} {
		t.heat = append(t.heat, d.Foreground(rgb(hex)))
	}
}

// sixteen uses the colours that every terminal lets its owner tune.
func (t *theme) sixteen() {
	d := tcell.StyleDefault
	t.styles = [lookCount]tcell.Style{
		plain: d, faint: d.Dim(true), heading: d.Bold(true),
		tableHead: d.Dim(true), sortHead: d.Bold(true).Underline(true),
		good: d.Foreground(tcell.ColorGreen), notice: d.Foreground(tcell.ColorTeal),
		warning: d.Foreground(tcell.ColorOlive).Bold(true), critical: d.Foreground(tcell.ColorMaroon).Bold(true),
		link: d.Foreground(tcell.ColorTeal), selected: d.Reverse(true).Bold(true), resting: d.Reverse(true), cell: d.Reverse(true).Underline(true),
		match: d.Reverse(true), dataDots: d.Foreground(tcell.ColorTeal), ackDots: d.Dim(true),
		resentDots: d.Foreground(tcell.ColorOlive).Bold(true), rnrDots: d.Foreground(tcell.ColorPurple).Bold(true),
		nakDots:    d.Foreground(tcell.ColorMaroon).Bold(true),
		pauseShade: d.Foreground(tcell.ColorOlive), barLook: d.Foreground(tcell.ColorTeal),
	}
}

// mono has no colours at all, as NO_COLOR asks.
func (t *theme) mono() {
	d := tcell.StyleDefault
	t.styles = [lookCount]tcell.Style{
		plain: d, faint: d, heading: d.Bold(true), tableHead: d, sortHead: d.Bold(true).Underline(true),
		good: d, notice: d, warning: d.Bold(true), critical: d.Bold(true),
		link: d.Underline(true), selected: d.Reverse(true), resting: d.Underline(true), cell: d.Reverse(true).Bold(true).Underline(true),
		match: d.Reverse(true), dataDots: d, ackDots: d, resentDots: d.Bold(true), rnrDots: d.Bold(true), nakDots: d.Bold(true),
		pauseShade: d, barLook: d,
	}
}

func (t *theme) style(l look) tcell.Style { return t.styles[l] }

// hot is the style of a share 0…1 in a heat map.
func (t *theme) hot(share float64) tcell.Style {
	if len(t.heat) == 0 || share <= 0 {
		return t.styles[plain]
	}
	return t.heat[min(int(share*float64(len(t.heat))), len(t.heat)-1)]
}

// plain7 has what stands for our few characters beyond ASCII on a terminal
// that has none of them. Each is one column, as the original is.
var plain7 = map[rune]rune{
	'│': '|', '─': '-', '└': '+', '┌': '+', '┐': '+', '┘': '+', '▸': '>', '▾': 'v', '✖': 'X', '▲': '!', '●': '*', '✔': '+', '→': '>', '↔': '=',
	'›': '>', '·': '.', '–': '-', '—': '-', '…': '~', 'µ': 'u', '▓': '#', '░': '.', '▒': ':', '█': '#', '▪': 'o', '↻': 'r', '≥': '>', '▏': '|', '“': '"', '”': '"',
	'▼': 'v', '◂': '<', '×': 'x', '↑': '^', '↓': 'v', '←': '<',
}

// glyph replaces a rune that the terminal cannot show.
func (t *theme) glyph(r rune) rune {
	if r < 0x80 || t.level != plot.ASCII {
		return r
	}
	if p, ok := plain7[r]; ok {
		return p
	}
	return '?'
}

// glyphs is glyph for a text.
func (t *theme) glyphs(s string) string {
	if t.level != plot.ASCII {
		return s
	}
	return strings.Map(t.glyph, s)
}
