package tui

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exported gives a page's table as CSV.
func (st *stage) exported() [][]string {
	st.t.Helper()
	data, _, err := st.exportData(".csv")
	require.NoError(st.t, err)
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	require.NoError(st.t, err)
	return rows
}

// TestExportIsWhatIsShown: the columns of the screen in their order, its rows
// in their order, filtered and sorted as they are, none more and none less.
func TestExportIsWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []key
		head string // a title by which the table's first line is found
	}{
		{"findings", []key{"1"}, "WHAT"},
		{"findings sorted", []key{"1", "l", "l", "l", "s"}, "WHAT"},
		{"flows", []key{"2"}, "QPs A"},
		{"flows sorted", []key{"2", ">", ">", ">", ">", ">", "S"}, "QPs A"},
		{"flows without a column", []key{"2", "c", "j", "j", "enter", "esc"}, "RESENT"},
		{"events", []key{"2", "enter"}, "EVENT"},
		{"packets", []key{"4", "\\"}, "Info"},
		{"overview", nil, "RULE"},
		{"overview, connections", []key{"tab", "tab"}, "QPs A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := fullStage(t)
			st.press(c.keys...)
			lines := st.draw()
			top := 0
			for i, l := range lines {
				if strings.Contains(l, c.head) {
					top = i
					break
				}
			}
			require.NotZero(t, top)
			rows := st.exported()
			assert.Equal(t, strings.Fields(strings.NewReplacer("▲", "", "▼", "").Replace(lines[top])), strings.Fields(strings.Join(rows[0], " ")))
			for i, row := range rows[1:] {
				if top+1+i >= len(lines) || strings.HasPrefix(lines[top+1+i], "──") {
					break // beyond what the screen holds
				}
				for k, text := range row {
					text = strings.TrimPrefix(text, "'")
					if !strings.Contains(lines[top+1+i], "…") {
						assert.Contains(t, lines[top+1+i], text, "row %d, %s", i, rows[0][k])
					}
				}
			}
		})
	}
}

func TestExportFollowsTheFilter(t *testing.T) {
	st := fullStage(t)
	st.press("2", "f")
	st.types("resent")
	st.press("enter")
	assert.Len(t, st.exported(), 1+1)
	st.press("4", "f")
	st.types("nak")
	st.press("enter")
	p := st.top().(*packetsPage)
	st.settle(func() bool { return p.scan.done })
	assert.Len(t, st.exported(), 1+len(p.list.list))
}

// TestExportOfEachPane: a plot gives its points, a histogram its buckets.
func TestExportOfEachPane(t *testing.T) {
	st := fullStage(t)
	st.press("tab")
	rows := st.exported()
	assert.Equal(t, "time", rows[0][0])
	assert.Len(t, rows[0], 1+len(st.opt.Details.Timeline(st.snap).Series))
	st.press("2", "enter")
	p := st.top().(*connPage)
	require.NotNil(t, p.detail)
	seen := map[string]int{}
	for range connPanes {
		rows := st.exported()
		seen[strings.Join(rows[0], ",")] = len(rows) - 1
		st.press("tab")
	}
	points := 0
	for i := range p.detail.Points {
		if p.detail.Points[i].Flow == p.plot.flow {
			points++
		}
	}
	assert.Equal(t, points, seen["time,packet,PSN,kind"])
	assert.Equal(t, len(p.histogram().Buckets), seen["from_ns,to_ns,count"])
	assert.Contains(t, seen, "numbers")
	assert.Contains(t, seen, "TIME,EVENT,PACKET")
}

// TestExportPictureIsTheScreen: SVG and text hold every word of the page.
func TestExportPictureIsTheScreen(t *testing.T) {
	for v := range viewNames {
		st := fullStage(t)
		st.press(key('0' + rune(v)))
		want := st.text()
		svg, _, err := st.exportData(".svg")
		require.NoError(t, err)
		text, _, err := st.exportData(".txt")
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		all := ""
		for _, m := range regexp.MustCompile(`>([^<>]*)</text>`).FindAllStringSubmatch(string(svg), -1) {
			all += html.UnescapeString(m[1])
		}
		all = strings.ReplaceAll(all, " ", "")
		for _, word := range strings.Fields(want) {
			if !strings.ContainsAny(word, "─│└▸⣀░▒▓█▁▂▃▄▅▆▇") {
				assert.True(t, strings.Contains(all, word), "%s on %s", word, viewNames[v])
			}
		}
	}
}

// TestExportJSON: numbers are what was shown, and what is unknown is null.
func TestExportJSON(t *testing.T) {
	st := fullStage(t)
	st.press("2")
	data, _, err := st.exportData(".json")
	require.NoError(t, err)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(data, &rows))
	csvRows := st.exported()
	require.Len(t, rows, len(csvRows)-1)
	for i, row := range rows {
		for k, title := range csvRows[0] {
			want := any(csvRows[i+1][k])
			if want == unknown {
				want = nil
			}
			assert.Equal(t, want, row[title])
		}
	}
}
