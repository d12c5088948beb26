package tui

import (
	"context"
	"fmt"
	"slices"
)

// packetChoice is packets worth saving, and what they are.
type packetChoice struct {
	what string
	list []int64
}

// askSave asks which packets, where there is a choice, and for the file that
// they are written to.
func (u *ui) askSave() {
	list := u.saveChoices()
	switch len(list) {
	case 0:
	case 1:
		u.askSavePath(list[0])
	default:
		var menuList []choice
		for _, c := range list {
			menuList = append(menuList, choice{label: c.what, value: plural(int64(len(c.list)), "packet"), do: func(u *ui) { u.askSavePath(c) }})
		}
		u.openMenu(menu{title: "save packets", list: menuList})
	}
}

// saveChoices are what the page offers; it says why when that is nothing.
func (u *ui) saveChoices() []packetChoice {
	s, ok := u.top().(saver)
	switch {
	case !ok:
		u.say("no packets to save here: p lists those of a connection or finding, w there saves them")
		return nil
	case u.opt.Saver == nil:
		u.warn("packets cannot be saved: " + orWhy(u.opt.WhyNoPacket))
		return nil
	}
	list := slices.DeleteFunc(s.packetsToSave(u), func(c packetChoice) bool { return len(c.list) == 0 })
	if len(list) == 0 {
		u.say("no packets to save here")
	}
	return list
}

func (u *ui) askSavePath(c packetChoice) {
	u.ask(prompt{label: "save " + c.what + " (" + plural(int64(len(c.list)), "packet") + ") to: ",
		text: []rune("packets.pcapng"), enter: func(path string) { u.savePackets(c, path) }})
}

// saveTo saves what the page offers first.
func (u *ui) saveTo(path string) {
	if list := u.saveChoices(); len(list) > 0 {
		u.savePackets(list[0], path)
	}
}

// savePackets writes in the background; the result is told when it is there.
func (u *ui) savePackets(c packetChoice, path string) {
	list := slices.Clone(c.list)
	slices.Sort(list)
	list = slices.Compact(list)
	if path = filePath(path); path == "" {
		u.say("nothing saved")
		return
	}
	u.say("writing " + path + " …")
	sv := u.opt.Saver
	u.background(func() func() {
		n, err := sv.Save(context.Background(), path, list)
		return func() {
			if err != nil {
				u.warn(fmt.Sprintf("%s: %v", path, err))
				return
			}
			u.say(plural(n, "packet") + " written to " + path)
		}
	})
}

// background runs work on its own goroutine and what it returns on the
// drawing one.
func (u *ui) background(work func() func()) {
	post := u.host.post
	restore := u.host.guard
	go func() {
		defer restore()
		if done := work(); done != nil {
			post(done)
		}
	}()
}
