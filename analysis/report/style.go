package report

import (
	"strings"

	"rdmascope/analysis"
)

// style is a meaning, not a colour; colour never stands without a glyph and
// a word.
type style uint8

const (
	plain style = iota
	heading
	faint
	good
	notice
	warning
	critical
)

// ansi are the 16 colours that every terminal lets its owner tune.
var ansi = [...]string{
	plain:    "",
	heading:  "\x1b[1m",
	faint:    "\x1b[2m",
	good:     "\x1b[32m",
	notice:   "\x1b[36m",
	warning:  "\x1b[1;33m",
	critical: "\x1b[1;31m",
}

const ansiReset = "\x1b[0m"

// UseColor decides on colours from the flag --color (auto, always, never),
// from whether the output is a terminal, and from the environment: NO_COLOR
// (no-color.org) and TERM=dumb count only under auto.
func UseColor(mode string, terminal bool, getenv func(string) string) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// severityLook gives glyph and word of a severity.
func severityLook(s analysis.Severity) (style, string) {
	switch s {
	case analysis.SeverityCritical:
		return critical, "✖ CRITICAL"
	case analysis.SeverityWarning:
		return warning, "▲ WARNING"
	case analysis.SeverityNotice:
		return notice, "● NOTICE"
	case analysis.SeverityOK:
		return good, "✔ OK"
	}
	return plain, "? UNKNOWN"
}

// span is a piece of text of one style.
type span struct {
	style style
	text  string
}

// wrap breaks a clean text into lines of at most w columns at spaces; a word
// longer than that keeps its own line whole, since a cut word helps nobody.
func wrap(s string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= w:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
