package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFieldsCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
		code int
	}{
		{nil, []string{"infiniband.bth.psn ", "flow.retransmitted_packets ", "finding.rule "}, exitOK},
		{[]string{"PSN"}, []string{"infiniband.bth.psn ", "flow.first_psn "}, exitOK},
		{[]string{"infiniband.aeth.*"}, []string{"infiniband.aeth.msn "}, exitOK},
		{[]string{"zzz"}, nil, exitUsage},
		{[]string{"[z"}, nil, exitUsage},
		{[]string{"a", "b"}, nil, exitUsage},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"fields"}, c.args...), strings.NewReader(""), &out, &errs)
		require.Equal(t, c.code, code, errs.String())
		for _, want := range c.want {
			assert.Contains(t, "\n"+out.String(), "\n"+want)
		}
		if c.code != exitOK {
			assert.Empty(t, out.String())
		}
		if len(c.args) == 1 && c.args[0] == "infiniband.aeth.*" {
			for line := range strings.Lines(out.String()) {
				assert.True(t, strings.HasPrefix(line, "infiniband.aeth."), line)
			}
		}
	}
}
