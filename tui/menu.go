package tui

import "strings"

// menu is a short list to choose from, over the page.
type menu struct {
	title  string
	list   []choice
	cursor int
	keep   bool // stays open, to tick several
	reopen func(u *ui) []choice
}

// openMenu asks which of list; nothing to choose is said instead.
func (u *ui) openMenu(m menu) {
	if len(m.list) == 0 {
		u.say("nothing to choose here")
		return
	}
	u.menu = &m
}

func (m *menu) key(u *ui, k key) {
	n := len(m.list)
	switch k {
	case "esc", "q", "ctrl-c":
		u.menu = nil
	case "j", "down", "tab":
		m.cursor = (m.cursor + 1) % n
	case "k", "up", "shift-tab":
		m.cursor = (m.cursor + n - 1) % n
	case "g", "home":
		m.cursor = 0
	case "G", "end":
		m.cursor = n - 1
	case "enter", "space":
		m.choose(u, m.cursor)
	default:
		if i := strings.Index(menuKeys, string(k)); i >= 0 && i < n && len(k) == 1 {
			m.choose(u, i)
		}
	}
}

// menuKeys choose an entry at once.
const menuKeys = "123456789"

func (m *menu) choose(u *ui, i int) {
	if !m.keep {
		u.menu = nil
	}
	m.list[i].do(u)
	if m.keep && m.reopen != nil {
		m.list = m.reopen(u)
	}
}

func (m *menu) draw(r region) {
	w := columns(clean(m.title)) + 4
	for _, c := range m.list {
		w = max(w, columns(clean(c.label))+columns(clean(c.value))+10)
	}
	w = min(w, r.w-4)
	h := min(len(m.list)+2, r.h-4)
	box := region{r.s, r.t, r.x + (r.w-w)/2, r.y + (r.h-h)/2, w, h}
	for y := range h {
		box.print(0, y, plain, strings.Repeat(" ", w))
	}
	box.print(0, 0, faint, "┌"+strings.Repeat("─", w-2)+"┐")
	box.print(2, 0, heading, " "+cut(clean(m.title), w-6)+" ")
	box.print(0, h-1, faint, "└"+strings.Repeat("─", w-2)+"┘")
	first := max(0, min(m.cursor-(h-3), len(m.list)-(h-2)))
	for y := 1; y < h-1; y++ {
		i := first + y - 1
		if i >= len(m.list) {
			break
		}
		m.drawChoice(box.rows(y, 1), i)
	}
}

func (m *menu) drawChoice(r region, i int) {
	c := m.list[i]
	r.print(0, 0, faint, "│")
	tick := ""
	if m.keep {
		tick = "  "
	}
	if c.on {
		tick = "✔ "
	}
	num := "  "
	if i < len(menuKeys) {
		num = menuKeys[i:i+1] + " "
	}
	x := r.print(2, 0, link, num)
	x = r.print(x, 0, good, tick)
	label := clean(c.label)
	x = r.print(x, 0, plain, label)
	if c.value != "" {
		r.print(x+2, 0, faint, elide(clean(c.value), r.w-x-4))
	}
	r.print(r.w-1, 0, faint, "│")
	if i == m.cursor {
		r.restyle(1, 0, r.w-2, selected)
	}
}
