package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rivo/tview"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// Panes of the overview.
const (
	paneFindings = iota
	paneTimeline
	paneWorst
	overviewPanes
)

// overviewPage answers "what is wrong, where, when, and can I believe it".
type overviewPage struct {
	findings *findingsPage
	flows    *flowsPage
	focus    int
	cursor   int // column of the timeline
	width    int
	max      bool // the pane alone
}

func newOverviewPage() *overviewPage {
	p := &overviewPage{findings: newFindingsPage(), flows: newFlowsPage()}
	p.findings.g.fixed, p.flows.g.fixed = true, true
	return p
}

func (p *overviewPage) crumb(*ui) string  { return "Overview" }
func (p *overviewPage) status(*ui) string { return "" }

func (p *overviewPage) sync(u *ui) {
	p.findings.sync(u)
	p.flows.sync(u)
}

func (p *overviewPage) forget() {
	p.findings.forget()
	p.flows.forget()
}

func (p *overviewPage) draw(u *ui, r region) {
	p.width = r.w
	drawVerdict(u, r.rows(0, 1))
	top := 1
	if w := u.rollingFigures(); w != nil {
		r.rows(1, 1).spans(1, 0, w...)
		top = 2
	}
	body := r.rows(top, r.h-top)
	if p.max {
		p.drawPane(u, body, p.focus)
		return
	}
	findings, timeline, worst := p.heights(u, body.h)
	y := 0
	p.drawPane(u, body.rows(y, findings), paneFindings)
	y += findings
	p.drawPane(u, body.rows(y, timeline), paneTimeline)
	y += timeline
	p.drawPane(u, body.rows(y, worst), paneWorst)
	y += worst
	t := body.rows(y, body.h-y)
	t.title("Can you trust this capture?", "", false)
	drawTrust(t.rows(1, t.h-1), u, u.trust)
}

// heights shares out the lines; what is left over belongs to the last panel.
func (p *overviewPage) heights(u *ui, h int) (findings, timeline, worst int) {
	t := timelineOf(u)
	trust := min(max(h/5, 4), 8)
	timeline = timelineRows(t, 1) + 1
	if h < 18 { // findings and trust matter more than bars
		timeline = 3
	}
	rest := h - timeline - trust
	want := p.findings.g.length() + 2
	if want == 2 {
		want = 3
	}
	findings = min(want, max(rest/2, 5))
	worst = max(rest-findings, 0)
	if n := p.flows.g.length(); n > 0 {
		worst = min(worst, n+2)
	} else {
		worst = min(worst, max(len(u.snap.Capture.Contents)+4, 4))
	}
	findings += max(min(rest-findings-worst, want-findings), 0)
	for each := 3; each > 1 && h >= 18; each-- { // taller bars where there is room
		if more := timelineRows(t, each) + 1 - timeline; more <= rest-findings-worst {
			return findings, timeline + more, worst
		}
	}
	return findings, timeline, worst
}

func (p *overviewPage) drawPane(u *ui, r region, pane int) {
	focus := p.focus == pane
	body := r.rows(1, r.h-1)
	switch pane {
	case paneFindings:
		r.title(fmt.Sprintf("Findings (%d)", len(u.snap.Findings)), "enter: evidence", focus)
		if p.findings.g.length() == 0 {
			p.drawNoFinding(u, body)
			return
		}
		p.findings.g.draw(body, focus)
	case paneTimeline:
		r.title("Timeline", "[ ] zoom, { } move; all pages follow", focus)
		p.clampCursor()
		drawTimeline(u, body, p.cursor, focus)
	case paneWorst:
		if p.flows.g.length() == 0 {
			r.title("Connections", "", focus)
			drawContents(u, body)
			return
		}
		r.title("Worst connections", "2: all "+count(u.snap.ConnectionsTotal), focus)
		p.flows.g.draw(body, focus)
	}
}

func (p *overviewPage) drawNoFinding(u *ui, r region) {
	switch {
	case !u.progress.Done:
		r.print(1, 0, plain, "nothing found so far in "+plural(u.snap.Capture.Packets, "packet"))
	case u.snap.Capture.Packets > 0 && u.snap.Verdict.Severity.Rank() > 0:
		r.print(1, 0, plain, "nothing found in "+plural(u.snap.Capture.Packets, "packet")+", with the reservation above")
	case u.snap.Capture.Packets > 0:
		r.print(1, 0, good, "✔ nothing found in "+plural(u.snap.Capture.Packets, "packet"))
	default:
		r.print(1, 0, faint, noneYet(u))
	}
}

// noneYet tells nothing so far from nothing at all.
func noneYet(u *ui) string {
	if u.progress.Done {
		return "none"
	}
	return "none yet"
}

// drawContents says what the capture holds where it holds no RDMA.
func drawContents(u *ui, r region) {
	c := u.snap.Capture.Contents
	if u.snap.Capture.Packets == 0 {
		r.print(1, 0, faint, noneYet(u))
		return
	}
	r.print(1, 0, plain, "no RDMA connection in this capture")
	if len(c) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		if 1+i >= r.h {
			return
		}
		share := float64(c[name]) / float64(u.snap.Capture.Packets)
		x := r.print(3, 1+i, plain, pad(cut(clean(name), 28), 28, false))
		x = r.print(x+1, 1+i, plain, pad(count(c[name]), 14, true)+"  "+pad(percent(share), 8, true))
		r.print(x+2, 1+i, barLook, r.barFor(c[name], u.snap.Capture.Packets, 20))
	}
}

