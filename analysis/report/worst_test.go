package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
	"rdmascope/analysis/snapshottest"
)

// Each connection is worse than the next for one reason only.
func TestWorstFirst(t *testing.T) {
	s := base(1)
	add := func(id string, harm func(c *analysis.Connection)) {
		c := pair(id, "10.0.0.1", "10.0.0.2", 1, 2)
		harm(&c)
		s.Connections = append(s.Connections, c)
	}
	add("busy", func(c *analysis.Connection) { c.Flows[1].Packets++ })
	add("slow", func(c *analysis.Connection) { c.Flows[0].Latency.Atomic = snapshottest.Latency(1, 1_000_000) })
	add("corrupt", func(c *analysis.Connection) { c.Flows[0].ICRCBad = 1 })
	add("rnr", func(c *analysis.Connection) { c.Flows[0].RNRNaks = analysis.Int(1) })
	add("nak", func(c *analysis.Connection) { c.Flows[0].Naks = &analysis.Naks{PSNSequenceError: 1} })
	add("skipped", func(c *analysis.Connection) { c.Flows[0].PSNGapPackets = analysis.Int(1) })
	add("resent", func(c *analysis.Connection) { c.Flows[0].Retransmitted = analysis.Int(2) })
	add("access", func(c *analysis.Connection) { c.Flows[0].Naks = &analysis.Naks{RemoteAccessError: 1} })
	add("named", func(c *analysis.Connection) {})
	add("b", func(c *analysis.Connection) {})
	add("a", func(c *analysis.Connection) {})
	s.Findings = analysis.List[analysis.Finding]{
		{Severity: analysis.SeverityNotice, Subject: analysis.Subject{ConnectionID: "named"}},
		{Severity: analysis.SeverityCritical},
	}
	var got []string
	for _, i := range worstFirst(s) {
		got = append(got, s.Connections[i].ID)
	}
	assert.Equal(t, []string{"named", "access", "resent", "skipped", "nak", "rnr", "corrupt", "slow", "busy", "a", "b"}, got)
}

// A figure that only some connections have is never passed off as the whole.
func TestChecksSayWhatWasJudged(t *testing.T) {
	s := base(10)
	s.Connections = analysis.List[analysis.Connection]{pair("c1", "10.0.0.1", "10.0.0.2", 1, 2), pair("c2", "10.0.0.1", "10.0.0.2", 3, 4)}
	for i := range s.Connections[1].Flows {
		f := &s.Connections[1].Flows[i]
		f.Naks, f.Reasons = nil, analysis.Map[string]{"naks": "no reverse traffic captured"}
	}
	assert.Equal(t, check{good, "NAKs", "none (judged in 1 of 2 connections; elsewhere: no reverse traffic captured)"}, checks(s)[0])

	s.Connections[0].Flows[0].Naks.InvalidRequest = 1
	got := checks(s)[0]
	assert.Equal(t, warning, got.style)
	assert.Contains(t, got.text, "1: see NAKs BY CODE (judged in 1 of 2")

	for i := range s.Connections {
		for j := range s.Connections[i].Flows {
			s.Connections[i].Flows[j].Naks = nil
		}
	}
	assert.Equal(t, check{faint, "NAKs", "no reverse traffic captured"}, checks(s)[0])
}
