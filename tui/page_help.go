package tui

// helpPage shows the keys of the page it was called on first.
type helpPage struct {
	name   string
	own    []hint
	scroll int
	rows   int
	h      int
}

func newHelpPage(u *ui, of page) *helpPage {
	name := viewNames[u.view]
	if len(u.stack) > 0 {
		name = of.crumb(u)
	}
	return &helpPage{name: name, own: of.hints(u)}
}

func (p *helpPage) crumb(*ui) string  { return "Help" }
func (p *helpPage) status(*ui) string { return "" }
func (p *helpPage) sync(*ui)          {}

// helpLine is a key with its meaning, or a heading.
type helpLine struct {
	head string
	hint
}

func (p *helpPage) lines() []helpLine {
	out := []helpLine{{head: "Here: " + p.name}}
	for _, h := range p.own {
		out = append(out, helpLine{hint: h})
	}
	out = append(out, helpLine{}, helpLine{head: "Everywhere"})
	for _, h := range keyTable {
		out = append(out, helpLine{hint: h})
	}
	out = append(out, helpLine{}, helpLine{head: "Commands (: then tab)"})
	for _, c := range commands {
		name := c.name
		if c.arg != "" {
			name += " " + c.arg
		}
		out = append(out, helpLine{hint: hint{":" + name, c.text}})
	}
	out = append(out, helpLine{}, helpLine{head: "Signs"})
	for _, h := range []hint{{"✖ ▲ ● ✔", "critical, warning, notice, good; the word stands beside it"},
		{unknown, "not known: the capture cannot tell, or it was not measured. Never the same as 0"},
		{"· ░ ▒ ▓ █", "a share: nothing, then up to 25, 50, 75 and 100 %"},
		{"▸", "the cursor"}} {
		out = append(out, helpLine{hint: h})
	}
	return out
}

func (p *helpPage) draw(_ *ui, r region) {
	lines := p.lines()
	if len(lines) > r.h { // the last line tells of the rest
		defer func(at region) {
			if more := len(lines) - p.h - p.scroll; more > 0 {
				at.print(3, 0, faint, plural(int64(more), "more line")+": j, ^F")
			}
		}(r.rows(r.h-1, 1))
		r = r.rows(0, r.h-1)
	}
	p.rows, p.h = len(lines), r.h
	p.scroll = min(max(p.scroll, 0), max(len(lines)-r.h, 0))
	for y := 0; y < r.h && y+p.scroll < len(lines); y++ {
		l := lines[y+p.scroll]
		if l.head != "" {
			r.print(1, y, heading, cut(clean(l.head), r.w-2))
			continue
		}
		r.print(3, y, link, l.key)
		r.print(24, y, plain, cut(l.text, r.w-25))
	}
}

func (p *helpPage) key(u *ui, k key) bool {
	switch k {
	case "j", "down":
		p.scroll++
	case "k", "up":
		p.scroll--
	case "g", "home":
		p.scroll = 0
	case "G", "end":
		p.scroll = p.rows
	case "ctrl-f", "pgdn":
		p.scroll += p.h
	case "ctrl-b", "pgup":
		p.scroll -= p.h
	case "ctrl-d":
		p.scroll += p.h / 2
	case "ctrl-u":
		p.scroll -= p.h / 2
	case "?":
		u.back()
	default:
		return false
	}
	p.scroll = min(max(p.scroll, 0), max(p.rows-p.h, 0))
	return true
}

func (p *helpPage) hints(*ui) []hint {
	return []hint{{"j k", "scroll"}, {"esc", "back"}}
}
