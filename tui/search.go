package tui

// askSearch searches while typing; esc puts the cursor back.
func (u *ui) askSearch() {
	s, ok := u.top().(searcher)
	if !ok {
		u.say("nothing to search here")
		return
	}
	m, _ := u.top().(marker)
	before := ""
	if m != nil {
		before = m.place()
	}
	goBack := func() {
		if m != nil {
			m.gotoPlace(u, before)
		}
	}
	u.ask(prompt{
		label: "/", history: &u.histories.search,
		change: func(text string) {
			goBack()
			if text != "" {
				s.search(u, text, 1, true)
			}
		},
		enter: func(text string) {
			u.search = text
			if text != "" {
				u.tellSearch(s.search(u, text, 1, true))
			}
		},
		cancel: goBack,
	})
}

func (u *ui) searchNext(k key) {
	s, ok := u.top().(searcher)
	switch {
	case !ok:
		u.say("nothing to search here")
	case u.search == "":
		u.say("nothing searched for yet: / searches")
	default:
		dir := 1
		if k == "N" {
			dir = -1
		}
		u.tellSearch(s.search(u, u.search, dir, false))
	}
}

func (u *ui) tellSearch(h hit) {
	switch h {
	case hitNone:
		u.warn("not found: " + u.search)
	case hitMore:
		u.say("not found so far: n goes on from here")
	}
}
