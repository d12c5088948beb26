package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/tui"
)

// choices are the values of flags that have few.
func choices() map[string][]string {
	severities := []string{"notice", "warning", "critical"}
	return map[string][]string{
		"color":      {"auto", "always", "never"},
		"fail-on":    severities,
		"like":       {analysis.LikeMLX5, analysis.LikeRXE, analysis.LikeBNXT},
		"output":     {"text", "json"},
		"progress":   {"auto", "plain", "none"},
		"theme":      tui.Themes(),
		"time":       {"r", "d", "dd", "a", "ad", "e"},
		"timestamps": {"auto", "capture", "trailer"},
		"trigger":    severities,
		"type":       {"text", "fields", "json"},
		"view":       {"overview", "findings", "flows", "pfc", "packets", "hosts"},
	}
}

// completeFlags lets the shell complete the values of all flags, of c and the
// commands below it, that have a list of them.
func completeFlags(c *cobra.Command) {
	of := choices()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		var how cobra.CompletionFunc
		switch list, few := of[f.Name]; {
		case f.Name == "field":
			how = completeFields
		case f.Name == "threshold":
			how = completeThresholds
		case f.Name == "output" && c.Name() == "live":
			how = cobra.FixedCompletions(append(list, "ndjson"), cobra.ShellCompDirectiveNoFileComp)
		case few:
			how = cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
		default:
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, how) // fails where there is one already
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}

// completeFields completes the name of a field, with what it means.
func completeFields(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, f := range filter.Fields() {
		if strings.HasPrefix(f.Name, begun) {
			list = append(list, cobra.CompletionWithDesc(f.Name, f.Doc))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeThresholds completes RULE.KEY=, with the default.
func completeThresholds(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, r := range analysis.Rules() {
		for _, t := range r.Thresholds {
			if name := r.Name + "." + t.Key + "="; strings.HasPrefix(name, begun) {
				list = append(list, cobra.CompletionWithDesc(name, t.Doc+"; usually "+number(t.Default)))
			}
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
