//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSelf stops the process as the shell's job control expects it: the
// whole group, with SIGTSTP's default action.
func stopSelf() {
	signal.Reset(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
}

// endSignals end the browser with the terminal restored.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// stopSignal asks for suspension from outside.
var stopSignal os.Signal = syscall.SIGTSTP
