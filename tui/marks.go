package tui

// placeMark is a place of a page.
type placeMark struct {
	view  int
	stack []page
	place string
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
