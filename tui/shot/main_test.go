package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShoot(t *testing.T) {
	var b strings.Builder
	require.NoError(t, shoot(strings.NewReader("a \x1b[1;31m<red>\x1b[0m b\n\x1b[38;5;196mx\x1b[48;2;1;2;3my\x1b[m\n"), &b))
	svg := b.String()
	assert.Contains(t, svg, `fill="#cc6666" font-weight="bold">&lt;red&gt;</text>`)
	assert.Contains(t, svg, `fill="#ff0000">x</text>`)
	assert.Contains(t, svg, `fill="#010203"/>`)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOddEscapes(t *testing.T) {
	for _, s := range []string{"\x1b[", "\x1b[38m", "\x1b[38;5m", "\x1b[38;2;1m", "\x1b[9;9;99m", "\x1b[xm", "\x1b[38;5;999m"} {
		var b strings.Builder
		require.NoError(t, shoot(strings.NewReader(s+"z"), &b), "%q", s)
	}
}
