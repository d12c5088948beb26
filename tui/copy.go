package tui

import "strings"

// copyMenu offers what can be copied here.
func (u *ui) copyMenu() {
	c, ok := u.top().(copier)
	if !ok {
		u.say("nothing to copy here")
		return
	}
	var list []choice
	for _, x := range c.copies(u) {
		if x.value == "" {
			continue
		}
		text := x.value
		list = append(list, choice{label: x.label, value: text, do: func(u *ui) { u.copyText(text) }})
	}
	u.openMenu(menu{title: "copy", list: list})
}

// copyText sends a text to the terminal's clipboard (OSC 52). No terminal
// confirms, so it only says that it was sent, and what.
func (u *ui) copyText(text string) {
	text = clean(text)
	u.host.copy(text)
	u.say("sent to the terminal's clipboard: " + text)
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if s != "" && strings.Trim(s, harmless) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// tshark is the command that shows what a display filter selects.
func (u *ui) tshark(filter string) string {
	if filter == "" {
		return ""
	}
	var out []string
	for _, in := range u.opt.Inputs {
		if in == "-" {
			in = "CAPTURE"
		}
		out = append(out, "tshark -r "+shellQuote(in)+" -Y "+shellQuote(filter))
	}
	if len(out) == 0 {
		return "tshark -r CAPTURE -Y " + shellQuote(filter)
	}
	return strings.Join(out, "; ")
}
