package tui

import (
	"cmp"
	"fmt"
	"slices"

	"rdmascope/analysis"
)

// connEvents are what happened to a connection, in order: how it was opened
// and closed, recoveries, gaps, terminations, its findings, and what the
// details add.
func connEvents(u *ui, c *analysis.Connection, d *ConnDetail) []Event {
	var out []Event
	if c.Opened.Known() {
		out = append(out, Event{Time: c.Opened, Text: "opened"})
	}
	for i := range c.Flows {
		f := &c.Flows[i]
		out = append(out, recoveryEvents(f)...)
		out = append(out, streamEvents(f)...)
	}
	for i := range u.snap.Findings {
		f := &u.snap.Findings[i]
		if f.Subject.ConnectionID == c.ID {
			out = append(out, Event{Time: f.FirstTime, Packet: value(f.FirstPacket), Bad: f.Severity.Rank() > analysis.SeverityNotice.Rank(),
				Text: severityGlyph(f.Severity) + " " + f.ID + " begins: " + f.Title})
		}
	}
	if c.Closed != nil {
		out = append(out, Event{Time: c.Closed.When, Text: "closed: " + c.Closed.How})
	}
	if d != nil {
		out = append(out, d.Events...)
	}
	slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	return out
}

func recoveryEvents(f *analysis.Flow) []Event {
	var out []Event
	for i := range f.Recoveries {
		r := &f.Recoveries[i]
		text := fmt.Sprintf("back to PSN %s: %s, %s resent", psnText(r.PSN), recoveryKind(r.Kind), count(r.ResentPackets))
		if r.RecoveryNS != nil {
			text += ", recovered in " + duration(*r.RecoveryNS)
		}
		if w := lostWhere(r.Lost); w != "" {
			text += ", " + w
		}
		out = append(out, Event{Time: r.FirstTime, Packet: value(r.FirstPacket), Text: text, Bad: true})
	}
	return out
}

func recoveryKind(k string) string {
	switch k {
	case "nak":
		return "sequence NAK"
	case "rnr":
		return "RNR NAK"
	case "implied_nak":
		return "implied NAK"
	case "timeout":
		return "ACK timeout"
	case "adaptive":
		return "short silence"
	case "spurious":
		return "no cause, all was acknowledged"
	}
	return k
}

func lostWhere(where string) string {
	switch where {
	case "upstream":
		return "lost before the tap"
	case "downstream":
		return "lost after the tap"
	case "ack":
		return "the ACK was lost"
	case "corrupt":
		return "it arrived with a bad iCRC"
	case "reorder":
		return "it only came late"
	case "none":
		return "nothing was lost"
	}
	return ""
}

func streamEvents(f *analysis.Flow) []Event {
	var out []Event
	for i := range f.Terminates {
		t := &f.Terminates[i]
		out = append(out, Event{Packet: value(t.Packet), Text: "Terminate from " + f.SrcIP + ": " + t.Text, Bad: true})
	}
	for i := range f.Holes {
		h := &f.Holes[i]
		text := "gap in the stream"
		if h.Bytes != nil {
			text += " of " + byteSize(*h.Bytes)
		}
		if h.BlockedNS != nil {
			text += ", held up for " + duration(*h.BlockedNS)
		}
		if h.DelayedMessages != nil {
			text += ", " + plural(*h.DelayedMessages, "message") + " waited"
		}
		out = append(out, Event{Time: h.FirstTime, Packet: value(h.FirstPacket), Text: text, Bad: true})
	}
	return out
}

// eventList is a table of events.
type eventList []Event

func (l eventList) Len() int       { return len(l) }
func (l eventList) At(i int) Event { return l[i] }
func (l eventList) ID(i int) string {
	return fmt.Sprintf("%d|%d|%s", l[i].Time, l[i].Packet, l[i].Text)
}

func eventColumns() []column[Event] {
	bad := func(e Event) look {
		if e.Bad {
			return warning
		}
		return plain
	}
	return []column[Event]{
		{title: "TIME", width: 15, up: true, rank: 1, text: func(e Event) string { return clock(e.Time, 6) },
			num: func(e Event) (int64, bool) { return int64(e.Time), e.Time.Known() }},
		{title: "EVENT", width: 40, grow: 120, prose: true, up: true, look: bad, text: func(e Event) string { return e.Text }},
		{title: "PACKET", width: 11, right: true, up: true, rank: 2,
			text: func(e Event) string {
				if e.Packet == 0 {
					return unknown
				}
				return count(e.Packet)
			},
			num: func(e Event) (int64, bool) { return e.Packet, e.Packet != 0 }},
	}
}
