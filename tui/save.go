package tui

import (
	"context"
	"fmt"
	"slices"
)

// askSave asks for the file that packets are written to.
func (u *ui) askSave() {
	s, ok := u.top().(saver)
	if !ok {
		u.say("no packets to save here")
		return
	}
	if u.opt.Saver == nil {
		u.say("saving packets is not available for this input")
		return
	}
	list, what := s.packetsToSave(u)
	if len(list) == 0 {
		u.say("no packets to save here")
		return
	}
	u.ask(prompt{label: "save " + what + " (" + plural(int64(len(list)), "packet") + ") to: ",
		text: []rune("packets.pcapng"), enter: u.saveTo})
}

// saveTo writes in the background; the result is told when it is there.
func (u *ui) saveTo(path string) {
	s, ok := u.top().(saver)
	if !ok || u.opt.Saver == nil {
		u.say("no packets to save here")
		return
	}
	list, _ := s.packetsToSave(u)
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 || path == "" {
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
