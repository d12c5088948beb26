package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/pcaps"
	"rdmascope/tui"
)

const longTUI = `tui browses captures in the terminal, while they are still being read. - reads
standard input; keys then come from the terminal itself.

  rdmascope tui FILE…
  rdmascope tui -i eth7
  ssh tor3 tcpdump -U -w - -i eth7 | rdmascope tui -

With -i it captures until the browser is left. The newest packets are held in
memory (--recent) and can be looked at and saved; -w writes all to a file, -b
to a ring of files.`

func (a *app) tuiCommand() *cobra.Command {
	f := &liveFlags{}
	var view tui.Options
	var recent int
	cmd := &cobra.Command{
		Use:   "tui [flags] FILE… | -i IFACE",
		Short: "browse captures, or the packets of an interface, in the terminal",
		Long:  longTUI,
		RunE: func(_ *cobra.Command, args []string) error {
			settings, err := loadSettings(f.config, f.thresholds)
			if err != nil {
				return err
			}
			clock, _, err := clockMode(f.timestamps, f.config)
			if err != nil {
				return err
			}
			opt := analysis.Options{Decode: f.decodeConfig(), Settings: settingsOf(settings), Version: version}
			if err := f.network.apply(&opt, f.config); err != nil {
				return err
			}
			f.read = append(f.read, args...)
			if len(f.ifaces) > 0 {
				return a.watch(f, clock, opt, view, recent)
			}
			return a.browse(f.read, clock, opt, view, recent)
		},
	}
	f.inputFlags.register(cmd)
	f.registerCapture(cmd)
	registerSettings(cmd, &f.config, &f.thresholds)
	fl := cmd.Flags()
	fl.StringVar(&view.Theme, "theme", "", "colours: "+strings.Join(tui.Themes(), ", "))
	fl.BoolVar(&view.NoMouse, "no-mouse", false, "leave the mouse to the terminal, for its own selection")
	fl.StringVar(&view.StartView, "view", "", "`VIEW` to start with: overview, findings, flows, pfc, packets, hosts")
	f.network.register(cmd)
	fl.IntVar(&recent, "recent", 128, "`MiB` of the newest packets held, where they can't be read again: of -i and of standard input")
	return cmd
}

// browse analyses in the background and shows the snapshots as they come.
func (a *app) browse(paths []string, clock analysis.ClockMode, opt analysis.Options, view tui.Options, recentMiB int) error {
	if len(paths) == 0 {
		return exitf(exitUsage, "no capture named; - is standard input, -i IFACE an interface (see rdmascope tui --help)")
	}
	input, err := pcaps.OpenIndexed(paths, pcaps.Options{Stdin: a.stdin})
	if err != nil {
		return err
	}
	defer input.Close()
	if opt.Workers == 0 {
		opt.Workers = tuiWorkers()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	state := &browsing{files: input}
	marks := &packetMarks{}
	opt.Mark = marks.add
	again := rereader(&files{paths, opt.Decode, clock, input})
	stamped := analysis.NewStamped(input, opt.Decode, clock)
	switch reason := input.Reason(); {
	case slices.Contains(paths, pcaps.Stdin):
		recent := newRecentPackets(opt.Decode, recentMiB)
		stamped = analysis.NewStamped(&keeping{input, recent}, opt.Decode, clock)
		recent.stamped, recent.gone, again = stamped, marks.forget, recent
		view.Packets, view.Saver = recent, recent
	case reason == "":
		packets := &indexedPackets{files: input, stamped: stamped, config: opt.Decode}
		view.Packets, view.Saver = packets, packets
	default:
		view.WhyNoPacket = reason
	}
	state.engine = newEngine(stamped, opt)
	go state.analyse(ctx)
	view.Engine, view.Progress, view.Details = state.engine, state.progress, newDetails(ctx, again, &opt, state.done.Load)
	view.Title, view.Inputs = title(paths), paths
	return a.show(ctx, view, marks)
}

// keeping is a source of which the newest packets are kept as they are read.
type keeping struct {
	*pcaps.Indexed
	recent *recentPackets
}

// ReadBlock reads on.
func (k *keeping) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	buf, recs, err := k.Indexed.ReadBlock(buf, recs)
	if err != nil {
		k.recent.finish(k.Interfaces())
		return buf, recs, err
	}
	k.recent.block(buf, recs, k.Interfaces())
	return buf, recs, nil
}

func title(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return strings.Join(names, " ")
}

// browsing is an analysis that somebody looks at.
type browsing struct {
	files  *pcaps.Indexed
	engine *analysis.Engine
	done   atomic.Bool
	err    atomic.Pointer[error]
}

func (b *browsing) analyse(ctx context.Context) {
	_, err := b.engine.Run(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err.Store(&err)
	}
	b.done.Store(true)
}

func (b *browsing) progress() tui.Progress {
	read, total := b.files.Progress()
	p := tui.Progress{ReadBytes: read, TotalBytes: max(total, 0), Packets: b.engine.PacketsRead(), Done: b.done.Load()}
	if err := b.err.Load(); err != nil {
		p.Err = *err
	}
	return p
}
