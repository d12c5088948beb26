package tui

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"rdmascope/analysis/figure"
)

const unknown = figure.Unknown

// clean drops what could steer a terminal or turn the reading direction:
// control bytes, escapes, format characters, invalid UTF-8.
func clean(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return strings.Map(func(r rune) rune {
				if r == '\t' || r == '\n' {
					return ' '
				}
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
func columns(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

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

// cut shortens a clean text to w columns from the end: for prose, of which
// the beginning says most.
func cut(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	runes := []rune(s)
	for keep := min(len(runes), w) - 1; keep > 0; keep-- {
		if short := string(runes[:keep]) + "…"; columns(short) <= w {
			return short
		}
	}
	return strings.Repeat("…", min(max(w, 0), 1))
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

// wrap breaks a clean text at spaces into lines of at most w columns; a word
// longer than a line is broken where the line ends.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && columns(line)+1+columns(word) <= w {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for columns(word) > w {
			head := takeColumns(word, w)
			lines = append(lines, head)
			word = word[len(head):]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// takeColumns gives the beginning of s that fits into w columns, at least
// one grapheme.
func takeColumns(s string, w int) string {
	n, used := 0, 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used += g.Width(); used > w && n > 0 {
			break
		}
		_, n = g.Positions()
	}
	return s[:n]
}
func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}
