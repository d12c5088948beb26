package tui

import (
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"rdmascope/analysis"
)

// Smallest terminal that pages are laid out for.
const minWidth, minHeight = 60, 15

// ui is the browser's view state and its one tview primitive.
type ui struct {
	*tview.Box
	opt   Options
	theme *theme

	snap    *analysis.Snapshot // what is shown
	live    *analysis.Snapshot // the newest; another one while paused
	blame   map[string]*analysis.Finding
	trust   []trustLine // what is shown
	trusted []trustLine // of it, what the snapshot tells

	progress Progress
	newest   analysis.Time // of the packets shown
	newestAt time.Time     // when it came
	session  Live          // what is captured just now
	meter    meter
	paused   bool
	arrived  uint64 // details that came since they were asked for

	roots  [6]page
	view   int    // index into roots
	stack  []page // opened from the view, the topmost is shown
	window window
	marks  map[rune]placeMark

	prompt *prompt
	menu   *menu
	note   note
	search string

	histories struct{ command, filter, search []string }

	memory      Remembered // as it was or will be saved
	chosenTheme string     // by the user, in this run
	saving      []Remembered
	busySaving  bool

	host host
}

// host is what surrounds the browser; tests put their own there.
type host struct {
	post    func(func()) // runs f on the drawing goroutine later, then redraws; from any goroutine
	guard   func()       // deferred by goroutines: restores the terminal when they panic
	quit    func()
	suspend func()
	repaint func()
	copy    func(string)
	write   func(path string, data []byte) error
	screen  func() tcell.Screen
}

// note is the line that answers a key, until the next key.
type note struct {
	look look
	text string
}

// Indexes of the views: the number keys.
const (
	viewOverview = iota
	viewFindings
	viewFlows
	viewPFC
	viewPackets
	viewHosts
)

var viewNames = [...]string{"Overview", "Findings", "Flows", "PFC", "Packets", "Hosts"}

func newUI(opt Options, s tcell.Screen, h host) (*ui, error) {
	if err := checkTheme(opt.Theme); err != nil {
		return nil, err
	}
	theme := opt.Theme
	if theme == "" && checkTheme(opt.Remembered.Theme) == nil {
		theme = opt.Remembered.Theme
	}
	u := &ui{Box: tview.NewBox(), opt: opt, theme: newTheme(theme, s), host: h, marks: map[rune]placeMark{}, memory: opt.Remembered}
	findings, flows := newFindingsPage(), newFlowsPage()
	findings.g.recall(u.recalled("findings"))
	flows.g.recall(u.recalled("flows"))
	u.roots = [...]page{newOverviewPage(), findings, flows, newPFCPage(), newPacketsPage(u), newHostsPage()}
	u.setSnapshot(nil)
	u.poll(time.Now())
	return u, nil
}

// setSnapshot makes s the one that pages show.
func (u *ui) setSnapshot(s *analysis.Snapshot) {
	if s == nil {
		s = &analysis.Snapshot{}
	}
	u.snap = s
	u.forgetOld()
	u.blame = s.Blamed()
	u.trusted = trustLines(s)
	u.setTrust()
}

// forgetOld lets go what pages hold of old snapshots, which are big, unless esc
// leads back to them.
func (u *ui) forgetOld() {
	for _, p := range u.roots {
		if f, ok := p.(forgetter); ok && p != u.roots[u.view] {
			f.forget()
		}
	}
}

// setTrust adds what the recorder missed. Of a capture under way that is the
// first thing to know, and changes more often than the snapshot.
func (u *ui) setTrust() {
	at := 1
	if u.isLive() {
		at = 0
	}
	u.trust = slices.Concat(u.trusted[:at], u.dropLines(), u.trusted[at:])
}

