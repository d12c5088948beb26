package pause

// Windows is the share of pause over time: equal windows, aligned to multiples
// of their width since the epoch. When there would be more than maxWindows the
// width doubles, so that a capture of any length fits.
type Windows struct {
	WidthNS int64
	StartNS int64 // start of the first
	Window  []Window
}

// Window is what happened in one of them.
type Window struct {
	PausedNS int64
	Frames   int64
}

const maxWindows = 512

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// slot returns the window that t falls into, making room for it.
func (w *Windows) slot(t int64) *Window {
	if len(w.Window) == 0 {
		w.StartNS = floorDiv(t, w.WidthNS) * w.WidthNS
	}
	if t < w.StartNS { // the clock went backwards: into the first
		t = w.StartNS
	}
	for (t-w.StartNS)/w.WidthNS >= maxWindows {
		w.double()
	}
	i := int((t - w.StartNS) / w.WidthNS)
	for len(w.Window) <= i {
		w.Window = append(w.Window, Window{})
	}
	return &w.Window[i]
}

// double joins windows in pairs, again aligned.
func (w *Windows) double() {
	width := 2 * w.WidthNS
	start := floorDiv(w.StartNS, width) * width
	shift := int((w.StartNS - start) / w.WidthNS)
	n := 0
	for i, v := range w.Window {
		k := (i + shift) / 2
		w.Window[i] = Window{}
		w.Window[k].PausedNS += v.PausedNS
		w.Window[k].Frames += v.Frames
		n = k + 1
	}
	w.Window = w.Window[:n]
	w.WidthNS, w.StartNS = width, start
}

// pause spreads the pause [from, to) over the windows that it touches.
func (w *Windows) pause(from, to int64) {
	for from < to {
		s := w.slot(from)
		end := w.StartNS + ((max(from, w.StartNS)-w.StartNS)/w.WidthNS+1)*w.WidthNS
		// A pause of years, from a clock that jumped, widens the windows first.
		if (to-1-w.StartNS)/w.WidthNS >= maxWindows {
			w.slot(to - 1)
			continue
		}
		s.PausedNS += min(end, to) - from
		from = min(end, to)
	}
}
