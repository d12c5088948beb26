package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
	"rdmascope/pcaps/live"
)

// liveFlags are the flags of `live`: those of a report, and what is captured,
// kept and told meanwhile.
type liveFlags struct {
	analyzeFlags
	ifaces         []string
	filter         string
	snapLen        int
	bufferMiB      int
	rings          int
	hardware       bool
	notPromisc     bool
	autostop       []string
	count          int64
	every          time.Duration
	listen         string
	write          string
	writeRing      []string
	trigger        triggerOptions
	idle           time.Duration
	maxConnections int
	stopAfter      time.Duration // of autostop
	stopPackets    int64         // of autostop and count, -1 without limit
}

const longLive = `live captures on interfaces and analyses while it captures. Ctrl-C (or -a, -c)
ends the capture and prints the report; a second Ctrl-C ends the program.

  rdmascope live -i eth7
  rdmascope live -i eth7 -i eth8 --listen :9477 --trigger critical
  rdmascope live -i eth7 -w ring.pcapng -b filesize:1000000 -b files:20
  ssh tor3 tcpdump -U -w - -i eth7 | rdmascope live -r -

-f names what the kernel lets pass: rdma (RoCE, TCP, pauses, LLDP), roce, iwarp,
pfc, all, or @FILE with what tcpdump -ddd EXPRESSION printed.

Stopping a capture by an RDMA sniffing device (tcpdump -i mlx5_0) while RoCE
runs may raise errors on the network card; capturing on a mirror port doesn't.`

func (a *app) liveCommand() *cobra.Command {
	f := &liveFlags{}
	cmd := &cobra.Command{
		Use:   "live -i IFACE [flags]",
		Short: "capture on interfaces, analyse, and report at the end",
		Long:  longLive,
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.live(f) },
	}
	f.inputFlags.register(cmd)
	fl := cmd.Flags()
	f.registerCapture(cmd)
	fl.StringArrayVarP(&f.autostop, "autostop", "a", nil, "stop after `duration:SECONDS` or packets:NUMBER")
	fl.Int64VarP(&f.count, "count", "c", 0, "stop after `N` packets")
	fl.DurationVar(&f.every, "every", time.Second, "time between two looks at the findings")
	fl.StringVar(&f.listen, "listen", "", "serve /metrics, /report and /healthz at `ADDRESS`; :PORT is loopback alone")
	f.trigger.register(fl)

	fl.StringVarP(&f.output, "output", "o", "text", "`FORMAT` of the report: text, json, or ndjson (findings as they come, then the report)")
	fl.StringVar(&f.progress, "progress", "auto", "status on standard error: auto (a line in place on a terminal), plain (a line every 10 s) or none; SIGUSR1 prints it once")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "nothing on standard error but errors")
	fl.BoolVar(&f.strict, "strict", false, "exit with 4 when packets were dropped or an interface went away")
	f.registerReport(cmd)
	return cmd
}

// registerCapture has the flags of every command that captures: where, what,
// and what is kept of it.
func (f *liveFlags) registerCapture(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.ifaces, "interface", "i", nil, "capture on `IFACE`; several are merged by time")
	fl.StringVarP(&f.filter, "filter", "f", "rdma", "`FILTER` in the kernel: rdma, roce, iwarp, pfc, all or @FILE")
	fl.IntVarP(&f.snapLen, "snapshot-length", "s", 0, "`OCTETS` kept of each frame, 0 for all")
	fl.IntVarP(&f.bufferMiB, "buffer-size", "B", live.DefaultBuffer>>20, "`MiB` of the kernel's buffer for each ring")
	fl.IntVar(&f.rings, "rings", 1, "rings an interface, which share its packets by receiving CPU")
	fl.BoolVar(&f.hardware, "hardware-time", false, "time stamps of the network card")
	fl.BoolVarP(&f.notPromisc, "no-promiscuous-mode", "p", false, "leave the interface in its mode")
	fl.StringVarP(&f.write, "write", "w", "", "write the packets to `FILE` (pcapng) too")
	fl.StringArrayVarP(&f.writeRing, "ring-buffer", "b", nil, "go on to another file after `filesize:KB`, duration:SECONDS or packets:NUMBER; files:NUMBER are kept")
	fl.DurationVar(&f.idle, "idle", 10*time.Minute, "let connections go that were idle for so long, their totals kept; 0 for never")
	fl.IntVar(&f.maxConnections, "max-connections", 100_000, "connections kept; the longest idle ones make room, their totals kept")
	_ = cmd.RegisterFlagCompletionFunc("interface", completeInterfaces) // fails for flags that there aren't
	_ = cmd.RegisterFlagCompletionFunc("filter", cobra.FixedCompletions(live.Presets, cobra.ShellCompDirectiveDefault))
}

