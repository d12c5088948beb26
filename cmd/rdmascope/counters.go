package main

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
)

// countersFlags are the flags of `counters`.
type countersFlags struct {
	inputFlags
	like    string
	against []string
	host    string
	device  string
	network networkFlags
	color   string
}

func (a *app) countersCommand() *cobra.Command {
	f := &countersFlags{}
	cmd := &cobra.Command{
		Use:   "counters [flags] FILE…",
		Short: "print what a NIC's counters would show",
		Long: `Prints, for every host of a capture, what its NIC's counters would show, in the
layout of ethtool -S.

With --against BEFORE,AFTER it reads two snapshots of a real NIC's counters
(rdma statistic show link, the kernel's hw_counters files, ethtool -S) and holds
what was counted between them against what passed the tap, with the reason why
the two differ.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.counters(f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.like, "like", analysis.LikeMLX5, "names as of this `DRIVER`: mlx5, rxe or bnxt")
	fl.StringSliceVar(&f.against, "against", nil, "hold two snapshots of counters, `BEFORE,AFTER`, against the capture")
	fl.StringVar(&f.host, "host", "", "the host with this `IP` address only (--against needs it where there are several)")
	fl.StringVar(&f.device, "device", "", "`NAME` of the RDMA device, where a snapshot holds several")
	f.network.register(cmd)
	fl.StringVar(&f.color, "color", "auto", "colours: auto, always or never")
	return cmd
}

func (f *countersFlags) check() error {
	if !oneOf(f.like, analysis.LikeMLX5, analysis.LikeRXE, analysis.LikeBNXT) {
		return exitf(exitUsage, "--like %s: mlx5, rxe or bnxt", f.like)
	}
	if !oneOf(f.color, "auto", "always", "never") {
		return exitf(exitUsage, "--color %s: auto, always or never", f.color)
	}
	if len(f.against) != 0 && len(f.against) != 2 {
		return exitf(exitUsage, "--against needs two files: BEFORE,AFTER")
	}
	return nil
}

func (a *app) counters(f *countersFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opt := analysis.Options{Decode: f.decodeConfig(), Version: version}
	if err := f.network.apply(&opt, ""); err != nil {
		return err
	}
	var snapshots []analysis.NICSnapshot
	for _, path := range f.against { // before the capture, which may take long
		s, err := readCounters(path, f.device)
		if err != nil {
			return err
		}
		snapshots = append(snapshots, s)
	}
	files, err := a.open(&f.inputFlags, args)
	if err != nil {
		return err
	}
	defer files.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	src, err := f.stamped(files, "")
	if err != nil {
		return err
	}
	snap, err := newEngine(src, opt).Run(ctx)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupt}
	}
	a.warnInputs(snap)
	return a.writeCounters(f, snap, snapshots)
}

func (a *app) writeCounters(f *countersFlags, snap *analysis.Snapshot, snapshots []analysis.NICSnapshot) error {
	h, err := f.pick(snap, len(snapshots) > 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.stdout)
	if len(snapshots) == 0 {
		err = report.Counters(w, snap, f.like, f.host)
	} else {
		width, tty := terminal(a.stdout)
		opt := report.Options{Width: width, Color: report.UseColor(f.color, tty, os.Getenv)}
		lines := snap.CompareCounters(h, snapshots[0].Counters, snapshots[1].Counters)
		err = report.CountersAgainst(w, strings.TrimSpace(h.IP+" "+snapshots[1].Device), lines, opt)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return exitf(exitUsage, "writing the counters: %v", err)
	}
	return nil
}

// pick finds the host that was named; one is enough only where it is wanted.
func (f *countersFlags) pick(snap *analysis.Snapshot, one bool) (*analysis.Host, error) {
	var names []string
	for i := range snap.Hosts {
		if snap.Hosts[i].IP == f.host {
			return &snap.Hosts[i], nil
		}
		names = append(names, snap.Hosts[i].IP)
	}
	switch {
	case len(names) == 0:
		return nil, exitf(exitUnreadable, "no RDMA in the capture, so no host to tell counters of")
	case f.host != "":
		return nil, exitf(exitUsage, "--host %s: not in the capture, which has %s", f.host, strings.Join(names, ", "))
	case one && len(names) > 1:
		return nil, exitf(exitUsage, "whose counters are these? --host is one of %s", strings.Join(names, ", "))
	}
	return &snap.Hosts[0], nil
}

func readCounters(path, device string) (analysis.NICSnapshot, error) {
	file, err := os.Open(path)
	if err != nil {
		return analysis.NICSnapshot{}, exitf(exitUsage, "--against: %v", err)
	}
	defer file.Close()
	s, err := analysis.ReadNICCounters(file, device)
	if err != nil {
		return s, exitf(exitUsage, "--against %s: %v", path, err)
	}
	return s, nil
}
