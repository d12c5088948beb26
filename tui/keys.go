package tui

import (
	"github.com/gdamore/tcell/v2"
)

// key names a key press: "j", "G", "ctrl-f", "enter", "up".
type key string

var namedKeys = map[tcell.Key]key{
	tcell.KeyEnter: "enter", tcell.KeyEscape: "esc", tcell.KeyTab: "tab", tcell.KeyBacktab: "shift-tab",
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right",
	tcell.KeyHome: "home", tcell.KeyEnd: "end", tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn",
	tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace", tcell.KeyDelete: "delete",
	tcell.KeyCtrlA: "ctrl-a", tcell.KeyCtrlB: "ctrl-b", tcell.KeyCtrlC: "ctrl-c", tcell.KeyCtrlD: "ctrl-d", tcell.KeyCtrlE: "ctrl-e",
	tcell.KeyCtrlF: "ctrl-f", tcell.KeyCtrlK: "ctrl-k", tcell.KeyCtrlL: "ctrl-l", tcell.KeyCtrlN: "ctrl-n", tcell.KeyCtrlP: "ctrl-p",
	tcell.KeyCtrlU: "ctrl-u", tcell.KeyCtrlW: "ctrl-w", tcell.KeyCtrlZ: "ctrl-z",
}

// nameKey gives the name of a key press, "" for one that nothing uses.
func nameKey(ev *tcell.EventKey) key {
	if ev.Key() == tcell.KeyRune {
		if ev.Modifiers()&(tcell.ModAlt|tcell.ModMeta) != 0 {
			return ""
		}
		if ev.Rune() == ' ' {
			return "space"
		}
		return key(ev.Rune())
	}
	return namedKeys[ev.Key()]
}

// char is the character that a key writes into a text field.
func (k key) char() (rune, bool) {
	if k == "space" {
		return ' ', true
	}
	r := []rune(string(k))
	if len(r) != 1 {
		return 0, false
	}
	return r[0], true
}

// hint is a key with what it does, for the last line and the help.
type hint struct{ key, text string }

// keyTable is what every page knows; the help shows it after the page's own.
var keyTable = []hint{
	{"h j k l  ← ↓ ↑ →", "move"},
	{"g G  ^F ^B  ^D ^U", "first, last; page and half a page down, up"},
	{"0 … 5", "overview, findings, flows, PFC, packets, hosts"},
	{"tab  shift-tab", "next, previous pane"},
	{"enter", "open what the cursor is on"},
	{"esc", "back to where you came from (never quits)"},
	{"/  n  N", "search as you type; next, previous"},
	{"f", "edit the filter"},
	{"F", "filter by the cell under the cursor"},
	{":", "command: flows, 123g, filter, sort, theme, export, q; tab completes"},
	{"s  S", "sort by the column under the cursor; reverse"},
	{"<  >", "sort by the previous, next column"},
	{"c", "choose columns"},
	{"m x  ' x", "mark this place as x; jump to mark x"},
	{"y", "copy: cell, row, filters, commands"},
	{"e", "export what is shown (.csv .json .txt .svg)"},
	{"w", "save packets to a new capture"},
	{"[  ]", "zoom time out, in; all pages follow"},
	{"{  }", "move the time window back, on"},
	{"r", "rolling window: last 10 s, 1 min, 10 min, all"},
	{"\\", "maximise the pane"},
	{"space", "pause the display; reading goes on"},
	{"^L", "repaint"},
	{"^Z", "suspend"},
	{"?", "this help"},
	{"q  ^C", "quit"},
}
