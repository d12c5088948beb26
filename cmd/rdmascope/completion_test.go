package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// completed is what the shell is offered for the last of args.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	r := runArgs(append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	require.Zero(t, r.code, r.errors)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return lines[:len(lines)-1] // the last one is a directive
}

// TestCompletion: the shell completes rules, fields, thresholds, and the values of
// flags that have few.
func TestCompletion(t *testing.T) {
	assert.Contains(t, completed(t, "explain", "pfc."), "pfc.storm")
	assert.Contains(t, completed(t, "fields", "infiniband.bth.d"), "infiniband.bth.destqp")
	assert.Contains(t, completed(t, "packets", "-e", "infiniband.bth.d"), "infiniband.bth.destqp")
	assert.Contains(t, completed(t, "analyze", "--threshold", "pfc.storm.d"), "pfc.storm.detect_ms=")
	assert.Equal(t, []string{"text", "json"}, completed(t, "analyze", "-o", ""))
	assert.Equal(t, []string{"text", "json", "ndjson"}, completed(t, "live", "-o", ""))
	assert.Equal(t, []string{"auto", "capture", "trailer"}, completed(t, "packets", "--timestamps", ""))
	assert.Equal(t, []string{"overview", "findings", "flows", "pfc", "packets", "hosts"}, completed(t, "tui", "--view", ""))
}

// TestChoicesAreTaken: each value that is offered is one that the flag takes, and
// each list belongs to a flag.
func TestChoicesAreTaken(t *testing.T) {
	capture := testdata("rxe_cm_reject_app.pcap")
	for name, list := range choices() {
		var commands []string
		for _, c := range (&app{}).root().Commands() {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Name == name && !slices.Contains([]string{"live", "tui"}, c.Name()) {
					commands = append(commands, c.Name())
				}
			})
		}
		if slices.Contains([]string{"theme", "view", "trigger"}, name) {
			require.Empty(t, commands) // of the terminal and of live captures, tested there
			continue
		}
		require.NotEmpty(t, commands, name)
		for _, c := range commands {
			for _, v := range list {
				args := []string{c, "--" + name, v, capture}
				if v == "fields" {
					args = append(args, "-e", "frame.number")
				}
				r := runArgs(args...)
				assert.NotEqual(t, exitUsage, r.code, "%s --%s %s: %s", c, name, v, r.errors)
			}
		}
	}
}
