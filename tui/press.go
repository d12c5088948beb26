package tui

import "strconv"

// press handles one key: a text field takes every key, then a menu, then the
// page, then what all pages share.
func (u *ui) press(k key) {
	defer u.remember()
	if u.prompt != nil {
		u.prompt.key(u, k)
		return
	}
	if u.menu != nil {
		u.menu.key(u, k)
		return
	}
	u.note = note{}
	top := u.top()
	top.sync(u)
	if !top.key(u, k) {
		u.global(k, top)
	}
	u.top().sync(u)
}

// global is what a key does where the page has no use of its own for it.
func (u *ui) global(k key, top page) {
	switch k {
	case "0", "1", "2", "3", "4", "5":
		n, _ := strconv.Atoi(string(k))
		u.show(n)
	case "esc":
		u.back()
	case "q", "ctrl-c":
		u.host.quit()
	case "?":
		u.open(newHelpPage(u, top))
	case ":":
		u.askCommand()
	case "/":
		u.askSearch()
	case "n", "N":
		u.searchNext(k)
	case "f":
		u.askFilter("")
	case "F":
		u.filterMenu()
	case "y":
		u.copyMenu()
	case "e":
		u.askExport()
	case "w":
		u.askSave()
	case "s", "S", "<", ">":
		if s, ok := top.(sortable); !ok || !s.sortKey(u, k) {
			u.say("nothing to sort here")
		}
	case "c":
		u.columnMenu()
	case "m", "'":
		u.askMark(k)
	case "space":
		u.togglePause()
	default:
		u.globalView(k)
	}
}

// globalView has the keys that change how things are looked at.
func (u *ui) globalView(k key) {
	switch k {
	case "[":
		u.window.zoom(u.snap, 2)
	case "]":
		u.window.zoom(u.snap, 0.5)
	case "{":
		u.window.shift(u.snap, -0.25)
	case "}":
		u.window.shift(u.snap, 0.25)
	case "r":
		u.say("window: " + u.window.roll())
	case "ctrl-z":
		u.host.suspend()
	case "ctrl-l":
		u.host.repaint()
	}
}

// togglePause freezes the display: it keeps the snapshot, reading goes on.
func (u *ui) togglePause() {
	u.paused = !u.paused
	if w, ok := u.opt.Packets.(PacketWindow); ok {
		w.Freeze(u.paused)
	}
	if !u.paused && u.live != nil && u.live != u.snap {
		u.setSnapshot(u.live)
	}
}
