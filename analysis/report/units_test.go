package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClock(t *testing.T) {
	assert.Equal(t, "10:15:02.113000", clock(t0, t0))
	assert.Equal(t, "2026-03-04 10:15:02.113000", clock(t0, 0))
	assert.Equal(t, "2026-03-05 10:15:02.113000", clock(t0+86_400_000_000_000, t0))
	assert.Equal(t, "–", clock(0, t0))
}

func TestClean(t *testing.T) {
	assert.Equal(t, "eth0", clean("eth0"))
	assert.Equal(t, "[2J]0;ownedab", clean("\x1b[2J\x1b]0;owned\x07a\u202eb"))
	assert.Equal(t, "ab", clean("a\xff\u009bb\r\n\t\u2028"))
	assert.Equal(t, "µ → 漢", clean("µ → 漢"))
}

func TestElide(t *testing.T) {
	assert.Equal(t, "abcdef", elide("abcdef", 6))
	assert.Equal(t, "ab…ef", elide("abcdef", 5))
	assert.Equal(t, "…", elide("abcdef", 1))
	assert.Equal(t, "", elide("abcdef", 0))
	for w := range 12 {
		assert.LessOrEqual(t, columns(elide("漢字漢字漢字", w)), w)
	}
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 7))
	assert.Equal(t, []string{"unbreakable", "x"}, wrap("unbreakable x", 3))
	assert.Empty(t, wrap("  ", 3))
}