// drawVerdict is the answer in one line, first of all.
func drawVerdict(u *ui, r region) {
	v := u.snap.Verdict
	switch {
	case u.progress.Err != nil:
		r.print(1, 0, critical, cut("✖ the analysis stopped: "+clean(u.progress.Err.Error()), r.w-2))
		return
	case u.snap.Capture.Packets == 0 && !u.progress.Done:
		begin := "reading begins …"
		if u.isLive() {
			begin = "waiting for packets …"
		}
		r.print(1, 0, faint, begin)
		return
	case u.snap.Capture.Packets == 0: // never "OK": nothing was judged
		r.print(1, 0, warning, "▲ the capture holds no packet: nothing to judge")
		return
	case v.Severity == "":
		r.print(1, 0, faint, "no verdict yet")
		return
	}
	text := v.Headline
	if v.FindingID != "" {
		text += "  (" + string(v.FindingID) + ")"
	}
	x := r.print(1, 0, severityLook(v.Severity), severityGlyph(v.Severity)+" "+severityWord(v.Severity))
	r.print(x+2, 0, heading, cut(clean(text), r.w-x-3))
}

func severityWord(s analysis.Severity) string {
	switch s {
	case analysis.SeverityCritical:
		return "CRITICAL"
	case analysis.SeverityWarning:
		return "WARNING"
	case analysis.SeverityNotice:
		return "NOTICE"
	}
	return "OK"
}

func (p *overviewPage) clampCursor() {
	p.cursor = min(max(p.cursor, 0), max(p.width-timelineLabel-3, 0))
}

func (p *overviewPage) key(u *ui, k key) bool {
	switch k {
	case "tab":
		p.focus = (p.focus + 1) % overviewPanes
		return true
	case "shift-tab":
		p.focus = (p.focus + overviewPanes - 1) % overviewPanes
		return true
	case "\\":
		p.max = !p.max
		return true
	case "esc":
		if p.max {
			p.max = false
		}
		return true
	}
	switch p.focus {
	case paneFindings:
		return p.findings.key(u, k)
	case paneWorst:
		return p.flows.key(u, k)
	}
	return p.timelineKey(u, k)
}

func (p *overviewPage) timelineKey(u *ui, k key) bool {
	switch k {
	case "h", "left":
		p.cursor--
	case "l", "right":
		p.cursor++
	case "g", "home":
		p.cursor = 0
	case "G", "end":
		p.cursor = p.width
	case "[", "]":
		factor := 2.0
		if k == "]" {
			factor = 0.5
		}
		u.window.zoomAt(u.snap, factor, p.moment(u))
	case "enter":
		u.show(viewFindings)
	default:
		return false
	}
	p.clampCursor()
	return true
}

// moment is the time under the timeline's cursor.
func (p *overviewPage) moment(u *ui) analysis.Time {
	from, to := u.window.span(u.snap)
	return analysis.Time(plot.Axis{Min: int64(from), Max: int64(to), N: p.width - timelineLabel - 2}.Value(p.cursor))
}

func (p *overviewPage) hints(*ui) []hint {
	enter := hint{"enter", "evidence"}
	switch p.focus {
	case paneTimeline:
		enter = hint{"← →", "move"}
	case paneWorst:
		enter = hint{"enter", "open"}
	}
	return []hint{enter, {"1-5", "view"}, {"tab", "pane"}, {"/", "search"}, {"[ ]", "zoom time"}, {"y", "copy"}, {"e", "export"}, {":", "command"}, {"space", "pause"}}
}

func (p *overviewPage) search(u *ui, text string, dir int, here bool) hit {
	if p.focus == paneWorst {
		return p.flows.search(u, text, dir, here)
	}
	return p.findings.search(u, text, dir, here)
}

func (p *overviewPage) place() string {
	if p.focus == paneWorst {
		return "w" + p.flows.place()
	}
	return "f" + p.findings.place()
}

func (p *overviewPage) gotoPlace(u *ui, place string) bool {
	if place == "" {
		return false
	}
	if place[0] == 'w' {
		p.focus = paneWorst
		return p.flows.gotoPlace(u, place[1:])
	}
	p.focus = paneFindings
	return p.findings.gotoPlace(u, place[1:])
}

func (p *overviewPage) copies(u *ui) []choice {
	verdict := choice{label: "verdict", value: u.snap.Verdict.Headline}
	if p.focus == paneWorst {
		return append(p.flows.copies(u), verdict)
	}
	return append(p.findings.copies(u), verdict)
}

func (p *overviewPage) export(u *ui) *sheet {
	switch p.focus {
	case paneWorst:
		return p.flows.export(u)
	case paneTimeline:
		return timelineSheet(u)
	}
	return p.findings.export(u)
}

func (p *overviewPage) packetsToSave(u *ui) []packetChoice { return p.findings.packetsToSave(u) }

func (p *overviewPage) mouse(u *ui, a tview.MouseAction, x, y int) bool {
	for pane, g := range map[int]mouser{paneFindings: p.findings, paneWorst: p.flows} {
		if g.mouse(u, a, x, y) {
			p.focus = pane
			return true
		}
	}
	return false
}
