//go:build !unix

package tui

import "os"

// stopSelf does nothing where there is no job control.
func stopSelf() {}

func canStop() bool { return false }

// endSignals end the browser with the terminal restored.
var endSignals = []os.Signal{os.Interrupt}

// stopSignal is nil where there is no job control.
var stopSignal os.Signal
