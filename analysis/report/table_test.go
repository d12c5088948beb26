package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func draw(t *testing.T, width int, tb *table) string {
	var b bytes.Buffer
	p := newPrinter(&b, Options{})
	p.width = width
	tb.write(p)
	require.NoError(t, p.flush())
	return b.String()
}

func sampleTable() *table {
	tb := &table{columns: []column{
		{title: "NAME", own: true}, {title: "N", right: true}, {title: "EARLY", early: true},
		{title: "TEXT", min: 4}, {title: "LATE", drop: 1}, {title: "NONE", right: true, note: "not asked for"}, {title: "VOID", note: "not asked for"},
	}}
	tb.add(text("a-long-name"), text("1"), text("e"), text("some text"), text("l"), text(unknown), text(unknown))
	tb.add(text("a-long-name"), text("1,000"), text("e"), text("x"), text("l"), text(unknown), text(unknown))
	return tb
}

func TestTableGivesWay(t *testing.T) {
	const missing = "– NONE, VOID: not asked for\n"
	assert.Equal(t, ""+
		"NAME             N  EARLY  TEXT       LATE\n"+
		"a-long-name      1  e      some text  l\n"+
		"a-long-name  1,000  e      x          l\n"+missing, draw(t, 80, sampleTable()), "all fits")
	assert.Equal(t, ""+
		"NAME             N  TEXT       LATE\n"+
		"a-long-name      1  some text  l\n"+
		"a-long-name  1,000  x          l\n"+missing, draw(t, 36, sampleTable()), "the early column goes")
	assert.Equal(t, ""+
		"      N  TEXT       LATE\n"+
		"a-long-name\n"+
		"      1  some text  l\n"+
		"  1,000  x          l\n"+missing, draw(t, 32, sampleTable()), "the name takes its own line, once")
	assert.Equal(t, ""+
		"      N  TEXT   LATE\n"+
		"a-long-name\n"+
		"      1  so…xt  l\n"+
		"  1,000  x      l\n"+
		"– NONE, VOID: not\n"+
		"asked for\n", draw(t, 20, sampleTable()), "text is elided")
	assert.NotContains(t, draw(t, 14, sampleTable()), "LATE")
}

func TestTableWithoutRowsIsNothing(t *testing.T) {
	assert.Empty(t, draw(t, 80, &table{columns: []column{{title: "A"}}}))
}

func TestTableWideRunes(t *testing.T) {
	tb := &table{columns: []column{{title: "A"}, {title: "B", right: true}}}
	tb.add(text("漢字"), text("1"))
	tb.add(text("abcd"), text("22"))
	assert.Equal(t, "A      B\n漢字   1\nabcd  22\n", draw(t, 80, tb))
}
