package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rdmascope/analysis"
	"rdmascope/analysis/figure"
)

// Figures are written as on every other face.
var (
	count     = figure.Count
	plural    = figure.Plural
	duration  = figure.Duration
	byteSize  = figure.Bytes
	bitRate   = figure.BitRate
	percent   = figure.Percent
	qpn       = figure.QPN
	named     = figure.Named
	orUnknown = figure.OrUnknown

	ipText      = figure.Address
	endName     = figure.EndName
	serviceName = figure.Service
	operations  = figure.Operations
	clean       = figure.Clean
	columns     = figure.Columns
	elide       = figure.Elide
	pad         = figure.Pad
)

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

// psnText writes a PSN as Wireshark does: it is a name to search for, not an
// amount.
func psnText(v int64) string { return strconv.FormatInt(v, 10) }

func ratioOr(d *analysis.Decimal) string {
	if d == nil {
		return unknown
	}
	return percent(float64(*d))
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
