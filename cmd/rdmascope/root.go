package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

const longHelp = `rdmascope reads captures of RDMA over Ethernet and says what is wrong:
RoCEv2, RoCEv1 and native InfiniBand transport, iWARP, 802.1Qbb PFC.

  rdmascope FILE…                 report (same as rdmascope analyze FILE…)
  ssh tor3 tcpdump -U -w - -i eth7 | rdmascope -

Captures are pcap, pcapng or ERF, also compressed with gzip or zstd. Exit codes:
0 analysed; 1 finding at or above --fail-on; 2 usage, filter or configuration;
3 nothing that can be analysed; 4 with --strict, input cut short or packets
dropped; 5 --fail-on given but no RDMA in the capture; 6 capture could not
start; 70 internal error; 130 interrupted before there was a result.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "rdmascope",
		Short:         "packet-capture analyser for RDMA over Ethernet",
		Long:          longHelp,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(a.stderr) // standard output carries only results
			_ = cmd.Help()
			return &exitError{code: exitUsage}
		},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetVersionTemplate("rdmascope {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exitf(exitUsage, "%v (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(a.analyzeCommand(), a.liveCommand(), a.tuiCommand(), a.packetsCommand(), a.countersCommand(), a.fieldsCommand(), a.schemaCommand(), a.explainCommand(), a.configCommand(), a.manCommand())
	completeFlags(root)
	return root
}

// withDefaultCommand turns `rdmascope FILE` into `rdmascope analyze FILE`:
// what doesn't name a command and isn't a flag of the root is a capture.
func withDefaultCommand(root *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return args
	}
	switch args[0] {
	case "-h", "--help", "--version", "-v", "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return args
	}
	for _, c := range root.Commands() {
		if c.Name() == args[0] || c.HasAlias(args[0]) {
			return args
		}
	}
	return append([]string{"analyze"}, args...)
}

// terminal tells whether w is a terminal, and how wide.
func terminal(w any) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return width, true
}
