package tui

func (p *connPage) key(u *ui, k key) bool {
	switch k {
	case "tab":
		p.focus = (p.focus + 1) % connPanes
	case "shift-tab":
		p.focus = (p.focus + connPanes - 1) % connPanes
	case "\\":
		p.max = !p.max
	case "esc":
		if !p.max {
			return false
		}
		p.max = false
	case "p":
		if p.c != nil {
			u.openPacketsOf(p.c)
		}
	case "o":
		if f := u.blame[p.id]; f != nil {
			u.open(newFindingPage(f))
		} else {
			u.say("no finding about this connection")
		}
	case "x":
		p.turn()
	default:
		return p.paneKey(u, k)
	}
	return true
}

// turn changes what the pane shows: axes, kind of latency.
func (p *connPage) turn() {
	switch {
	case p.focus == paneLatency:
		p.kind++
	case p.detail != nil:
		p.plot.turn(p.detail)
	}
}

func (p *connPage) paneKey(u *ui, k key) bool {
	switch p.focus {
	case panePlot:
		return p.plotKey(u, k)
	case paneNumbers, paneLatency:
		return p.scrollKey(k)
	}
	e, ok := p.events.current()
	switch {
	case k == "enter" && ok && e.Packet > 0:
		u.openPacket(e.Packet)
	case k == "enter":
		u.say("no packet belongs to this")
	case k == "n":
		return p.events.move("down")
	case k == "N":
		return p.events.move("up")
	default:
		return p.events.move(k)
	}
	return true
}

func (p *connPage) scrollKey(k key) bool {
	switch k {
	case "j", "down":
		p.scroll++
	case "k", "up":
		p.scroll--
	case "g", "home":
		p.scroll = 0
	case "G", "end":
		p.scroll = 1 << 20
	case "ctrl-f", "pgdn", "ctrl-d":
		p.scroll += 5
	case "ctrl-b", "pgup", "ctrl-u":
		p.scroll -= 5
	default:
		return false
	}
	return true
}

// plotKey moves the plot's cursor; enter opens the packet next to it.
func (p *connPage) plotKey(u *ui, k key) bool {
	if p.detail == nil {
		return false
	}
	s := &p.plot
	switch k {
	case "h", "left":
		s.x--
	case "l", "right":
		s.x++
	case "k", "up":
		s.y--
	case "j", "down":
		s.y++
	case "g", "home":
		s.x = 0
	case "G", "end":
		s.x = s.w - 1
	case "ctrl-f", "pgdn":
		s.x += s.w / 4
	case "ctrl-b", "pgup":
		s.x -= s.w / 4
	case "n", "N":
		dir := 1
		if k == "N" {
			dir = -1
		}
		if !s.next(u, p.detail, dir) {
			u.say("no more resent packets or NAKs that way")
		}
	case "enter":
		if pt := s.nearest(u, p.detail); pt != nil {
			u.openPacket(pt.Packet)
		}
	case "[", "]":
		p.zoomAtCursor(u, k)
	default:
		return false
	}
	s.x, s.y = min(max(s.x, 0), max(s.w-1, 0)), min(max(s.y, 0), max(s.h-1, 0))
	return true
}

// zoomAtCursor keeps the point next to the cursor in place.
func (p *connPage) zoomAtCursor(u *ui, k key) {
	factor := 2.0
	if k == "]" {
		factor = 0.5
	}
	from, to := u.window.span(u.snap)
	at := from + (to-from)/2
	if pt := p.plot.nearest(u, p.detail); pt != nil {
		at = pt.Time
	}
	u.window.zoomAt(u.snap, factor, at)
}

func (p *connPage) hints(*ui) []hint {
	enter := hint{"enter", "packet"}
	if p.focus == paneNumbers || p.focus == paneLatency {
		enter = hint{"j k", "scroll"}
	}
	return []hint{{"esc", "back"}, enter, {"tab", "pane"}, {"p", "packets"}, {"o", "finding"}, {"n N", "next event"}, {"x", "axes"},
		{"[ ]", "zoom"}, {"\\", "maximise"}, {"y", "copy"}, {"e", "export"}}
}

func (p *connPage) search(_ *ui, text string, dir int, here bool) hit {
	return p.events.search(text, dir, here)
}

func (p *connPage) sortKey(_ *ui, k key) bool {
	if p.focus != paneEvents {
		return false
	}
	p.events.sortKey(k)
	list, _ := p.events.list.(eventList)
	p.events.setList(p.sorted(list))
	return true
}

// sorted gives the events in the order asked for.
func (p *connPage) sorted(list eventList) eventList {
	order := make([]int32, len(list))
	for i := range order {
		order[i] = int32(i)
	}
	if c := p.events.sortCol; c >= 0 {
		sortRows(order, func(i int32) Event { return list[i] }, &p.events.cols[c], p.events.desc)
	}
	sorted := make(eventList, len(list))
	for i, n := range order {
		sorted[i] = list[n]
	}
	return sorted
}

func (p *connPage) columnChoices(*ui) []choice { return p.events.columnChoices() }

func (p *connPage) copies(u *ui) []choice {
	if p.c == nil {
		return nil
	}
	f := connFilter(p.c)
	return append([]choice{{label: "display filter", value: f}, {label: "tshark command", value: u.tshark(f)},
		{label: "name", value: connName(p.c)}, {label: "connection id", value: p.c.ID}}, p.events.copies()...)
}

func (p *connPage) place() string { return p.events.id() }

func (p *connPage) gotoPlace(_ *ui, id string) bool { return id == "" || p.events.selectID(id) }
