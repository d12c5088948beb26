package tui

import (
	"fmt"
	"slices"
	"time"
)

// Live is a capture that is under way.
type Live struct {
	Elapsed    time.Duration
	Interfaces []LiveInterface
	Ended      bool // nothing more comes
	// Notices is what the capture had to say so far, the newest last, and
	// Noticed how many there were: old ones may be left out.
	Notices []string
	Noticed int64
}

// LiveInterface is one interface that is captured on.
type LiveInterface struct {
	Name          string
	Received      int64
	KernelDropped int64 // the buffer was full
	NICDropped    int64 // the network card had none; -1 unknown
	Down, Gone    bool
}

// drops adds up what was lost before it could be captured. nic is -1 when no
// interface knows.
func (l *Live) drops() (kernel, nic int64) {
	nic = -1
	for i := range l.Interfaces {
		kernel += l.Interfaces[i].KernelDropped
		if n := l.Interfaces[i].NICDropped; n >= 0 {
			nic = max(nic, 0) + n
		}
	}
	return kernel, nic
}

// sameAs tells that nothing shows a difference.
func (l *Live) sameAs(o *Live) bool {
	return l.Elapsed/time.Second == o.Elapsed/time.Second && l.Ended == o.Ended && l.Noticed == o.Noticed &&
		slices.EqualFunc(l.Interfaces, o.Interfaces, func(a, b LiveInterface) bool {
			a.Received, b.Received = 0, 0 // the packets analysed are shown instead
			return a == b
		})
}

// pollLive takes what the capture tells, and whether that shows.
func (u *ui) pollLive(now time.Time) (changed bool) {
	if u.opt.Live == nil {
		return false
	}
	l := u.opt.Live()
	if l.Noticed > u.session.Noticed && len(l.Notices) > 0 {
		u.warn(l.Notices[len(l.Notices)-1])
	}
	changed = !l.sameAs(&u.session)
	if changed {
		u.session = l
		u.setTrust()
	}
	u.roll(now)
	return changed
}

// roll lets the rolling window go on while no packet comes: what was before the
// last ten seconds is not in them only because nothing came since. The time
// that passed is added to the capture's own clock, which may be another than
// ours.
func (u *ui) roll(now time.Time) {
	if end := u.snap.Capture.EndTime; end != u.newest || u.newestAt.IsZero() {
		u.newest, u.newestAt = end, now
	}
	if u.window.rolling > 0 && !u.paused && !u.session.Ended {
		u.window.idle = int64(now.Sub(u.newestAt) / time.Second * time.Second)
	}
}

// isLive tells whether a capture is or was watched, not a file.
func (u *ui) isLive() bool { return u.opt.Live != nil }

// liveSpans are the first things to know about a capture: since when, and
// what it missed.
func (u *ui) liveSpans() []span {
	word, at := "LIVE", notice
	if u.session.Ended {
		word, at = "ENDED", warning
	}
	out := []span{{at, word + " " + stopwatch(u.session.Elapsed)}, {plain, "  "}}
	kernel, nic := u.session.drops()
	if kernel == 0 && nic <= 0 {
		return append(out, span{good, "✔ no drops"})
	}
	text := "✖ DROPS kernel " + count(kernel)
	if nic >= 0 {
		text += " NIC " + count(nic)
	}
	return append(out, span{critical, text})
}

// stopwatch writes a time as hours, minutes and seconds.
func stopwatch(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// rateSpans are how much comes in, for the header.
func (u *ui) rateSpans() []span {
	if u.session.Ended {
		return []span{{faint, short(u.progress.Packets) + " packets"}}
	}
	return []span{{plain, short(u.meter.packetsPerSecond) + " packets/s"}}
}

// drawLiveHeader draws what is captured, since when, what it misses; then what
// was found and how much comes. Where it gets narrow the rate goes first, then
// the middle of the title, then our name: the drops are always there.
func (u *ui) drawLiveHeader(r region) {
	const name, leastTitle = "rdmascope", 8
	left := u.liveSpans()
	title := clean(u.opt.Title)
	x := 1
	if x+columns(name)+2+min(columns(title), leastTitle)+2+spanColumns(left) < r.w {
		x = r.print(x, 0, heading, name) + 2
	}
	gap := span{plain, "  "}
	var right []span
	for _, part := range [][]span{u.pauseSpans(), u.severities(), u.rateSpans()} {
		if len(part) > 0 && len(right) > 0 {
			right = append(right, gap)
		}
		right = append(right, part...)
	}
	need := x + spanColumns(left) + 2
	for need+min(columns(title), leastTitle)+2+spanColumns(right)+1 > r.w && len(right) > 0 {
		right = right[:len(right)-1]
	}
	for len(right) > 0 && right[len(right)-1] == gap {
		right = right[:len(right)-1]
	}
	n := spanColumns(right)
	r.spans(max(r.w-n-1, 0), 0, right...)
	x = r.print(x, 0, plain, elide(title, max(r.w-n-3-need, leastTitle))) + 2
	r.spans(x, 0, left...)
}

// liveTrust are the lines about each interface: what it received, what it
// missed, and whether it is still there.
func liveTrust(l *Live) []trustLine {
	var out []trustLine
	for i := range l.Interfaces {
		f := &l.Interfaces[i]
		t := trustLine{good, "drops", f.Name + ": none of " + plural(f.Received, "packet")}
		if f.KernelDropped > 0 || f.NICDropped > 0 {
			t.look, t.text = critical, fmt.Sprintf("%s: kernel %s", f.Name, count(f.KernelDropped))
			if f.NICDropped >= 0 {
				t.text += ", NIC " + count(f.NICDropped)
			}
			t.text += " of " + count(f.Received)
		}
		out = append(out, t)
		switch {
		case f.Gone:
			out = append(out, trustLine{critical, "interface", f.Name + " is gone"})
		case f.Down:
			out = append(out, trustLine{warning, "interface", f.Name + " is down"})
		}
	}
	for _, text := range l.Notices {
		out = append(out, trustLine{notice, "note", text})
	}
	return out
}

// rollingFigures are what came in the rolling window; without one chosen, in
// the last ten seconds, for the totals are everywhere else. Nil for a file.
func (u *ui) rollingFigures() []span {
	at := 1
	for i, r := range rolls {
		if u.window.rolling > 0 && r.ns == u.window.rolling {
			at = i
		}
	}
	if len(u.snap.Windows) < at {
		return nil
	}
	w := &u.snap.Windows[at-1]
	n := numbers{{heading, rolls[at].name}}
	perSecond := func(v int64) int64 { return int64(float64(v) * 1e9 / float64(max(w.DurationNS, 1))) }
	n.add("packets/s", short(perSecond(w.Packets)), plain)
	n.add("traffic", bitRate(perSecond(w.WireBytes*8)), plain)
	lost := value(w.LostUpstream) + value(w.LostDownstream)
	n.bad("resent", w.Retransmitted, warning)
	n.bad("lost", &lost, warning)
	n.bad("NAK", w.Naks, critical)
	n.bad("RNR", w.RNRNaks, warning)
	n.bad("CE", &w.ECNCE, notice)
	n.bad("CNP", w.CNP, notice)
	if w.PausedNS != nil {
		l := plain
		if *w.PausedNS > 0 {
			l = notice
		}
		n.add("paused", duration(*w.PausedNS), l)
	}
	n.bad("drops", w.Dropped, critical)
	return n
}
