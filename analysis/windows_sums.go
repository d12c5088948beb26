package analysis

// windowSums are the figures of a window, as counted since the beginning.
type windowSums struct {
	v     [windowFigures]int64
	known uint32 // a bit for each figure that the capture can tell
}

const (
	sumPackets = iota
	sumWireBytes
	sumRoCE
	sumIWARP
	sumDropped
	sumUnseen
	sumMessages
	sumPayload
	sumResent
	sumUpstream
	sumDownstream
	sumNaks
	sumRNR
	sumCE
	sumCNP
	sumPauses
	sumPaused
	windowFigures
)

// windowSumsOf adds up what a snapshot counts.
func windowSumsOf(s *Snapshot) (w windowSums) {
	var t FlowTotals
	for _, one := range s.FlowTotals() {
		t.Join(one)
	}
	p := &s.Protocols
	w.set(sumPackets, s.Capture.Packets)
	w.set(sumWireBytes, s.Capture.WireBytes)
	w.set(sumRoCE, p.RoCEv2.Packets+p.RoCEv1.Packets+p.InfiniBand.Packets)
	w.set(sumIWARP, p.IWARP.Packets)
	w.add(sumDropped, s.Capture.KernelDroppedPackets)
	w.add(sumUnseen, t.Unseen)
	w.add(sumMessages, t.Messages)
	w.set(sumPayload, t.PayloadBytes)
	w.add(sumResent, t.Retransmitted)
	w.add(sumResent, t.RepeatResponses)
	w.add(sumResent, t.Segments)
	w.add(sumUpstream, t.LostUpstream)
	w.add(sumDownstream, t.LostDownstream)
	if t.Naks != nil {
		w.set(sumNaks, t.Naks.Total())
	}
	w.add(sumRNR, t.RNRNaks)
	w.set(sumCE, t.ECNCE)
	w.add(sumCNP, t.CNP)
	w.set(sumPauses, p.PFC.Packets+p.Pause.Packets)
	for i := range s.PFC.Sources {
		w.add(sumPaused, s.PFC.Sources[i].PausedNS)
	}
	return w
}

func (w *windowSums) set(i int, v int64) {
	w.v[i] = v
	w.known |= 1 << i
}

func (w *windowSums) add(i int, v *int64) {
	if v != nil {
		w.set(i, w.v[i]+*v)
	}
}

// keepUp keeps the sums from falling below those before: a packet that was
// taken for a retransmission may turn out to be a copy, and a window in which
// less than nothing was sent again helps nobody.
func (w *windowSums) keepUp(before *windowSums) {
	for i := range w.v {
		w.v[i] = max(w.v[i], before.v[i])
	}
}

// since is what came after an earlier moment.
func (w *windowSums) since(before *windowSums) (d windowSums) {
	d.known = w.known
	for i := range w.v {
		d.v[i] = w.v[i] - before.v[i]
	}
	return d
}

// figure is nil where the capture can't tell.
func (w *windowSums) figure(i int) *int64 {
	if w.known&(1<<i) == 0 {
		return nil
	}
	return Int(w.v[i])
}
