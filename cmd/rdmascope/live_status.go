package main

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"rdmascope/analysis"
	"rdmascope/analysis/figure"
	"rdmascope/pcaps/live"
)

const (
	statusEvery = time.Second      // on a terminal, in place
	statusPlain = 10 * time.Second // a line of its own, --progress plain
)

// statusLoop shows how the capture goes on until ctx ends: in place where
// standard error is a terminal, as lines with --progress plain, and once
// whenever the process gets SIGUSR1.
func (r *liveRun) statusLoop(ctx context.Context) {
	_, tty := terminal(r.app.stderr)
	inPlace := r.flags.progress == "auto" && tty && !r.flags.quiet
	every := time.Duration(0)
	switch {
	case inPlace:
		every = statusEvery
	case r.flags.progress == "plain" && !r.flags.quiet:
		every = statusPlain
	}
	asked, stop := statusAsked()
	defer stop()
	tick := make(<-chan time.Time)
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-ctx.Done():
			r.statusInPlace("")
			return
		case <-asked:
			r.say(r.statusLine(0))
			continue
		case <-tick:
		}
		if inPlace {
			width, _ := terminal(r.app.stderr) // it may have been resized
			r.statusInPlace(r.statusLine(width))
		} else {
			r.say(r.statusLine(0))
		}
	}
}

// statusInPlace replaces the line at the bottom of a terminal.
func (r *liveRun) statusInPlace(line string) {
	r.said.Lock()
	defer r.said.Unlock()
	r.clearStatus()
	fmt.Fprint(r.app.stderr, line)
	r.shown = utf8.RuneCountInString(line)
}

// clearStatus makes room for a line of something else, with said locked.
func (r *liveRun) clearStatus() {
	if r.shown > 0 {
		fmt.Fprintf(r.app.stderr, "\r%s\r", strings.Repeat(" ", r.shown))
		r.shown = 0
	}
}

// statusLine says how the capture is, what it found and what came in the last
// ten seconds, in this order: what doesn't fit into width falls off the end.
func (r *liveRun) statusLine(width int) string {
	parts := statusParts(r.stats(), r.newest.Load(), time.Since(r.began))
	line := parts[0]
	for _, p := range parts[1:] {
		if width > 0 && utf8.RuneCountInString(line)+3+utf8.RuneCountInString(p) >= width {
			break
		}
		line += " │ " + p
	}
	if width > 0 && utf8.RuneCountInString(line) >= width {
		line = string([]rune(line)[:width-1])
	}
	return line
}

func statusParts(stats []live.Stats, snap *analysis.Snapshot, took time.Duration) []string {
	parts := []string{statusDrops(stats, snap)}
	clock := fmt.Sprintf("%02d:%02d:%02d", int(took.Hours()), int(took.Minutes())%60, int(took.Seconds())%60)
	if snap == nil {
		return append(parts, clock, "nothing analysed yet")
	}
	parts = append(parts, statusFindings(snap), clock+" "+figure.Plural(snap.Capture.Packets, "packet"))
	if snap.AgedOut != nil && snap.AgedOut.Evicted > 0 {
		parts = append(parts, "no room for "+figure.Plural(snap.AgedOut.Evicted, "connection"))
	}
	if len(snap.Windows) > 0 {
		parts = append(parts, statusWindow(&snap.Windows[0])...)
	}
	return parts
}

// statusDrops tells what the capture misses, by interface where there is
// anything to tell. It comes first: nothing else is worth more than that.
func statusDrops(stats []live.Stats, snap *analysis.Snapshot) string {
	var bad, drops []string
	for _, st := range stats {
		var said []string
		if st.KernelDropped > 0 {
			said = append(said, "kernel "+figure.Count(st.KernelDropped))
		}
		if st.NICDropped > 0 {
			said = append(said, "nic "+figure.Count(st.NICDropped))
		}
		if said != nil {
			drops = append(drops, st.Name+" "+strings.Join(said, ", "))
		}
		switch {
		case st.Gone:
			bad = append(bad, st.Name+" GONE")
		case !st.Up:
			bad = append(bad, st.Name+" DOWN")
		}
	}
	switch {
	case drops != nil:
		return "▲ DROPS " + strings.Join(append(drops, bad...), "; ")
	case bad != nil:
		return "▲ " + strings.Join(bad, "; ") + "; drops 0"
	case len(stats) > 0:
		return "drops 0"
	case snap != nil && snap.Capture.KernelDroppedPackets != nil && *snap.Capture.KernelDroppedPackets > 0:
		return "▲ DROPS " + figure.Count(*snap.Capture.KernelDroppedPackets)
	}
	return "drops not told"
}

func statusFindings(s *analysis.Snapshot) string {
	n := map[analysis.Severity]int{}
	for i := range s.Findings {
		n[s.Findings[i].Severity]++
	}
	if len(s.Findings) == 0 {
		return "✓ no findings"
	}
	return fmt.Sprintf("✖ %d  ▲ %d  ● %d", n[analysis.SeverityCritical], n[analysis.SeverityWarning], n[analysis.SeverityNotice])
}

// statusWindow is the newest window: rates, and what there was of trouble.
func statusWindow(w *analysis.Window) []string {
	seconds := float64(w.DurationNS) / 1e9
	if seconds <= 0 {
		return nil
	}
	rates := fmt.Sprintf("%.0f s: %s packets/s %s", seconds, figure.Count(int64(float64(w.Packets)/seconds)),
		figure.BitRate(int64(float64(8*w.WireBytes)/seconds)))
	var events []string
	add := func(n int64, name string) {
		if n > 0 {
			events = append(events, figure.Count(n)+" "+name)
		}
	}
	add(value(w.Dropped), "dropped")
	add(value(w.LostUpstream)+value(w.LostDownstream), "lost")
	add(value(w.Retransmitted), "resent")
	add(value(w.Naks), "NAK")
	add(value(w.RNRNaks), "RNR")
	add(w.ECNCE, "CE")
	add(value(w.CNP), "CNP")
	if w.PausedNS != nil && *w.PausedNS > 0 {
		events = append(events, "paused "+figure.Duration(*w.PausedNS))
	}
	return append([]string{rates}, events...)
}
