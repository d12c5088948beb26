package tui

// placeMark is a place of a page.
type placeMark struct {
	view  int
	stack []page
	place string
}

// page is the page that was marked.
func (m *placeMark) page(u *ui) page {
	if n := len(m.stack); n > 0 {
		return m.stack[n-1]
	}
	return u.roots[m.view]
}

// markedPackets are the packets that bear a mark.
func (u *ui) markedPackets() []int64 {
	var out []int64
	for _, m := range u.marks {
		if _, ok := m.page(u).(*packetsPage); !ok {
			continue
		}
		if n, ok := rowNumber(m.place); ok {
			out = append(out, n)
		}
	}
	return out
}

// askMark waits for the letter of a mark to set or to jump to.
func (u *ui) askMark(k key) {
	label := "mark this place as (a letter): "
	do := u.setMark
	if k == "'" {
		label, do = "jump to mark (a letter): ", u.gotoMark
	}
	p := prompt{label: label}
	p.change = func(text string) {
		u.prompt = nil
		for _, r := range text {
			do(r)
			return
		}
	}
	p.enter = func(string) {}
	u.ask(p)
}

func (u *ui) setMark(r rune) {
	m, ok := u.top().(marker)
	if !ok {
		u.say("no place to mark here")
		return
	}
	u.marks[r] = placeMark{u.view, append([]page(nil), u.stack...), m.place()}
	u.say("marked as " + string(r))
}

func (u *ui) gotoMark(r rune) {
	to, ok := u.marks[r]
	if !ok {
		u.warn("no mark " + string(r))
		return
	}
	u.view, u.stack = to.view, append([]page(nil), to.stack...)
	u.top().sync(u)
	if m, ok := u.top().(marker); ok && !m.gotoPlace(u, to.place) {
		u.warn("what was marked as " + string(r) + " is not shown any more")
	}
}
