package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rdmascope/analysis"
)

// count writes an integer with thousands separators.
func count(v int64) string {
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

// plural writes a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// short writes a count in at most five columns: 9,999 → "9999", 540,112 →
// "540k", 1,234,567 → "1.23M". It cuts, never rounds up to the next unit.
func short(v int64) string {
	if v < 0 {
		return "-" + short(-max(v, -math.MaxInt64))
	}
	if v < 10_000 {
		return strconv.FormatInt(v, 10)
	}
	for _, u := range []struct {
		size int64
		name string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size {
			return threeDigits(v, u.size) + u.name
		}
	}
	return ""
}

// threeDigits writes v/size with three significant digits, cut off.
func threeDigits(v, size int64) string {
	whole := v / size
	frac := v % size
	switch {
	case whole >= 100 || size == 1:
		return strconv.FormatInt(whole, 10)
	case whole >= 10:
		return strconv.FormatInt(whole, 10) + "." + strconv.FormatInt(frac/(size/10), 10)
	}
	return fmt.Sprintf("%d.%02d", whole, frac/max(size/100, 1))
}

type unit struct {
	size int64
	name string
}

var (
	timeUnits = []unit{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}
	byteUnits = []unit{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}
	rateUnits = []unit{{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}, {1, "b/s"}}
)

func scaled(v int64, units []unit) string {
	if v < 0 {
		return "-" + scaled(-max(v, -math.MaxInt64), units)
	}
	for _, u := range units {
		if v >= u.size || u.size == 1 {
			s := threeDigits(v, u.size)
			if strings.Contains(s, ".") {
				s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
			}
			return s + " " + u.name
		}
	}
	return ""
}

// duration writes ns for people: 9.1 µs, 481 ms, 6.24 s, 12 min 05 s.
func duration(ns int64) string {
	const minute = 60 * int64(time.Second)
	switch {
	case ns >= 60*minute:
		m := ns / minute
		return fmt.Sprintf("%s h %02d min", count(m/60), m%60)
	case ns >= 2*minute:
		s := ns / int64(time.Second)
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return scaled(ns, timeUnits)
}

func byteSize(n int64) string { return scaled(n, byteUnits) }

func bitRate(n int64) string { return scaled(n, rateUnits) }

// percent writes a ratio. What is not quite 0 or not quite all never looks so.
func percent(r float64) string {
	p := r * 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return unknown
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

// psnText writes a PSN as Wireshark does: it is a name to search for, not an
// amount.
func psnText(v int64) string { return strconv.FormatInt(v, 10) }

// qpn writes a queue pair number as Wireshark does.
func qpn(v *int64) string {
	if v == nil {
		return unknown
	}
	return fmt.Sprintf("0x%06x", *v)
}

func orUnknown(v *int64, write func(int64) string) string {
	if v == nil {
		return unknown
	}
	return write(*v)
}

func ratioOr(d *analysis.Decimal) string {
	if d == nil {
		return unknown
	}
	return percent(float64(*d))
}

// figure writes a metric by the unit at the end of its name.
func figure(name string, d analysis.Decimal) string {
	v := float64(d)
	switch {
	case strings.HasSuffix(name, "_ratio"):
		return percent(v)
	case strings.HasSuffix(name, "_ns"):
		return duration(int64(v))
	case strings.HasSuffix(name, "_ms"):
		return duration(int64(v * 1e6))
	case strings.HasSuffix(name, "_bytes"):
		return byteSize(int64(v))
	case strings.HasSuffix(name, "_bps"):
		return bitRate(int64(v))
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return count(int64(v))
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 3, 64))
}

// words turns a metric's name into words, without its unit.
func words(name string) string {
	for _, u := range []string{"_ns", "_ms", "_bytes", "_bps", "_ratio"} {
		name = strings.TrimSuffix(name, u)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// clock writes a time of day with n decimals of the second.
func clock(t analysis.Time, n int) string {
	if !t.Known() {
		return unknown
	}
	layout := "15:04:05"
	if n > 0 {
		layout += "." + strings.Repeat("0", n)
	}
	return t.UTC().Format(layout)
}

// since writes the time from start on, as Wireshark's Time column does.
func since(t, start analysis.Time) string {
	if !t.Known() {
		return unknown
	}
	d := int64(t - start)
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%09d", sign, d/1e9, d%1e9)
}
