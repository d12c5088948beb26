package figure

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Clean drops what could steer a terminal or turn the reading direction:
// control bytes, escapes, format characters, invalid UTF-8.
func Clean(s string) string {
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

// Columns is how many terminal columns a clean text takes.
func Columns(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Elide shortens a clean text to w columns; the middle goes, because both
// ends of addresses and names tell them apart.
func Elide(s string, w int) string {
	if Columns(s) <= w {
		return s
	}
	if w <= 1 {
		return strings.Repeat("…", max(w, 0))
	}
	runes := []rune(s)
	for keep := min(len(runes), w) - 1; keep > 0; keep-- {
		head := (keep + 1) / 2
		short := string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
		if Columns(short) <= w {
			return short
		}
	}
	return "…"
}

// Pad fills a clean text up to w columns.
func Pad(s string, w int, right bool) string {
	n := w - Columns(s)
	if n <= 0 {
		return s
	}
	if right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}
