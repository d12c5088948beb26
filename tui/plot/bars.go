package plot

import (
	"math"
	"strings"
)

var (
	eighthsRight = []rune(" ▏▎▍▌▋▊▉█")
	eighthsUp    = []rune(" ▁▂▃▄▅▆▇█")
	halvesUp     = []rune("  ▄▄▄▄███")
	asciiUp      = []rune(" ..::==##")
	shades       = []rune("·░▒▓█")
	asciiShades  = []rune(".:*%#")
)

// Bar is a horizontal bar of at most width cells for v of top. What is not 0
// never looks like nothing.
func Bar(v, top int64, width int, l Level) string {
	if v <= 0 || top <= 0 || width <= 0 {
		return ""
	}
	eighths := int(math.Round(min(float64(v)/float64(top), 1) * float64(width) * 8))
	eighths = max(eighths, 1)
	full, rest := eighths/8, eighths%8
	switch {
	case l == ASCII:
		return strings.Repeat("#", max((eighths+4)/8, 1))
	case rest == 0:
		return strings.Repeat("█", full)
	case l == Half:
		if rest >= 4 || full == 0 {
			return strings.Repeat("█", full) + "▌"
		}
		return strings.Repeat("█", full)
	}
	return strings.Repeat("█", full) + string(eighthsRight[rest])
}

// Unknown is a value that was not measured.
const Unknown = -1

// Spark is one rune a value, scaled to top. Unknown shows as '·', 0 as a
// blank, anything above 0 as at least the lowest step.
func Spark(values []int64, top int64, l Level) []rune {
	steps := eighthsUp
	switch l {
	case Half:
		steps = halvesUp
	case ASCII:
		steps = asciiUp
	}
	out := make([]rune, len(values))
	for i, v := range values {
		switch {
		case v < 0:
			out[i] = '·'
		case v == 0 || top <= 0:
			out[i] = ' '
		default:
			n := int(math.Round(min(float64(v)/float64(top), 1) * 8))
			out[i] = steps[max(n, 1)]
		}
	}
	return out
}

// Shade is the rune of a share 0…1: '·' for nothing, '█' from 75 % on.
func Shade(share float64, l Level) rune {
	set := shades
	if l == ASCII {
		set = asciiShades
	}
	if share <= 0 || math.IsNaN(share) {
		return set[0]
	}
	return set[1+min(int(share*4), 3)]
}

// Rebin brings values into n bins by the greatest in each: a short peak must
// not vanish when zoomed out. from and to are fractional indexes of values.
func Rebin(values []int64, from, to float64, n int) []int64 {
	if n <= 0 {
		return nil
	}
	out := make([]int64, n)
	step := (to - from) / float64(n)
	for i := range out {
		a := int(math.Floor(from + float64(i)*step))
		b := int(math.Ceil(from + float64(i+1)*step))
		out[i] = Unknown
		for k := max(a, 0); k < min(max(b, a+1), len(values)); k++ {
			out[i] = max(out[i], values[k])
		}
	}
	return out
}

// Axis maps a range of values onto n steps.
type Axis struct {
	Min, Max int64
	N        int
}

// At gives the step of v, which may lie outside 0…N-1.
func (a Axis) At(v int64) int {
	span := float64(a.Max) - float64(a.Min)
	if span <= 0 {
		return a.N / 2
	}
	return int(math.Floor((float64(v) - float64(a.Min)) / span * float64(max(a.N-1, 0))))
}

// Value is the inverse of At.
func (a Axis) Value(i int) int64 {
	if a.N <= 1 {
		return a.Min
	}
	return a.Min + int64((float64(a.Max)-float64(a.Min))*float64(i)/float64(a.N-1))
}
