package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
)

func (a *app) explainCommand() *cobra.Command {
	var names []string
	for _, r := range analysis.Rules() {
		names = append(names, r.Name)
	}
	return &cobra.Command{
		Use:       "explain [RULE]",
		Short:     "say what a finding's rule means, and its thresholds",
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, r := range analysis.Rules() {
					fmt.Fprintf(a.stdout, "%-28s %-9s %s\n", r.Name, r.Severity, r.Title)
				}
				return nil
			}
			for _, r := range analysis.Rules() {
				if r.Name == args[0] {
					a.explain(r)
					return nil
				}
			}
			return exitf(exitUsage, "no rule %s; rdmascope explain lists them", args[0])
		},
	}
}

func (a *app) explain(r *analysis.Rule) {
	fmt.Fprintf(a.stdout, "%s  (%s)\n%s\n\n", r.Name, r.Severity, r.Title)
	wrap := func(label, text string) {
		fmt.Fprint(a.stdout, label)
		column := len(label)
		for _, word := range strings.Fields(text) {
			if column+1+len(word) > 96 {
				fmt.Fprintf(a.stdout, "\n%*s", len(label), "")
				column = len(label)
			}
			fmt.Fprint(a.stdout, " ", word)
			column += 1 + len(word)
		}
		fmt.Fprintln(a.stdout)
	}
	wrap("means", r.Meaning)
	wrap("next ", r.Advice)
	for _, t := range r.Thresholds {
		fmt.Fprintf(a.stdout, "\n  %s.%s = %s\n      %s\n", r.Name, t.Key, number(t.Default), t.Doc)
	}
	if len(r.Thresholds) > 0 {
		fmt.Fprintf(a.stdout, "\nset with --threshold %s.%s=NUMBER, or in the configuration file:\n  [rules.%q]\n  %s = NUMBER\n",
			r.Name, r.Thresholds[0].Key, r.Name, r.Thresholds[0].Key)
	}
}

func number(d analysis.Decimal) string { return strconv.FormatFloat(float64(d), 'f', -1, 64) }

const longConfig = `A flag wins over the environment (RDMASCOPE_LINK_SPEED and so on), that over the
configuration file named by --config, that over the one named by
RDMASCOPE_CONFIG, then $XDG_CONFIG_HOME/rdmascope/config.toml, then
/etc/rdmascope/config.toml. An unknown key is an error that names its line.

  timestamps = "auto"            # --timestamps
  link_speed = "100G"            # --link-speed
  port_map = "ports.toml"        # --port-map; relative to this file
  dscp_priority = "26=3,48=6"    # --dscp-priority

  [rules."pfc.storm"]            # --threshold pfc.storm.detect_ms=100,
  detect_ms = 100                # RDMASCOPE_PFC_STORM_DETECT_MS=100

rdmascope explain RULE says what each threshold means.`

func (a *app) configCommand() *cobra.Command {
	config := &cobra.Command{Use: "config", Short: "settings, and where they come from", Long: longConfig}
	var path string
	var thresholds []string
	show := &cobra.Command{
		Use:   "show",
		Short: "print every setting and threshold, and where its value comes from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, err := loadSettings(path, thresholds)
			if err != nil {
				return err
			}
			if err := a.showSettings(path); err != nil {
				return err
			}
			for _, r := range analysis.Rules() {
				for _, t := range r.Thresholds {
					v, from := t.Default, "default"
					if o, ok := set[r.Name+"."+t.Key]; ok {
						v, from = o.value, o.from
					}
					fmt.Fprintf(a.stdout, "%-44s %-12s %s\n", r.Name+"."+t.Key, number(v), from)
				}
			}
			return nil
		},
	}
	registerSettings(show, &path, &thresholds)
	config.AddCommand(show)
	return config
}

// showSettings prints what is no threshold, and the defaults in words.
func (a *app) showSettings(path string) error {
	for _, d := range [...]struct{ key, value string }{
		{"timestamps", "auto"}, {"link_speed", "unset"}, {"port_map", "unset"}, {"dscp_priority", "DSCP/8"},
	} {
		s, err := settingOf(d.key, "", path)
		if err != nil {
			return err
		}
		if s.text == "" {
			s.text, s.from = d.value, "default"
		}
		fmt.Fprintf(a.stdout, "%-44s %-12s %s\n", s.key, s.text, s.from)
	}
	return nil
}

func registerSettings(cmd *cobra.Command, path *string, thresholds *[]string) {
	cmd.Flags().StringVar(path, "config", "", "configuration `FILE` (TOML), beside the usual ones")
	cmd.Flags().StringArrayVar(thresholds, "threshold", nil, "`RULE.KEY=NUMBER` sets a rule's threshold (see explain)")
}
