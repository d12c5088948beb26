package report

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

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

// clean drops what could steer a terminal or turn the reading direction:
// control bytes, escapes, format characters, invalid UTF-8.
func clean(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return strings.Map(func(r rune) rune {
				if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
					return -1
				}
				return r
			}, s)
		}
	}
	return s
}

// columns is how many terminal columns a clean text takes.
func columns(s string) int { return uniseg.StringWidth(s) }

// elide shortens a clean text to w columns; the middle goes, because both
// ends of addresses and names tell them apart.
func elide(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	if w <= 1 {
		return strings.Repeat("…", max(w, 0))
	}
	runes := []rune(s)
	for keep := min(len(runes), w) - 1; keep > 0; keep-- {
		head := (keep + 1) / 2
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if columns(short) <= w {
			return short
		}
	}
	return "…"
}

// pad fills a clean text up to w columns.
func pad(s string, w int, right bool) string {
	n := w - columns(s)
	if n <= 0 {
		return s
	}
	if right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
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
