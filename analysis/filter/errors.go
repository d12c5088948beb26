package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a fault in a filter, and where it is.
type Error struct {
	Expr     string // the whole filter
	Pos, Len int    // the octets of it that are at fault
	Msg      string // what is wrong, one line
	Hint     string // what may have been meant, or ""
}

// Error is the message, then the filter with the fault underlined:
//
//	no field infiniband.bth.pns
//	    infiniband.bth.pns == 5
//	    ^^^^^^^^^^^^^^^^^^     did you mean infiniband.bth.psn?
func (e *Error) Error() string {
	before, width := e.Column()
	line := printable(e.Expr)
	s := e.Msg + "\n    " + line + "\n    " + strings.Repeat(" ", before) + strings.Repeat("^", width)
	if e.Hint == "" {
		return s
	}
	gap := max(5, utf8.RuneCountInString(line)-before-width)
	if gap > 40 {
		gap = 5
	}
	return s + strings.Repeat(" ", gap) + e.Hint
}

// Column is the place of the fault in characters, and how many it has.
func (e *Error) Column() (before, width int) {
	from := min(max(e.Pos, 0), len(e.Expr))
	to := min(from+max(e.Len, 0), len(e.Expr))
	return utf8.RuneCountInString(e.Expr[:from]), max(1, utf8.RuneCountInString(e.Expr[from:to]))
}

// printable replaces what would move the cursor: a filter may have been pasted
// from anywhere, and the caret line counts characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

// nearest is the name that differs least from what was written, "" when none is
// near enough to be meant.
func nearest(written string, names []string) string {
	best, least := "", len(written)/3+1
	for _, name := range names {
		if abs(len(name)-len(written)) > least {
			continue
		}
		if d := distance(written, name, least); d < least || d == least && (best == "" || name < best) {
			best, least = name, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// distance is Levenshtein's, of which only values up to limit matter, with one
// addition: two neighbours swapped, the commonest slip, are one step.
func distance(a, b string, limit int) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
