package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/decode"
	"rdmascope/pcaps"
	"rdmascope/tui"
)

func (a *app) tuiCommand() *cobra.Command {
	f := &inputFlags{}
	var theme, start, config string
	var network networkFlags
	var thresholds []string
	var noMouse bool
	cmd := &cobra.Command{
		Use:   "tui [flags] FILE…",
		Short: "browse captures in the terminal",
		Long: "Browse captures in the terminal, while they are still being read. - reads standard input; " +
			"keys then come from the terminal itself.",
		RunE: func(_ *cobra.Command, args []string) error {
			settings, err := loadSettings(config, thresholds)
			if err != nil {
				return err
			}
			clock, _, err := clockMode(f.timestamps, config)
			if err != nil {
				return err
			}
			opt := analysis.Options{Decode: f.decodeConfig(), Settings: settingsOf(settings), Version: version}
			if err := network.apply(&opt); err != nil {
				return err
			}
			return a.browse(f, args, clock, opt, tui.Options{Theme: theme, NoMouse: noMouse, StartView: start})
		},
	}
	f.register(cmd)
	registerSettings(cmd, &config, &thresholds)
	fl := cmd.Flags()
	fl.StringVar(&theme, "theme", "", "colours: "+strings.Join(tui.Themes(), ", "))
	fl.BoolVar(&noMouse, "no-mouse", false, "leave the mouse to the terminal, for its own selection")
	fl.StringVar(&start, "view", "", "`VIEW` to start with: overview, findings, flows, pfc, packets, hosts")
	network.register(cmd)
	return cmd
}

// browse analyses in the background and shows the snapshots as they come.
func (a *app) browse(f *inputFlags, args []string, clock analysis.ClockMode, opt analysis.Options, view tui.Options) error {
	paths := append(append([]string{}, f.read...), args...)
	if len(paths) == 0 {
		return exitf(exitUsage, "no capture named; - is standard input (see rdmascope tui --help)")
	}
	files, err := pcaps.OpenIndexed(paths, pcaps.Options{Stdin: a.stdin})
	if err != nil {
		return err
	}
	defer files.Close()
	if opt.Workers == 0 {
		opt.Workers = tuiWorkers()
	}
	stamped := analysis.NewStamped(files, opt.Decode, clock)
	engine := analysis.New(stamped, opt)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	state := &browsing{files: files, engine: engine, config: f.decodeConfig(), clock: clock, paths: paths}
	go state.analyse(ctx)

	view.Engine, view.Progress, view.Details = engine, state.progress, state.details(ctx)
	view.Title, view.Inputs = title(paths), paths
	remembered := rememberedPath()
	view.Remembered = recallView(remembered)
	view.Remember = func(r tui.Remembered) error { return rememberView(remembered, r) }
	view.FlowFilter, view.PacketFilter = filters{}, filters{}
	if reason := files.Reason(); reason == "" {
		packets := &indexedPackets{files: files, stamped: stamped, config: state.config}
		view.Packets, view.Saver = packets, packets
	} else {
		view.WhyNoPacket = reason
	}
	if err := tui.Run(ctx, view); err != nil && !errors.Is(err, context.Canceled) {
		return exitf(exitUsage, "%v", err)
	}
	return nil
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
	config decode.Config
	clock  analysis.ClockMode
	paths  []string
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
