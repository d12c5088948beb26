package report

import (
	"time"

	"rdmascope/analysis"
	"rdmascope/analysis/figure"
)

const unknown = figure.Unknown

// Figures are written as on every other face.
var (
	count    = figure.Count
	plural   = figure.Plural
	duration = figure.Duration
	byteSize = figure.Bytes
	bitRate  = figure.BitRate
	percent  = figure.Percent
	qpn      = figure.QPN
	named    = figure.Named

	ip          = figure.Address
	endName     = figure.EndName
	serviceName = figure.Service
	operations  = figure.Operations
	clean       = figure.Clean
	columns     = figure.Columns
	elide       = figure.Elide
	pad         = figure.Pad
)

func countOr(v *int64) string { return figure.OrUnknown(v, count) }

func durationOr(ns *int64) string { return figure.OrUnknown(ns, duration) }

func percentOr(d *analysis.Decimal) string {
	if d == nil {
		return unknown
	}
	return percent(float64(*d))
}

// share is part of whole in percent; part must be known, whole must not be 0.
func share(part, whole int64) string { return percent(float64(part) / float64(whole)) }

const clockLayout = "15:04:05.000000"

// clock writes a time of day, with the date where it is not the day of ref.
func clock(t, ref analysis.Time) string {
	if !t.Known() {
		return unknown
	}
	u := t.UTC()
	if ref.Known() && ref.UTC().Format(time.DateOnly) == u.Format(time.DateOnly) {
		return u.Format(clockLayout)
	}
	return u.Format(time.DateOnly + " " + clockLayout)
}
