package tui

import (
	"strings"

	"github.com/rivo/uniseg"

	"rdmascope/analysis/figure"
)

const unknown = figure.Unknown

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
