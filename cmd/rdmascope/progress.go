package main

import (
	"fmt"
	"strings"
	"time"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// Progress shows up only when an analysis takes longer than a glance.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 250 * time.Millisecond
)

// startProgress writes one line to standard error while the analysis runs,
// and returns what ends it. On a terminal the line is rewritten in place and
// removed at the end; --progress plain writes a line a second.
func (a *app) startProgress(f *analyzeFlags, files *pcaps.Files, engine *analysis.Engine) (done func()) {
	_, tty := terminal(a.stderr)
	if f.quiet || f.progress == "none" || f.progress == "auto" && !tty {
		return func() {}
	}
	plain := f.progress == "plain"
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start, width, ticks := time.Now(), 0, 0
		timer := time.NewTimer(progressAfter)
		defer timer.Stop()
		for {
			select {
			case <-quit:
				if width > 0 && !plain {
					fmt.Fprintf(a.stderr, "\r%s\r", strings.Repeat(" ", width))
				}
				return
			case <-timer.C:
				timer.Reset(progressEvery)
			}
			read, total := files.Progress()
			line := progressLine(read, total, engine.PacketsRead(), time.Since(start))
			switch {
			case plain && ticks%4 == 0:
				fmt.Fprintln(a.stderr, line)
			case !plain:
				fmt.Fprintf(a.stderr, "\r%-*s", width, line)
				width = max(width, len(line))
			}
			ticks++
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// progressLine says how far an analysis is. total is -1 for a stream.
func progressLine(read, total, packets int64, took time.Duration) string {
	seconds := took.Seconds()
	rate := float64(read) / seconds
	line := fmt.Sprintf("%.1f MB  %.0f MB/s  %.2f M packets/s", float64(read)/1e6, rate/1e6, float64(packets)/seconds/1e6)
	if total <= 0 || read <= 0 {
		return line
	}
	left := time.Duration(float64(total-read) / rate * float64(time.Second))
	return fmt.Sprintf("%3.0f %%  %s  %s left", 100*float64(read)/float64(total), line, left.Round(time.Second))
}
