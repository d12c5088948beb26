package tui

import (
	"maps"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// findingPage is one finding: what, why it is believed, where it is proved,
// what to do next. The lines that lead on can be opened.
type findingPage struct {
	id     string // findingKey
	f      *analysis.Finding
	lines  []findingLine
	cursor int // index into links
	scroll int
	width  int
	have   *analysis.Snapshot // that lines were made from
}

// findingLine is one line; open, when not nil, is what enter does.
type findingLine struct {
	label string
	text  string
	look  look
	open  func(u *ui)
	copy  string
}

func newFindingPage(f *analysis.Finding) *findingPage { return &findingPage{id: findingKey(f), f: f} }

func (p *findingPage) crumb(*ui) string { return p.f.ID + " " + p.f.Rule }

func (p *findingPage) status(*ui) string { return "confidence " + p.f.Confidence }

// sync takes the finding's newest state; one that a later snapshot no longer
// has stays as it was.
func (p *findingPage) sync(u *ui) {
	if p.have == u.snap {
		return
	}
	p.have = u.snap
	for i := range u.snap.Findings {
		if f := &u.snap.Findings[i]; findingKey(f) == p.id {
			p.f = f
			break
		}
	}
	p.build(u)
}

// build makes the lines for the width drawn last.
func (p *findingPage) build(u *ui) {
	f := p.f
	p.lines = p.lines[:0]
	word := severityGlyph(f.Severity) + " " + strings.ToUpper(string(f.Severity))
	p.add("", word+"  "+f.Title, severityLook(f.Severity))
	p.add("", "", plain)
	p.add("who", who(f), plain)
	p.add("when", findingTime(u, f), plain)
	p.add("what", string(f.Meaning), plain)
	p.figures()
	p.add("", "", plain)
	p.add("next", string(f.Advice), heading)
	p.add("", "", plain)
	p.links(u)
	p.commands(u)
}

func (p *findingPage) add(label, text string, l look) {
	if text == "" && label != "" {
		return
	}
	lines := wrap(clean(text), max(p.width-13, 20))
	if len(lines) == 0 {
		lines = []string{""}
	}
	for _, t := range lines {
		p.lines = append(p.lines, findingLine{label: label, text: t, look: l})
		label = ""
	}
}

// figures are what the rule looked at, beside the limits it compared with.
func (p *findingPage) figures() {
	label := "figures"
	for _, name := range slices.Sorted(maps.Keys(p.f.Metrics)) {
		text := words(name) + " " + named(name, p.f.Metrics[name])
		if limit, ok := p.f.Limits[name]; ok {
			text += "   limit " + named(name, limit)
		}
		p.add(label, text, plain)
		label = ""
	}
	for _, name := range slices.Sorted(maps.Keys(p.f.Limits)) {
		if _, shown := p.f.Metrics[name]; !shown {
			p.add(label, "limit of "+words(name)+" "+named(name, p.f.Limits[name]), plain)
			label = ""
		}
	}
}

// links are what can be opened from here.
func (p *findingPage) links(u *ui) {
	f := p.f
	link := func(label, text string, open func(*ui)) {
		p.lines = append(p.lines, findingLine{label: label, text: clean(text), look: link, open: open})
	}
	if c := findingByID(u.snap, string(f.CausedBy)); c != nil {
		link("cause", c.ID+" "+c.Title, func(u *ui) { u.open(newFindingPage(c)) })
	}
	for i := range u.snap.Findings {
		if c := &u.snap.Findings[i]; string(c.CausedBy) == f.ID && f.ID != "" {
			link("leads to", c.ID+" "+c.Title, func(u *ui) { u.open(newFindingPage(c)) })
		}
	}
	if c := connectionByID(u.snap, f.Subject.ConnectionID); c != nil {
		link("open", connName(c)+"  plot, latency, recoveries", func(u *ui) { u.open(newConnPage(u, c.ID)) })
	}
	if f.Subject.Kind == "pfc_port" || strings.HasPrefix(f.Rule, "pfc.") {
		link("open", "pauses over time", func(u *ui) { u.show(viewPFC) })
	}
	list := evidence(f)
	if len(list) > 0 {
		link("packets", proves(len(list))+rangeText(f), func(u *ui) { u.openPacketsFor(f) })
	}
	for i, n := range list {
		if i == 5 {
			break
		}
		link("", "packet "+count(n)+packetGist(u, n), func(u *ui) { u.openPacket(n) })
	}
}

func proves(n int) string {
	if n == 1 {
		return "1 packet proves it"
	}
	return count(int64(n)) + " packets prove it"
}

func rangeText(f *analysis.Finding) string {
	if f.FirstPacket == nil || f.LastPacket == nil || *f.FirstPacket == *f.LastPacket {
		return ""
	}
	return ", between " + count(*f.FirstPacket) + " and " + count(*f.LastPacket)
}

// evidence is the packets that prove a finding.
func evidence(f *analysis.Finding) []int64 {
	list := append([]int64(nil), f.Packets...)
	if len(list) == 0 {
		for _, n := range []*int64{f.FirstPacket, f.LastPacket} {
			if n != nil {
				list = append(list, *n)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// commands show the evidence elsewhere; enter copies them.
func (p *findingPage) commands(u *ui) {
	if p.f.Filters.Wireshark == "" {
		return
	}
	p.add("", "", plain)
	for _, c := range findingCopies(u, p.f) {
		if c.value == "" || c.label == "advice" {
			continue
		}
		text := clean(c.value)
		first := len(p.lines)
		p.add("filter", text, plain)
		if c.label == "tshark command" {
			p.lines[first].label = "tshark"
		} else if c.label == "rdmascope filter" {
			p.lines[first].label = "-Y"
		}
		p.lines[first].copy = text
	}
}

func connectionByID(s *analysis.Snapshot, id string) *analysis.Connection {
	if id == "" {
		return nil
	}
	for i := range s.Connections {
		if s.Connections[i].ID == id {
			return &s.Connections[i]
		}
	}
	return nil
}

// active are the lines that the cursor goes to.
func (p *findingPage) active() []int {
	var out []int
	for i, l := range p.lines {
		if l.open != nil || l.copy != "" {
			out = append(out, i)
		}
	}
	return out
}

func (p *findingPage) draw(u *ui, r region) {
	if p.width != r.w {
		p.width = r.w
		p.build(u)
	}
	active := p.active()
	p.cursor = min(max(p.cursor, 0), max(len(active)-1, 0))
	at := -1
	if len(active) > 0 {
		at = active[p.cursor]
	}
	p.scroll = min(p.scroll, max(len(p.lines)-r.h, 0))
	if at >= 0 {
		p.scroll = max(p.scroll, at-r.h+2)
		if p.cursor == 0 {
			p.scroll = 0
			p.scroll = max(p.scroll, at-r.h+2)
		}
		p.scroll = min(p.scroll, at)
	}
	for y := 0; y < r.h && p.scroll+y < len(p.lines); y++ {
		l := p.lines[p.scroll+y]
		r.print(2, y, faint, l.label)
		r.print(12, y, l.look, cut(l.text, r.w-13))
		if p.scroll+y == at {
			r.print(0, y, selected, "▸")
			r.restyle(11, y, r.w-12, selected)
		}
	}
}

func (p *findingPage) key(u *ui, k key) bool {
	active := p.active()
	switch k {
	case "j", "down":
		p.cursor++
	case "k", "up":
		p.cursor--
	case "g", "home":
		p.cursor = 0
	case "G", "end":
		p.cursor = len(active) - 1
	case "ctrl-f", "pgdn", "ctrl-d":
		p.cursor += 5
	case "ctrl-b", "pgup", "ctrl-u":
		p.cursor -= 5
	case "p":
		u.openPacketsFor(p.f)
	case "o":
		if p.f.Subject.ConnectionID != "" {
			u.open(newConnPage(u, p.f.Subject.ConnectionID))
		}
	case "enter":
		if p.cursor < len(active) {
			if l := p.lines[active[p.cursor]]; l.open != nil {
				l.open(u)
			} else {
				u.copyText(l.copy)
			}
		}
	default:
		return false
	}
	p.cursor = min(max(p.cursor, 0), max(len(active)-1, 0))
	return true
}

func (p *findingPage) hints(*ui) []hint {
	return []hint{{"enter", "open or copy"}, {"p", "packets"}, {"o", "connection"}, {"esc", "back"}, {"y", "copy"}, {"w", "save packets"}, {"e", "export"}}
}

func (p *findingPage) copies(u *ui) []choice {
	return append([]choice{{label: "title", value: p.f.Title}, {label: "meaning", value: string(p.f.Meaning)}}, findingCopies(u, p.f)...)
}

func (p *findingPage) packetsToSave(*ui) []packetChoice {
	return []packetChoice{{"evidence of " + p.f.ID, evidence(p.f)}}
}
