package tui

import (
	"slices"
	"strings"
)

// prompt is a text field in the last line. It takes every key: who types "q"
// into a filter must not quit.
type prompt struct {
	label    string
	text     []rune
	cursor   int
	check    func(text string) error    // colours the text while typing; nil: nothing to check
	complete func(text string) []string // whole texts that tab goes through
	change   func(text string)          // at every change
	enter    func(text string)
	cancel   func()
	history  *[]string

	shown  []string // completions that tab walks through
	at     int
	recall int // position in history from its end, 0: what is typed
}

// ask opens a text field.
func (u *ui) ask(p prompt) {
	p.cursor = len(p.text)
	u.prompt = &p
}

func (p *prompt) String() string { return string(p.text) }

func (p *prompt) set(text string) {
	p.text = []rune(text)
	p.cursor = len(p.text)
}

func (p *prompt) changed() {
	p.shown = nil
	if p.change != nil {
		p.change(p.String())
	}
}

func (p *prompt) insert(_ *ui, text string) {
	p.text = slices.Insert(p.text, p.cursor, []rune(text)...)
	p.cursor += len([]rune(text))
	p.changed()
}

func (p *prompt) key(u *ui, k key) {
	switch k {
	case "enter":
		u.prompt = nil
		p.remember()
		p.enter(p.String())
	case "esc", "ctrl-c":
		u.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
	case "tab":
		p.completeNext(1)
	case "shift-tab":
		p.completeNext(-1)
	case "up", "ctrl-p":
		p.recallBy(1)
	case "down", "ctrl-n":
		p.recallBy(-1)
	default:
		p.edit(u, k)
	}
}

func (p *prompt) edit(u *ui, k key) {
	n := len(p.text)
	switch k {
	case "left", "ctrl-b":
		p.cursor = max(p.cursor-1, 0)
	case "right", "ctrl-f":
		p.cursor = min(p.cursor+1, n)
	case "home", "ctrl-a":
		p.cursor = 0
	case "end", "ctrl-e":
		p.cursor = n
	case "backspace":
		if n == 0 {
			p.key(u, "esc")
		} else if p.cursor > 0 {
			p.cursor--
			p.text = slices.Delete(p.text, p.cursor, p.cursor+1)
			p.changed()
		}
	case "delete", "ctrl-d":
		if p.cursor < n {
			p.text = slices.Delete(p.text, p.cursor, p.cursor+1)
			p.changed()
		}
	case "ctrl-u":
		p.text, p.cursor = p.text[p.cursor:], 0
		p.changed()
	case "ctrl-k":
		p.text = p.text[:p.cursor]
		p.changed()
	case "ctrl-w":
		i := p.cursor
		for i > 0 && p.text[i-1] == ' ' {
			i--
		}
		for i > 0 && p.text[i-1] != ' ' {
			i--
		}
		p.text, p.cursor = slices.Delete(p.text, i, p.cursor), i
		p.changed()
	default:
		if c, ok := k.char(); ok {
			p.insert(u, string(c))
		}
	}
}

// completeNext replaces the text by the next completion.
func (p *prompt) completeNext(step int) {
	if p.complete == nil {
		return
	}
	if p.shown == nil {
		p.shown = p.complete(p.String())
		p.at = -1
		if step < 0 {
			p.at = 0
		}
	}
	if len(p.shown) == 0 {
		p.shown = nil
		return
	}
	shown := p.shown
	p.at = (p.at + step + len(shown)) % len(shown)
	p.set(shown[p.at])
	if p.change != nil {
		p.change(p.String())
	}
	if len(shown) > 1 {
		p.shown = shown
	} else {
		p.shown = nil
	}
}

func (p *prompt) remember() {
	if p.history == nil || len(p.text) == 0 {
		return
	}
	text := p.String()
	h := slices.DeleteFunc(*p.history, func(s string) bool { return s == text })
	*p.history = append(h, text)
}

func (p *prompt) recallBy(step int) {
	if p.history == nil {
		return
	}
	n := len(*p.history)
	p.recall = min(max(p.recall+step, 0), n)
	if p.recall == 0 {
		p.set("")
	} else {
		p.set((*p.history)[n-p.recall])
	}
	p.changed()
}

// draw shows the field; what is wrong with its text, or the completions,
// stand at its right.
func (p *prompt) draw(u *ui, r region) {
	x := r.print(1, 0, heading, p.label)
	l, aside := plain, ""
	if len(p.shown) > 1 {
		aside = completionText(p.shown, p.at)
	}
	if p.check != nil && len(p.text) > 0 {
		l = good
		if err := p.check(p.String()); err != nil {
			l, aside = critical, filterErrorText(err)
		}
	}
	text := clean(p.String())
	room := r.w - x - 2
	if aside != "" {
		room = max(room-min(columns(aside), r.w/2)-2, room/3)
	}
	before := columns(clean(string(p.text[:p.cursor])))
	shift := max(before-room, 0) // keeps the cursor in sight
	visible := cutLeft(text, shift)
	end := r.print(x, 0, l, takeColumns(visible, max(room, 1)))
	if shift == 0 && columns(text) <= room {
		u.drawErrorMark(r, p, x)
	}
	if aside != "" {
		r.print(max(end+2, r.w-columns(aside)-1), 0, faint, cut(clean(aside), r.w-end-3))
	}
	r.s.ShowCursor(r.x+x+before-shift, r.y)
}

// drawErrorMark underlines the place that an error points at.
func (u *ui) drawErrorMark(r region, p *prompt, x int) {
	if p.check == nil {
		return
	}
	if at, ok := errorColumn(p.check(p.String())); ok && at <= len(p.text) {
		r.restyle(x+columns(clean(string(p.text[:at]))), 0, 1, match)
	}
}

func cutLeft(s string, n int) string {
	for n > 0 && s != "" {
		head := takeColumns(s, 1)
		n -= max(columns(head), 1)
		s = s[len(head):]
	}
	return s
}

func completionText(list []string, at int) string {
	var b strings.Builder
	for i, s := range list[max(at, 0):] {
		if i > 0 {
			b.WriteString("  ")
		}
		if f := strings.Fields(s); len(f) > 0 {
			s = f[len(f)-1]
		}
		b.WriteString(s)
		if b.Len() > 60 {
			b.WriteString(" …")
			break
		}
	}
	return b.String()
}
