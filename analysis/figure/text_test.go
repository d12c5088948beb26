package figure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"eth0": "eth0", "a→b": "a→b", "\x1b[31mred": "[31mred", "a\tb\nc": "a b c", "\u202eevil": "evil", "bad\xff\x00": "bad", "": "",
		"\x1b[2J\x1b]0;owned\x07a\u202eb": "[2J]0;ownedab", "a\xff\u009bb\r\u2028": "ab", "µ → 漢": "µ → 漢",
	} {
		assert.Equal(t, want, Clean(s), "%q", s)
	}
}

func TestElide(t *testing.T) {
	assert.Equal(t, "10.0.0.1", Elide("10.0.0.1", 8))
	assert.Equal(t, "fe80…c0de", Elide("fe80::5054:ff:fe12:c0de", 9))
	assert.Equal(t, "漢…字", Elide("漢字漢字", 5), "wide characters take two columns")
	assert.Equal(t, "…", Elide("abc", 1))
	assert.Empty(t, Elide("abc", 0))
	for w := range 12 {
		assert.LessOrEqual(t, Columns(Elide(strings.Repeat("漢x", 9), w)), w)
	}
}

func TestPad(t *testing.T) {
	assert.Equal(t, "漢  ", Pad("漢", 4, false))
	assert.Equal(t, "  漢", Pad("漢", 4, true))
	assert.Equal(t, "long", Pad("long", 2, true))
}
