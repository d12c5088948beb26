package tui

import (
	"fmt"
	"strings"

	"rdmascope/analysis"
	"rdmascope/tui/plot"
)

// drawHeader draws what is looked at, how bad it is, how far reading got; and
// below it where we are.
func (u *ui) drawHeader(r region) {
	if u.isLive() {
		u.drawLiveHeader(r)
		u.drawPlace(r.rows(1, 1))
		return
	}
	right := u.headerRight(r.w)
	n := spanColumns(right)
	r.spans(max(r.w-n-1, 0), 0, right...)
	x := r.print(1, 0, heading, "rdmascope")
	left := max(r.w-n-3, 0)
	title := u.opt.Title
	if size := u.inputSize(); size != "" && r.w >= 100 {
		title += "  " + size
	}
	r.print(x+2, 0, plain, elide(clean(title), left-x-2))
	u.drawPlace(r.rows(1, 1))
}

func (u *ui) inputSize() string {
	total := int64(0)
	for i := range u.snap.Inputs {
		if n := u.snap.Inputs[i].SizeBytes; n != nil {
			total += *n
		}
	}
	if total == 0 {
		return ""
	}
	return byteSize(total)
}

// headerRight is the right part: pause, drops, findings by severity, reading.
func (u *ui) headerRight(w int) []span {
	var out []span
	gap := func() {
		if len(out) > 0 {
			out = append(out, span{plain, "  "})
		}
	}
	out = append(out, u.pauseSpans()...)
	if d := u.snap.Capture.KernelDroppedPackets; d != nil && *d > 0 {
		gap()
		out = append(out, span{warning, "▲ DROPS " + short(*d)})
	}
	gap()
	out = append(out, u.severities()...)
	gap()
	return append(out, u.reading(w)...)
}

// pauseSpans tell that the display stands still, and how much came since.
func (u *ui) pauseSpans() []span {
	if !u.paused {
		return nil
	}
	text := "PAUSED"
	if u.live != nil {
		text += " +" + count(u.live.Capture.Packets-u.snap.Capture.Packets)
	}
	return []span{{warning, text}}
}

func (u *ui) severities() []span {
	n := map[analysis.Severity]int64{}
	for i := range u.snap.Findings {
		n[u.snap.Findings[i].Severity]++
	}
	var out []span
	for _, s := range []analysis.Severity{analysis.SeverityCritical, analysis.SeverityWarning, analysis.SeverityNotice} {
		if n[s] > 0 {
			if len(out) > 0 {
				out = append(out, span{plain, " "})
			}
			out = append(out, span{severityLook(s), severityGlyph(s) + " " + count(n[s])})
		}
	}
	if len(out) == 0 && u.progress.Done && u.snap.Capture.Packets > 0 {
		if v := u.snap.Verdict.Severity; v != "" && v != analysis.SeverityOK {
			return []span{{plain, "no findings"}}
		}
		return []span{{good, "✔ no findings"}}
	}
	return out
}

// reading tells how far the input is read.
func (u *ui) reading(w int) []span {
	p := u.progress
	switch {
	case p.Err != nil:
		return []span{{critical, "✖ stopped"}}
	case p.Done && u.snap.Capture.Packets == 0 && u.live == nil:
		return []span{{faint, "nothing read"}}
	case p.Done:
		return []span{{faint, "all read"}}
	case p.TotalBytes <= 0:
		return []span{{notice, "reading  " + short(p.Packets) + " packets"}}
	}
	share := min(float64(p.ReadBytes)/float64(p.TotalBytes), 1)
	out := []span{{notice, fmt.Sprintf("read %d %%", int(share*100))}}
	if w >= 100 {
		full := int(share * 10)
		out = append(out, span{notice, " " + strings.Repeat("▓", full)}, span{faint, strings.Repeat("░", 10-full)})
		if speed := u.meter.bytesPerSecond; speed > 0 {
			left := (p.TotalBytes - p.ReadBytes) * 1e9 / max(speed, 1)
			out = append(out, span{plain, "  " + byteSize(speed) + "/s  " + wholeSeconds(left) + " left"})
		}
	}
	return out
}

func wholeSeconds(ns int64) string {
	if ns < 120e9 {
		return fmt.Sprintf("%d s", (ns+1e9-1)/1e9)
	}
	return duration(ns)
}

