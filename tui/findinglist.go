package tui

import (
	"fmt"
	"strings"

	"rdmascope/analysis"
)

// findingList is the findings of the window, in the snapshot's order of
// importance.
type findingList []*analysis.Finding

func (l findingList) Len() int                   { return len(l) }
func (l findingList) At(i int) *analysis.Finding { return l[i] }

// ID is not the finding's number, which moves as others are found: rule and
// subject stay.
func (l findingList) ID(i int) string { return findingKey(l[i]) }

func findingKey(f *analysis.Finding) string {
	s := &f.Subject
	return strings.Join([]string{f.Rule, s.ConnectionID, s.SrcIP, s.DstIP, s.IP, s.Interface, s.EthSrc, s.Path, numText(s.DestQP), prioText(s.Priority)}, "|")
}

func numText(v *int64) string { return orUnknown(v, count) }

func prioText(p *analysis.Priority) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func findingsIn(u *ui) findingList {
	var out findingList
	for i := range u.snap.Findings {
		f := &u.snap.Findings[i]
		if u.window.shows(u.snap, f.FirstTime, f.LastTime) {
			out = append(out, f)
		}
	}
	return out
}

// who names the subject of a finding.
func who(f *analysis.Finding) string {
	s := &f.Subject
	switch {
	case s.EthSrc != "" && s.Priority != nil:
		return s.EthSrc + " prio " + s.Priority.String()
	case s.SrcIP != "" && s.DstIP != "":
		out := s.SrcIP + "→" + s.DstIP
		if s.DestQP != nil {
			return out + " " + qpn(s.DestQP)
		}
		if s.DstPort != nil {
			return out + fmt.Sprintf(" :%d", *s.DstPort)
		}
		return out
	case s.IP != "":
		return s.IP
	case s.EthSrc != "":
		return s.EthSrc
	case s.Path != "":
		return s.Path
	case s.Interface != "":
		return s.Interface
	}
	return "the capture"
}

func whenText(f *analysis.Finding) string {
	if !f.FirstTime.Known() {
		return unknown
	}
	out := clock(f.FirstTime, 0) // the whole moment is with the finding itself
	if d := int64(f.LastTime - f.FirstTime); d > 0 {
		out += " +" + duration(d)
	}
	return out
}

func findingColumns() []column[*analysis.Finding] {
	type F = *analysis.Finding
	sev := func(f F) look { return severityLook(f.Severity) }
	return []column[F]{
		{title: "ID", help: "number, by importance", width: 3, rank: 1, text: func(f F) string { return f.ID }, up: true,
			num: func(f F) (int64, bool) { return rowNumber(strings.TrimPrefix(f.ID, "F")) }},
		{title: "SEV", help: "severity", width: 10, rank: 0, look: sev,
			text: func(f F) string { return severityGlyph(f.Severity) + " " + string(f.Severity) },
			num:  func(f F) (int64, bool) { return int64(f.Severity.Rank()), true }},
		{title: "WHEN", help: "first packet concerned, and for how long", width: 17, grow: 4, rank: 5, up: true, text: whenText,
			num: func(f F) (int64, bool) { return int64(f.FirstTime), f.FirstTime.Known() }},
		{title: "RULE", help: "see rdmascope explain", width: 20, grow: 6, rank: 3, up: true, text: func(f F) string { return f.Rule }},
		{title: "WHAT", help: "what is wrong", width: 30, grow: 60, rank: 0, up: true, prose: true, text: func(f F) string { return f.Title }},
		{title: "WHO", help: "what it is about", width: 28, grow: 17, rank: 4, up: true, text: who},
		{title: "CONF", help: "how sure", width: 6, rank: 6, up: true, text: func(f F) string { return f.Confidence }},
		{title: "CAUSE", help: "finding that explains it", width: 5, rank: 6, up: true, text: func(f F) string { return string(f.CausedBy) }},
		{title: "PACKET", help: "first packet concerned", width: 11, right: true, rank: 7, up: true,
			text: func(f F) string { return orUnknown(f.FirstPacket, count) },
			num:  func(f F) (int64, bool) { return value(f.FirstPacket), f.FirstPacket != nil }},
	}
}
