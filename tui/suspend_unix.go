//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// stopSelf stops the process as the shell's job control expects it, and
// returns when the shell has continued it: the whole group, so that in
// "tcpdump | rdmascope tui -" both stop.
//
// It takes SIGSTOP, since Go's runtime keeps its handler of a SIGTSTP that
// was ever asked for, and drops the signal. And it waits for SIGCONT: kill
// may return before another thread has begun the stop, and what then sets up
// the terminal is undone by the shell.
func stopSelf() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-continued
	}
}

// canStop tells whether there is a shell that could continue us. A program
// that is its session's first has nobody, and SIGSTOP, unlike SIGTSTP, would
// stop it all the same, for ever.
func canStop() bool {
	parent := os.Getppid()
	ours, err := unix.Getsid(0)
	if err != nil || ours == os.Getpid() {
		return false
	}
	theirs, err := unix.Getsid(parent)
	if err != nil || theirs != ours {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && (group != unix.Getpgrp() || parent != ours)
}

// endSignals end the browser with the terminal restored.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// stopSignal asks for suspension from outside.
var stopSignal os.Signal = syscall.SIGTSTP
