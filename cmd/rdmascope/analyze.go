package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/analysis/report"
	"rdmascope/pcaps"
)

// analyzeFlags are the flags of `analyze`.
type analyzeFlags struct {
	inputFlags
	network     networkFlags
	output      string
	outputPath  string
	top         int
	connections string
	color       string
	progress    string
	quiet       bool
	strict      bool
	failOn      string
	workers     int
	config      string
	thresholds  []string
	filter      string
}

func (a *app) analyzeCommand() *cobra.Command {
	f := &analyzeFlags{}
	cmd := &cobra.Command{
		Use:   "analyze [flags] FILE…",
		Short: "analyse captures and print a report",
		Long:  longHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.analyze(f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "text", "`FORMAT` of the report: text or json")
	fl.StringVar(&f.progress, "progress", "auto", "progress on standard error: auto, none or plain")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no warnings on standard error")
	fl.BoolVar(&f.strict, "strict", false, "exit with 4 when an input is cut short or the recorder dropped packets")
	f.registerReport(cmd)
	fl.StringVarP(&f.filter, "display-filter", "Y", "", "analyse only packets that match this display `FILTER` (see fields)")
	return cmd
}

// registerReport registers the flags that say what is reported, and by which
// settings.
func (f *analyzeFlags) registerReport(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.outputPath, "output-path", "O", "", "write the report to `PATH` (renamed into place) instead of standard output")
	fl.IntVar(&f.top, "top", report.DefaultTop, "rows per table of the text report, 0 for all")
	fl.StringVar(&f.connections, "connections", "", "connections listed in the JSON: a `NUMBER` or all (default 10000, the worst)")
	fl.StringVar(&f.color, "color", "auto", "colours: auto, always or never")
	fl.StringVar(&f.failOn, "fail-on", "", "exit with 1 on a finding of this `SEVERITY` or worse: notice, warning or critical")
	fl.IntVar(&f.workers, "workers", 0, "goroutines that analyse, 0 for one a processor; the report is the same")
	f.network.register(cmd)
	registerSettings(cmd, &f.config, &f.thresholds)
}

// check finds fault with the flags before any file is opened.
func (f *analyzeFlags) check() error {
	if f.output != "text" && f.output != "json" {
		return exitf(exitUsage, "-o %s: the formats are text and json", f.output)
	}
	if !oneOf(f.color, "auto", "always", "never") {
		return exitf(exitUsage, "--color %s: auto, always or never", f.color)
	}
	if !oneOf(f.progress, "auto", "none", "plain") {
		return exitf(exitUsage, "--progress %s: auto, none or plain", f.progress)
	}
	if !oneOf(f.failOn, "", "notice", "warning", "critical") {
		return exitf(exitUsage, "--fail-on %s: notice, warning or critical", f.failOn)
	}
	if f.top < 0 {
		return exitf(exitUsage, "--top %d: not a number of rows", f.top)
	}
	return nil
}

func oneOf(s string, choices ...string) bool {
	for _, c := range choices {
		if s == c {
			return true
		}
	}
	return false
}

func (a *app) analyze(f *analyzeFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	connections, err := parseConnections(f.connections)
	if err != nil {
		return err
	}
	settings, err := loadSettings(f.config, f.thresholds)
	if err != nil {
		return err
	}
	opt := analysis.Options{Workers: f.workers, Decode: f.decodeConfig(), Settings: settingsOf(settings), Version: version, Filter: f.filter}
	if err := f.network.apply(&opt, f.config); err != nil {
		return err
	}
	files, err := a.open(&f.inputFlags, args)
	if err != nil {
		return err
	}
	defer files.Close()
	src, err := f.stamped(files, f.config)
	if err != nil {
		return err
	}
	if f.filter != "" {
		match, err := a.packetFilter(&f.inputFlags, f.filter, args)
		if err != nil {
			return err
		}
		src = filter.Source(src, match, opt.Decode)
	}
	snap, err := a.runEngine(f, files, src, opt)
	if err != nil {
		return err
	}
	if !f.quiet {
		a.warnInputs(snap)
		warnPortMap(a.stderr, f.network.mapped, opt.PortMap, snap)
	}
	ropt := report.Options{Top: f.top, Connections: connections}
	if err := a.writeReport(f, snap, ropt); err != nil {
		return err
	}
	return f.judge(snap)
}

// runEngine analyses with progress on standard error. The first interrupt
// stops reading and reports what was read; a second one ends the program.
func (a *app) runEngine(f *analyzeFlags, files *pcaps.Files, src analysis.Source, opt analysis.Options) (*analysis.Snapshot, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // gives the second one back its usual effect
	engine := newEngine(src, opt)
	done := a.startProgress(f, files, engine)
	snap, err := engine.Run(ctx)
	done()
	return snap, err
}

func (a *app) writeReport(f *analyzeFlags, snap *analysis.Snapshot, opt report.Options) error {
	write := func(w io.Writer) error {
		if f.output == "json" {
			return report.JSON(w, snap, opt)
		}
		return report.Text(w, snap, opt)
	}
	if f.outputPath != "" {
		opt.Color = f.color == "always"
		return writeFile(f.outputPath, func(file *os.File) error { return write(file) })
	}
	width, tty := terminal(a.stdout)
	opt.Width = width
	opt.Color = report.UseColor(f.color, tty, os.Getenv)
	opt.ASCII = tty && report.UseASCII(os.Getenv)
	w := bufio.NewWriter(a.stdout)
	if err := write(w); err != nil {
		return exitf(exitUsage, "writing the report: %v", err)
	}
	if err := w.Flush(); err != nil {
		return exitf(exitUsage, "writing the report: %v", err)
	}
	return nil
}

// warnInputs says on standard error what the report says too, for those who
// read only the exit code and the last lines.
func (a *app) warnInputs(snap *analysis.Snapshot) {
	for _, in := range snap.Inputs {
		if in.Error != "" {
			fmt.Fprintf(a.stderr, "rdmascope: warning: %s: %s; all before it analysed\n", in.Path, in.Error)
		}
	}
}

// judge turns what was found into an exit code.
func (f *analyzeFlags) judge(snap *analysis.Snapshot) error {
	if f.strict {
		for _, in := range snap.Inputs {
			if !in.Complete {
				return &exitError{code: exitIncomplete}
			}
		}
		if d := snap.Capture.KernelDroppedPackets; d != nil && *d > 0 {
			return &exitError{code: exitIncomplete}
		}
	}
	if f.failOn == "" {
		return nil
	}
	p := &snap.Protocols
	if p.RoCEv2.Packets+p.RoCEv1.Packets+p.InfiniBand.Packets+p.IWARP.Packets+p.PFC.Packets+p.Pause.Packets+p.CM.Packets == 0 {
		return exitf(exitNoRDMA, "no RoCE, iWARP or PFC in the capture: --fail-on has nothing to judge")
	}
	if snap.Verdict.Severity.Rank() >= analysis.Severity(f.failOn).Rank() {
		return &exitError{code: exitFindings}
	}
	return nil
}