// drawPlace draws the views as tabs on the overview, else breadcrumbs, and at
// the right what the page tells about itself and a window on time.
func (u *ui) drawPlace(r region) {
	status := u.top().status(u)
	if w := u.window.text(u.snap); w != "" {
		status = strings.TrimLeft(status+"   "+w, " ")
	}
	end := r.w
	if status != "" {
		l := faint
		if !u.window.all() {
			l = notice
		}
		status = cut(clean(status), r.w*3/5)
		end = r.w - columns(status) - 1
		r.print(end, 0, l, status)
	}
	if len(u.stack) == 0 && u.view == viewOverview {
		u.drawTabs(r)
		return
	}
	x := r.print(1, 0, faint, "Overview › ")
	if u.view != viewOverview {
		x = r.print(x, 0, u.crumbLook(len(u.stack) == 0), viewNames[u.view])
	} else {
		x -= 3
	}
	for i, p := range u.stack {
		last := i == len(u.stack)-1
		x = r.print(x, 0, faint, " › ")
		room := max(end-x-1, 0)
		if !last {
			room = min(room, max(r.w/6, 14))
		}
		x = r.print(x, 0, u.crumbLook(last), elide(clean(p.crumb(u)), room))
	}
}

func (u *ui) crumbLook(last bool) look {
	if last {
		return heading
	}
	return faint
}

func tabText(i int) string {
	if i == viewOverview {
		return viewNames[i] + " │"
	}
	return fmt.Sprintf("%d %s", i, viewNames[i])
}

func (u *ui) drawTabs(r region) {
	x := 1
	for i := range viewNames {
		l := plain
		if i == u.view {
			l = heading
		}
		x = r.print(x, 0, l, tabText(i)) + 1
		if i > 0 {
			x++
		}
	}
}

// clickTab opens the view whose tab is at column x, or goes back by the
// breadcrumbs.
func (u *ui) clickTab(x int) bool {
	if len(u.stack) > 0 || u.view != viewOverview {
		if x < 10 {
			u.show(viewOverview)
		} else {
			u.back()
		}
		return true
	}
	at := 1
	for i := range viewNames {
		n := columns(tabText(i))
		if x >= at && x < at+n {
			u.show(i)
			return true
		}
		at += n + 1
		if i > 0 {
			at++
		}
	}
	return false
}

// drawFooter draws hints, or what a key answered, or the field that asks.
func (u *ui) drawFooter(r region) {
	if r.h > 1 {
		r.print(0, 0, faint, strings.Repeat("─", r.w))
	}
	last := r.rows(r.h-1, 1)
	switch {
	case u.prompt != nil:
		u.prompt.draw(u, last)
	case u.note.text != "":
		last.print(1, 0, u.note.look, cut(clean(u.note.text), r.w-2))
	default:
		u.drawHints(last)
	}
}

func (u *ui) drawHints(r region) {
	list := append(u.top().hints(u), hint{"?", "help"}, hint{"q", "quit"})
	fixed := columns("? help  q quit") + 2
	x := 1
	for i, h := range list {
		need := columns(h.key) + 1 + columns(h.text)
		if i < len(list)-2 && x+need+2+fixed > r.w {
			continue
		}
		if x+need > r.w {
			return
		}
		x = r.print(x, 0, link, h.key)
		x = r.print(x+1, 0, plain, h.text) + 2
	}
}

// severityGlyph stands for a severity; word and colour go with it.
func severityGlyph(s analysis.Severity) string {
	switch s {
	case analysis.SeverityCritical:
		return "✖"
	case analysis.SeverityWarning:
		return "▲"
	case analysis.SeverityNotice:
		return "●"
	case analysis.SeverityOK:
		return "✔"
	}
	return "?"
}

func severityLook(s analysis.Severity) look {
	switch s {
	case analysis.SeverityCritical:
		return critical
	case analysis.SeverityWarning:
		return warning
	case analysis.SeverityNotice:
		return notice
	case analysis.SeverityOK:
		return good
	}
	return plain
}

// barFor is a bar in the theme's glyphs.
func (r region) barFor(v, top int64, width int) string { return plot.Bar(v, top, width, r.t.level) }
