// Package figure writes figures for people: the report and the terminal show
// the same number in the same way.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rdmascope/analysis"
)

// Unknown is what stands for a figure that was not measured. It is never the
// same as 0.
const Unknown = "–"

// Count writes an integer with thousands separators.
func Count(v int64) string {
	s := strconv.FormatInt(v, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural writes a count with its noun.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// scale is one unit; size is how many of the smallest it holds.
type scale struct {
	size int64
	name string
}

var (
	timeScale = []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
	byteScale = []scale{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}}
	rateScale = []scale{{1, "b/s"}, {1e3, "kb/s"}, {1e6, "Mb/s"}, {1e9, "Gb/s"}, {1e12, "Tb/s"}}
)

// three writes v with three significant digits in the largest unit that
// leaves at least 1; integer arithmetic only, so no float noise.
func three(v int64, units []scale) string {
	if v < 0 {
		return "-" + three(-max(v, -math.MaxInt64), units)
	}
	i := 0
	for i+1 < len(units) && v >= units[i+1].size {
		i++
	}
	size := units[i].size
	places, step := 0, size
	for limit := 100 * size; size > 1 && places < 2 && v < limit; limit /= 10 {
		places++
		step /= 10
	}
	n := v / step // in steps, rounded; v+step/2 could overflow
	if v%step*2 >= step {
		n++
	}
	if i+1 < len(units) && n >= units[i+1].size/step {
		return three(n*step, units) // 999,960 ns is 1 ms, not 1000 µs
	}
	return decimal(n, places) + " " + units[i].name
}

// decimal writes n/10^places without zeros at the end of the fraction.
func decimal(n int64, places int) string {
	if places == 0 {
		return Count(n)
	}
	s := fmt.Sprintf("%0*d", places+1, n)
	return trimZeros(s[:len(s)-places] + "." + s[len(s)-places:])
}

// Duration writes ns for people: 9.1 µs, 481 ms, 6.24 s, 12 min 05 s.
func Duration(ns int64) string {
	const minute, hour = 60 * int64(time.Second), 3600 * int64(time.Second)
	switch {
	case ns < 0:
		return "-" + Duration(-max(ns, -math.MaxInt64))
	case ns >= hour:
		m := ns / minute
		return fmt.Sprintf("%s h %02d min", Count(m/60), m%60)
	case ns >= 2*minute:
		s := ns / int64(time.Second)
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return three(ns, timeScale)
}

// Bytes writes an amount of bytes in decimal units: 10.7 GB.
func Bytes(n int64) string { return three(n, byteScale) }

// BitRate writes bit/s: 100 Gb/s.
func BitRate(n int64) string { return three(n, rateScale) }

// Percent writes a ratio. What is not quite 0 or not quite all never looks so.
func Percent(r float64) string {
	p := r * 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return Unknown
	case p == 0:
		return "0 %"
	case p > 0 && p < 0.01:
		return "<0.01 %"
	case p < 100 && p >= 99.95:
		return ">99.9 %"
	case p < 1:
		return trimZeros(strconv.FormatFloat(p, 'f', 2, 64)) + " %"
	case p < 10 || p >= 99 && p < 100:
		return trimZeros(strconv.FormatFloat(p, 'f', 1, 64)) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// QPN writes a queue pair number as Wireshark does.
func QPN(v *int64) string {
	if v == nil {
		return Unknown
	}
	return fmt.Sprintf("0x%06x", *v)
}

// Named writes a metric by the unit at the end of its name.
func Named(name string, d analysis.Decimal) string {
	v := float64(d)
	switch {
	case strings.HasSuffix(name, "_ratio"):
		return Percent(v)
	case strings.HasSuffix(name, "_ns"):
		return Duration(int64(v))
	case strings.HasSuffix(name, "_ms"):
		return Duration(int64(v * 1e6))
	case strings.HasSuffix(name, "_bytes"):
		return Bytes(int64(v))
	case strings.HasSuffix(name, "_bps"):
		return BitRate(int64(v))
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return Count(int64(v))
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 3, 64))
}

// OrUnknown writes a figure, or that it is not known.
func OrUnknown(v *int64, write func(int64) string) string {
	if v == nil {
		return Unknown
	}
	return write(*v)
}
