package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// printed is the filter in a line that the text report gives to copy.
var printed = regexp.MustCompile(`-Y (?:'([^']*)'|([^' \n]+)\n)`)

// wanted is a filter that a report prints, and packets that it must select.
type wanted struct {
	filter, where string
	packets       []int64
}

// TestPrintedFilters runs every display filter that any report over the corpus
// prints through tshark: each must be understood, select something, and select
// the packets that the finding names.
func TestPrintedFilters(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: the printed filters are not tried")
	}
	if out, _ := exec.Command(tshark, "--version").CombinedOutput(); !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "with Lua") {
		t.Skip("this tshark is built without Lua, by which one run tries all filters of a capture")
	}
	free := make(chan struct{}, runtime.NumCPU())
	for _, path := range corpus(t) {
		filters := printedFilters(t, path)
		if len(filters) == 0 {
			continue
		}
		t.Run(captureName(path), func(t *testing.T) {
			t.Parallel()
			free <- struct{}{}
			selected := selectedBy(t, tshark, path, filters)
			<-free
			for i, w := range filters {
				assert.NotEmpty(t, selected[i], "%s: %s selects nothing", w.where, w.filter)
				for _, n := range w.packets {
					assert.True(t, selected[i][n], "%s: packet %d is not selected by %s", w.where, n, w.filter)
				}
			}
		})
	}
}

// printedFilters gathers the filters of the JSON and of the text report.
func printedFilters(t *testing.T, path string) []wanted {
	var list []wanted
	s := decoded(t, runArgs(append([]string{"analyze", "-o", "json", path}, speedFlags(path)...)...))
	known := map[string]bool{}
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Filters.Wireshark == "" {
			assert.Contains(t, []string{"capture", "input"}, f.Subject.Kind, "%s of %s has no filter", f.Rule, path)
			continue
		}
		known[string(f.Filters.Wireshark)] = true
		packets := f.Packets
		for _, n := range []*int64{f.FirstPacket, f.LastPacket} {
			if n != nil {
				packets = append(packets, *n)
			}
		}
		list = append(list, wanted{string(f.Filters.Wireshark), f.ID + " " + f.Rule, packets})
	}
	text := runArgs(append([]string{"analyze", "--top", "0", path}, speedFlags(path)...)...).out
	lines := printed.FindAllStringSubmatch(text, -1)
	assert.Equal(t, strings.Count(text, "-Y "), len(lines), "a filter in a form that this test doesn't read")
	for _, m := range lines {
		filter := m[1] + m[2]
		if !known[filter] {
			known[filter] = true
			list = append(list, wanted{filter, "text report", nil})
		}
	}
	return list
}

// selectedBy gives the packets that each filter selects. A Lua listener a
// filter makes one run of tshark do for all filters of a capture.
func selectedBy(t *testing.T, tshark, path string, filters []wanted) []map[int64]bool {
	var script strings.Builder
	script.WriteString(`local function try(i, filter)
  local ok, tap = pcall(Listener.new, nil, filter)
  if not ok then print("error", i, tap) return end
  function tap.packet(pinfo) print("packet", i, pinfo.number) end
end
`)
	for i, w := range filters {
		fmt.Fprintf(&script, "try(%d, [==[%s]==])\n", i, w.filter)
	}
	file := filepath.Join(t.TempDir(), "filters.lua")
	require.NoError(t, os.WriteFile(file, []byte(script.String()), 0o600))
	cmd := exec.Command(tshark, "-n", "-q", "-X", "lua_script:"+file, "-r", path)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, errors.String())
	require.NotContains(t, errors.String(), "Lua:", "the script failed")
	selected := make([]map[int64]bool, len(filters))
	for i := range selected {
		selected[i] = map[int64]bool{}
	}
	for line := range strings.Lines(string(out)) {
		cells := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		require.Len(t, cells, 3, line)
		i, err := strconv.Atoi(cells[1])
		require.NoError(t, err)
		if cells[0] == "error" {
			assert.Fail(t, "tshark refuses a filter", "%s: %s: %s", filters[i].where, filters[i].filter, cells[2])
			continue
		}
		n, err := strconv.ParseInt(cells[2], 10, 64)
		require.NoError(t, err)
		selected[i][n] = true
	}
	return selected
}
