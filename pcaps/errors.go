package pcaps

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// UnreadableError says that an input holds nothing that can be analysed: it
// is missing, a directory, empty, or no capture of a format that is read.
// Its text is one line, and names the command that helps where there is one.
type UnreadableError struct {
	Path   string
	Reason string
	Err    error // what the system said, if it did
}

func (e *UnreadableError) Error() string { return displayName(e.Path) + ": " + e.Reason }

func (e *UnreadableError) Unwrap() error { return e.Err }

func unreadable(path, reason string) error { return &UnreadableError{Path: path, Reason: reason} }

func unreadableSystem(path string, err error) error {
	reason := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error() // without the path and the system call
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "no such file"
	case errors.Is(err, syscall.EISDIR):
		reason = "is a directory"
	}
	return &UnreadableError{Path: path, Reason: reason, Err: err}
}

// Stdin is the path that stands for standard input.
const Stdin = "-"

func displayName(path string) string {
	if path == Stdin {
		return "stdin"
	}
	return path
}

// shellName is path as a word of a shell command.
func shellName(path string) string {
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool {
		return r > 0x7e || r <= ' ' || strings.ContainsRune("\"'\\$`!*?[](){}<>|&;~#", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