// poll takes what the engine has; it tells whether anything is to be redrawn.
func (u *ui) poll(now time.Time) (changed bool) {
	if s := u.opt.Engine.Snapshot(); s != nil && s != u.live {
		u.live = s
		if !u.paused {
			u.setSnapshot(s)
		}
		changed = true
	}
	if u.opt.Details != nil {
		if n := u.opt.Details.Arrived(); n != u.arrived {
			u.arrived, changed = n, true
		}
	}
	changed = u.pollLive(now) || changed
	p := Progress{Done: true}
	if u.opt.Progress != nil {
		p = u.opt.Progress()
	} else if u.live != nil {
		p.Packets = u.live.Capture.Packets
	}
	speed := u.meter.packetsPerSecond
	u.meter.take(p, now) // also when nothing came: then that is how fast it is
	if p != u.progress || u.isLive() && speed != u.meter.packetsPerSecond {
		u.progress, changed = p, true
	}
	return changed
}

// top is the page that is shown.
func (u *ui) top() page {
	if n := len(u.stack); n > 0 {
		return u.stack[n-1]
	}
	return u.roots[u.view]
}

// leaver stops what it does in the background when it is left for good.
type leaver interface{ leave() }

func leave(pages ...page) {
	for _, p := range pages {
		if l, ok := p.(leaver); ok {
			l.leave()
		}
	}
}

// show switches to a view, as it was left.
func (u *ui) show(view int) {
	leave(u.stack...)
	u.view, u.stack = view, nil
	u.top().sync(u)
}

// open drills down; esc comes back.
func (u *ui) open(p page) {
	u.stack = append(u.stack, p)
	p.sync(u)
}

// back leaves a page; the one below has its cursor where it was.
func (u *ui) back() {
	switch {
	case len(u.stack) > 0:
		leave(u.top())
		u.stack = u.stack[:len(u.stack)-1]
	case u.view != viewOverview:
		u.view = viewOverview
	}
}

func (u *ui) say(text string) { u.note = note{plain, text} }

func (u *ui) warn(text string) { u.note = note{warning, "▲ " + text} }

// Draw draws everything.
func (u *ui) Draw(s tcell.Screen) {
	w, h := s.Size()
	all := region{s, u.theme, 0, 0, w, h}
	s.HideCursor()
	if w < minWidth || h < minHeight {
		u.drawTooSmall(all)
		return
	}
	top := u.top()
	top.sync(u)
	u.drawHeader(all.rows(0, 2))
	foot := 1
	if h >= 30 {
		foot = 2
	}
	top.draw(u, all.rows(2, h-2-foot))
	u.drawFooter(all.rows(h-foot, foot))
	if u.menu != nil {
		u.menu.draw(all)
	}
}

func (u *ui) drawTooSmall(r region) {
	text := "terminal too small"
	r.print(max((r.w-len(text))/2, 0), r.h/2, heading, text)
	if r.h > 2 {
		need := "needs 60×15"
		r.print(max((r.w-columns(need))/2, 0), r.h/2+1, plain, need)
	}
}

// InputHandler is how keys arrive from tview.
func (u *ui) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if k := nameKey(ev); k != "" {
			u.press(k)
		}
	}
}

// PasteHandler puts pasted text where text is asked for, and nowhere else:
// what is pasted by mistake must not run as keys.
func (u *ui) PasteHandler() func(string, func(tview.Primitive)) {
	return func(text string, _ func(tview.Primitive)) {
		if u.prompt != nil {
			u.prompt.insert(u, clean(text))
		}
	}
}

// MouseHandler is how the mouse arrives from tview.
func (u *ui) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(a tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		defer u.remember()
		x, y := ev.Position()
		return u.mouse(a, x, y), nil
	}
}

func (u *ui) mouse(a tview.MouseAction, x, y int) bool {
	switch a {
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick, tview.MouseScrollUp, tview.MouseScrollDown:
	default:
		return false
	}
	if u.prompt != nil {
		return false
	}
	if u.menu != nil {
		if a == tview.MouseLeftClick {
			u.menu = nil
		}
		return true
	}
	u.note = note{}
	if y == 1 && a == tview.MouseLeftClick {
		return u.clickTab(x)
	}
	if m, ok := u.top().(mouser); ok {
		return m.mouse(u, a, x, y)
	}
	switch a {
	case tview.MouseScrollUp:
		return u.top().key(u, "up")
	case tview.MouseScrollDown:
		return u.top().key(u, "down")
	}
	return false
}
