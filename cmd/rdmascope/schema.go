package main

import (
	"github.com/spf13/cobra"

	"rdmascope/analysis/report"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of analyze -o json",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(report.Schema())
			return err
		},
	}
}
