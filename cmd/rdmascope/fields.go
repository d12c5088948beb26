package main

import (
	"bufio"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"rdmascope/analysis/filter"
)

const fieldsHelp = `Lists the names that filters know: of packets for -Y and -e, of flows for the
filters of the terminal. PATTERN is a part of the name or of its meaning, in
small or capital letters, or a name with * and ?.

  rdmascope fields psn
  rdmascope fields 'infiniband.aeth.*'

Filters are written as in Wireshark:

  ip.addr == 10.0.0.0/8 && infiniband.bth.opcode in {10, 12..17}
  udp.length - 8 > 1024 or len(infiniband.payload) % 4 != 0
  eth.src[0:3] == 52:54:00 and max(udp.port) > 60000
  flow.retransmitted_packets * 100 > flow.packets

Operators: == != > < >= <= === !== in contains matches, + - * / % &, grouped by
{} or (), [offset:length] [first-last] [offset:] [:length]; any and all in front
of a comparison; not and xor or. Functions: abs count len lower max min string
upper.`

func (a *app) fieldsCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "fields [PATTERN]",
		Short:             "list the fields that filters know",
		Long:              fieldsHelp,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			pattern := ""
			if len(args) > 0 {
				pattern = args[0]
			}
			return a.fields(pattern)
		},
	}
}

func (a *app) fields(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return exitf(exitUsage, "%q is no pattern: %v", pattern, err)
	}
	var list []filter.Field
	wide := 0
	for _, f := range filter.Fields() {
		if fieldMatches(pattern, f) {
			list = append(list, f)
			wide = max(wide, len(f.Name))
		}
	}
	if len(list) == 0 {
		return exitf(exitUsage, "no field with %q in its name or meaning", pattern)
	}
	w := bufio.NewWriter(a.stdout)
	for _, f := range list {
		scope := "packet"
		if f.Scope == filter.ScopeFlow {
			scope = "flow"
		}
		fmt.Fprintf(w, "%-*s  %-6s  %-18s  %s\n", wide, f.Name, scope, f.Type, f.Doc)
	}
	if err := w.Flush(); err != nil {
		return outputError(err)
	}
	return nil
}

func fieldMatches(pattern string, f filter.Field) bool {
	if strings.ContainsAny(pattern, "*?[") {
		ok, _ := path.Match(pattern, f.Name) // its syntax was checked
		return ok
	}
	p := strings.ToLower(pattern)
	return strings.Contains(strings.ToLower(f.Name), p) || strings.Contains(strings.ToLower(f.Doc), p)
}
