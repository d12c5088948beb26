//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// statusAsked tells of each SIGUSR1 until stop is called.
func statusAsked() (asked <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}
