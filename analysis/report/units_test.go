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

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, wrap("one two three", 7))
	assert.Equal(t, []string{"unbreakable", "x"}, wrap("unbreakable x", 3))
	assert.Empty(t, wrap("  ", 3))
}
