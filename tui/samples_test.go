package tui

import "rdmascope/analysis/snapshottest"

// Every golden text of hand-made snapshots is of these.
const t0 = snapshottest.Start

var (
	samples      = snapshottest.All
	base         = snapshottest.Base
	pair         = snapshottest.Pair
	withFindings = snapshottest.WithFindings
)
