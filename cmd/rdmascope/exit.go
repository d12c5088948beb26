package main

import (
	"errors"
	"fmt"

	"rdmascope/pcaps"
)

// Exit codes. Trouble with the run outranks what was found: a script that
// asks for findings must not take an unreadable or empty capture for a clean
// one.
const (
	exitOK         = 0
	exitFindings   = 1 // --fail-on: a finding at or above it
	exitUsage      = 2 // command line, filter or configuration
	exitUnreadable = 3 // nothing that can be analysed
	exitIncomplete = 4 // --strict: cut short, or packets were dropped
	exitNoRDMA     = 5 // --fail-on: no RoCE, iWARP or PFC to judge
	exitCapture    = 6 // a live capture could not start
	exitBug        = 70
	exitInterrupt  = 130 // stopped before there was a result
)

// exitError carries the exit code of a failure. An empty text prints nothing:
// what there is to say was said already.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func exitf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Sprintf(format, args...)}
}

// code prints err, if any, and turns it into the exit code.
func (a *app) code(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitUsage
	var exit *exitError
	var unreadable *pcaps.UnreadableError
	switch {
	case errors.As(err, &exit):
		code = exit.code
	case errors.As(err, &unreadable):
		code = exitUnreadable
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(a.stderr, "rdmascope: "+text)
	}
	return code
}
