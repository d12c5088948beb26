package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// command is what ":" takes. args lists completions of its argument.
type command struct {
	name, arg, text string
	args            func(u *ui) []string
	run             func(u *ui, arg string)
}

var commands = makeCommands()

func makeCommands() []command {
	var list []command
	for i, name := range viewNames {
		list = append(list, command{name: strings.ToLower(name), text: "go to " + name, run: func(u *ui, _ string) { u.show(i) }})
	}
	return append(list,
		command{name: "filter", arg: "EXPRESSION", text: "filter this page; nothing clears it", run: func(u *ui, a string) { u.applyFilter(a) }},
		command{name: "search", arg: "TEXT", text: "search this page", run: func(u *ui, a string) { u.search = a; u.searchNext("n") }},
		command{name: "sort", arg: "COLUMN", text: "sort by a column", args: sortNames, run: runSort},
		command{name: "export", arg: "FILE", text: "export what is shown: .csv .json .txt .svg", run: func(u *ui, a string) { u.exportTo(a) }},
		command{name: "write", arg: "FILE", text: "save packets to a new capture", run: func(u *ui, a string) { u.saveTo(a) }},
		command{name: "copy", text: "copy something", run: func(u *ui, _ string) { u.copyMenu() }},
		command{name: "theme", arg: "NAME", text: "colours", args: func(*ui) []string { return Themes() }, run: runTheme},
		command{name: "set", arg: "NAME=VALUE", text: "theme=…, window=all|10s|1min|10min, pause=on|off", args: setNames, run: runSet},
		command{name: "pause", text: "pause or go on", run: func(u *ui, _ string) { u.togglePause() }},
		command{name: "help", text: "keys", run: func(u *ui, _ string) { u.open(newHelpPage(u, u.top())) }},
		command{name: "q", text: "quit", run: func(u *ui, _ string) { u.host.quit() }},
		command{name: "quit", text: "quit", run: func(u *ui, _ string) { u.host.quit() }},
	)
}

func (u *ui) askCommand() {
	u.ask(prompt{label: ":", history: &u.histories.command, complete: u.completeCommand, enter: u.runCommand, check: u.checkCommand})
}

func findCommand(name string) *command {
	if name == "" {
		return nil
	}
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	var found *command
	for i := range commands { // an unambiguous beginning will do
		if strings.HasPrefix(commands[i].name, name) {
			if found != nil {
				return nil
			}
			found = &commands[i]
		}
	}
	return found
}

// rowNumber reads "123g" or "123".
func rowNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSuffix(s, "g"), ",", ""), 10, 64)
	return n, err == nil && n > 0
}

func (u *ui) checkCommand(text string) error {
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if _, ok := rowNumber(name); ok || name == "" || findCommand(name) != nil {
		return nil
	}
	for _, c := range commands {
		if strings.HasPrefix(c.name, name) {
			return nil
		}
	}
	return fmt.Errorf("no such command")
}

func (u *ui) runCommand(text string) {
	name, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	if n, ok := rowNumber(name); ok {
		u.jumpTo(n)
		return
	}
	c := findCommand(name)
	switch {
	case c != nil:
		c.run(u, strings.TrimSpace(arg))
	case name != "":
		u.warn("no command " + name + "; tab completes, ? helps")
	}
}

func (u *ui) jumpTo(n int64) {
	j, ok := u.top().(jumper)
	if !ok || !j.jump(u, n) {
		u.warn("no " + count(n) + " here")
	}
}

func (u *ui) completeCommand(text string) []string {
	name, arg, hasArg := strings.Cut(text, " ")
	var out []string
	if hasArg {
		c := findCommand(name)
		if c == nil || c.args == nil {
			return nil
		}
		for _, a := range c.args(u) {
			if strings.HasPrefix(a, arg) {
				out = append(out, name+" "+a)
			}
		}
		return out
	}
	for _, c := range commands {
		if strings.HasPrefix(c.name, name) {
			out = append(out, c.name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sortNames(u *ui) []string {
	s, ok := u.top().(sortable)
	if !ok {
		return nil
	}
	var out []string
	for _, c := range s.columnChoices(u) {
		out = append(out, c.label)
	}
	return out
}

func runSort(u *ui, arg string) {
	s, ok := u.top().(interface{ sortBy(title string) bool })
	if !ok || !s.sortBy(arg) {
		u.warn("no column " + arg)
	}
}

func runTheme(u *ui, arg string) {
	if err := checkTheme(arg); err != nil {
		u.warn(err.Error())
		return
	}
	u.theme, u.chosenTheme = newTheme(arg, u.host.screen()), arg
	u.say("theme " + u.theme.name)
}

func setNames(*ui) []string {
	out := []string{"pause=off", "pause=on", "window=all", "window=10s", "window=1min", "window=10min"}
	for _, t := range Themes() {
		out = append(out, "theme="+t)
	}
	return out
}

func runSet(u *ui, arg string) {
	name, value, _ := strings.Cut(strings.ReplaceAll(arg, " ", ""), "=")
	windows := map[string]int64{"all": 0, "10s": 10e9, "1min": 60e9, "10min": 600e9}
	ns, known := windows[value]
	switch {
	case name == "theme":
		runTheme(u, value)
	case name == "window" && known:
		u.window = window{rolling: ns}
	case name == "pause" && (value == "on" || value == "off"):
		if u.paused != (value == "on") {
			u.togglePause()
		}
	default:
		u.warn("set " + arg + ": not a setting; tab completes")
	}
}
