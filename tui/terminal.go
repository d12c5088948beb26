package tui

import (
	"errors"
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"
)

// errNoTerminal says what is missing; keys come from /dev/tty, so that a
// capture may come through standard input.
var errNoTerminal = errors.New("no terminal to draw on")

// openScreen opens the controlling terminal for keys and drawing.
func openScreen() (tcell.Screen, error) {
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	s, err := tcell.NewTerminfoScreenFromTty(tty)
	if err != nil {
		_ = tty.Close()
		return nil, fmt.Errorf("%w (TERM=%s): %w", errNoTerminal, os.Getenv("TERM"), err)
	}
	return s, nil
}