// completeInterfaces offers the names of the interfaces that there are.
func completeInterfaces(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// check finds fault with the flags before anything is opened.
func (f *liveFlags) check() error {
	plain := f.analyzeFlags
	if plain.output == "ndjson" {
		plain.output = "json"
	}
	if err := plain.check(); err != nil {
		return err
	}
	switch {
	case len(f.ifaces) == 0 && len(f.read) == 0:
		return exitf(exitUsage, "-i names no interface (ip -br link lists them); -r - reads a capture from standard input")
	case len(f.ifaces) > 0 && len(f.read) > 0:
		return exitf(exitUsage, "-i and -r: one of them")
	case len(f.read) > 0 && f.write != "":
		return exitf(exitUsage, "-w writes what -i captures; a stream is kept with tee")
	case f.every < 10*time.Millisecond:
		return exitf(exitUsage, "--every %v: at least 10ms", f.every)
	case f.count < 0:
		return exitf(exitUsage, "-c %d: not a number of packets", f.count)
	}
	if err := f.checkCapture(); err != nil {
		return err
	}
	return f.checkStop()
}

func (f *liveFlags) checkCapture() error {
	switch {
	case f.idle < 0:
		return exitf(exitUsage, "--idle %s: not a time to wait", f.idle)
	case f.maxConnections < 1 || f.maxConnections > 1<<22:
		return exitf(exitUsage, "--max-connections %d: from 1 to %d", f.maxConnections, 1<<22)
	case f.write == "" && len(f.writeRing) > 0:
		return exitf(exitUsage, "-b is about the files of -w")
	case f.snapLen < 0 || f.snapLen > 0 && f.snapLen < 14:
		return exitf(exitUsage, "-s %d: at least the 14 octets of an Ethernet header", f.snapLen)
	case f.bufferMiB < 2 || f.bufferMiB > 4096:
		return exitf(exitUsage, "-B %d: from 2 to 4096 MiB", f.bufferMiB)
	case f.rings < 1 || f.rings > 256:
		return exitf(exitUsage, "--rings %d: from 1 to 256", f.rings)
	}
	return nil
}

// checkStop reads -a and -c.
func (f *liveFlags) checkStop() error {
	f.stopPackets = -1
	if f.count > 0 {
		f.stopPackets = f.count
	}
	for _, s := range f.autostop {
		key, value, _ := strings.Cut(s, ":")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || n <= 0 || n > 1e9:
			return exitf(exitUsage, "-a %s: duration:SECONDS or packets:NUMBER", s)
		case key == "duration":
			f.stopAfter = time.Duration(n * float64(time.Second))
		case key == "packets":
			f.stopPackets = int64(n)
		default:
			return exitf(exitUsage, "-a %s: duration:SECONDS or packets:NUMBER", s)
		}
	}
	return nil
}

// kernelFilter makes the filter that -f names.
func (f *liveFlags) kernelFilter() (*live.Filter, error) {
	path, isFile := strings.CutPrefix(f.filter, "@")
	if !isFile {
		filter, err := live.Preset(f.filter, f.rocePorts...)
		if err != nil {
			return nil, exitf(exitUsage, "-f: %v", err)
		}
		return filter, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exitf(exitUsage, "-f: %v", err)
	}
	filter, err := live.ParseDDD(bytes.NewReader(text))
	if err != nil {
		return nil, exitf(exitUsage, "-f: %s: %v", path, err)
	}
	return filter, nil
}

func (a *app) live(f *liveFlags) error {
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
	clock, _, err := clockMode(f.timestamps, f.config)
	if err != nil {
		return err
	}
	run := &liveRun{app: a, flags: f, clock: clock, report: report.Options{Top: f.top, Connections: connections},
		options: analysis.Options{Workers: f.workers, Decode: f.decodeConfig(), Settings: settingsOf(settings), Version: version,
			Idle: f.idle, MaxFlows: 2 * f.maxConnections}}
	if err := f.network.apply(&run.options, f.config); err != nil {
		return err
	}
	if err := run.open(); err != nil {
		return err
	}
	defer run.close()
	return run.run()
}

// capture is what `live` reads from: interfaces, or a stream.
type capture interface {
	analysis.Source
	Stop() // delivers what was taken so far, then ends
	Close() error
}

// openCapture opens the interfaces, or the stream.
func (r *liveRun) openCapture() (capture, error) {
	f := r.flags
	if len(f.read) > 0 {
		return r.app.openStream(&f.inputFlags)
	}
	filter, err := f.kernelFilter()
	if err != nil {
		return nil, err
	}
	src, err := live.Open(live.Options{
		Interfaces: f.ifaces, Filter: filter, SnapLen: f.snapLen, BufferBytes: f.bufferMiB << 20,
		Rings: f.rings, Held: r.options.Blocks(), HardwareTime: f.hardware, NotPromiscuous: f.notPromisc, Notice: r.notice,
	})
	if err != nil {
		return nil, exitf(exitCapture, "%v", err)
	}
	for _, line := range src.Offloads() {
		r.notice(line)
	}
	return src, nil
}

// untilStopped ends the capture on the first interrupt or when its time is
// over. The second interrupt has its usual effect.
func (r *liveRun) untilStopped() (ctx context.Context, done func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		r.tee.src.Stop()
	})
	if r.flags.stopAfter > 0 {
		timer := time.AfterFunc(r.flags.stopAfter, r.tee.src.Stop)
		return ctx, func() { timer.Stop(); stop() }
	}
	return ctx, stop
}

// dropPrivileges gives up what only opening needed. A binary that can't says
// so: the capture is as good.
func (r *liveRun) dropPrivileges() {
	if err := live.DropPrivileges(r.saves || r.flags.write != "" || r.flags.trigger.severity != ""); err != nil && !errors.Is(err, live.ErrUnsupported) {
		r.notice(fmt.Sprintf("warning: %v", err))
	}
}
