package main

import (
	"github.com/spf13/cobra"
)

func (a *app) packetsCommand() *cobra.Command {
	return &cobra.Command{Use: "packets"}
}
