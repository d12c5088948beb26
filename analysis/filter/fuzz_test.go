package filter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

// FuzzCompile feeds the compiler anything: it answers with a filter that runs
// or with a fault that points into what was written.
func FuzzCompile(f *testing.F) {
	for _, expr := range slices.Concat(tsharkFilters, tsharkMath, benchFilters) {
		f.Add(expr)
	}
	for _, expr := range []string{"(ip", "ip.src == 1.2.3.4/0", "frame matches \"\\x41+\"", "frame.time > \"2020-01-01\"", "a\x00b", "ip.src in {1.2.3.4..1.2.3.9}",
		"flow.latency_p99_ns > 5 && all flow.vlan_ids in {1..2}", "eth.src == 5254.0077.0001", "frame.time_relative == -0.000000001", "&", "x &", "any", "all all"} {
		f.Add(expr)
	}
	p := nak(f)
	c := &analysis.Connection{A: analysis.Endpoint{QPN: analysis.Int(1)}}
	flow := &analysis.Flow{SrcIP: "10.0.0.1", VLANIDs: analysis.List[int64]{1}, Naks: &analysis.Naks{}}
	f.Fuzz(func(t *testing.T, expr string) {
		pf, err := filter.CompilePacket(expr)
		checkFault(t, expr, err)
		if err == nil {
			first := pf.Match(p)
			require.Equal(t, first, pf.Match(p))
			require.Equal(t, first, pf.Clone().Match(p))
			pf.Match(&wire.Packet{})
			negated, err := filter.CompilePacket("not (" + expr + ")")
			if strings.TrimSpace(expr) != "" && err == nil {
				require.NotEqual(t, first, negated.Match(p))
			}
		}
		ff, err := filter.CompileFlow(expr)
		checkFault(t, expr, err)
		if err == nil {
			require.Equal(t, ff.Match(c, flow), ff.Match(c, flow))
			ff.Match(&analysis.Connection{}, &analysis.Flow{})
		}
	})
}

func checkFault(t *testing.T, expr string, err error) {
	if err == nil {
		return
	}
	var fault *filter.Error
	require.True(t, errors.As(err, &fault))
	require.True(t, fault.Pos >= 0 && fault.Pos <= len(fault.Expr) && fault.Len >= 0, "%+v", fault)
	text := err.Error()
	require.Equal(t, 2, strings.Count(text, "\n"), "%q", text)
	require.NotContains(t, text, "\x1b")
	if utf8.ValidString(expr) {
		require.True(t, utf8.ValidString(text), "%q", text)
	}
}
