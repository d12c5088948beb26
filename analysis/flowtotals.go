package analysis

import "math/bits"

// FlowTotals adds up the figures of many flows: those of a report for metrics
// and for rolling windows, or those of connections that are kept no more. A
// figure that none of the flows can tell stays nil.
type FlowTotals struct {
	Interface                                  string // that saw them: name, else number
	Flows, Packets, WireBytes, PayloadBytes    int64
	Messages, Retransmitted, RepeatResponses   *int64
	Segments                                   *int64 // of TCP, sent again
	OutOfOrder, Duplicates, Unseen             *int64
	LostUpstream, LostDownstream, RNRNaks, CNP *int64
	ICRCBad, ECNCE                             int64
	Naks                                       *Naks
	Episodes                                   *Episodes

	ack, message, readFirst, readLast, atomic Histogram // for metrics
}

// EachLatency calls f for every operation that latencies are measured of, by
// its name in reports.
func (t *FlowTotals) EachLatency(f func(operation string, h *Histogram)) {
	f("ack", &t.ack)
	f("message", &t.message)
	f("read_first", &t.readFirst)
	f("read_last", &t.readLast)
	f("atomic", &t.atomic)
}

// Histogram counts durations by octave. Its size is fixed: it takes the samples
// of any number of flows.
type Histogram struct {
	Count, SumNS int64
	Octaves      [histogramOctaves]int64
}

// Octave 0 is all below 1.024 µs, octave k from there all below 2^k × 1.024 µs,
// up to 8.6 s; the last one is all above.
const (
	histogramFirst   = 10
	histogramOctaves = 25
)

// Bound is what all samples of octave i and those before are below, ns; false
// for the last one.
func (*Histogram) Bound(i int) (ns int64, ok bool) {
	return 1 << (histogramFirst + i), i < histogramOctaves-1
}

// add adds the samples of a flow.
func (h *Histogram) add(l *Latency) {
	if l == nil {
		return
	}
	h.Count += l.Count
	h.SumNS += l.Count * l.MeanNS
	l.Buckets(func(from, _, n int64) {
		h.Octaves[min(max(bits.Len64(uint64(from))-histogramFirst, 0), histogramOctaves-1)] += n
	})
}

func (h *Histogram) join(o *Histogram) {
	h.Count += o.Count
	h.SumNS += o.SumNS
	addAll(h.Octaves[:], o.Octaves[:])
}

// Add adds a flow.
func (t *FlowTotals) Add(f *Flow) {
	one := FlowTotals{
		Flows: 1, Packets: f.Packets, WireBytes: f.WireBytes, PayloadBytes: f.PayloadBytes, ICRCBad: f.ICRCBad, ECNCE: f.ECNCE,
		Messages: f.Messages, Retransmitted: f.Retransmitted, RepeatResponses: f.RepeatResponses,
		OutOfOrder: f.OutOfOrder, Duplicates: f.Duplicates, Unseen: f.Unseen,
		LostUpstream: f.LostUpstream, LostDownstream: f.LostDownstream, RNRNaks: f.RNRNaks, CNP: f.CNP,
		Naks: f.Naks, Episodes: f.Episodes,
	}
	if f.TCP != nil {
		one.Segments = f.TCP.Retransmitted
	}
	t.joinCounts(&one)
	t.ack.add(f.Latency.Ack)
	t.message.add(f.Latency.Message)
	t.readFirst.add(f.Latency.ReadFirst)
	t.readLast.add(f.Latency.ReadLast)
	t.atomic.add(f.Latency.Atomic)
}

// Join adds what others added up.
func (t *FlowTotals) Join(o *FlowTotals) {
	t.joinCounts(o)
	t.ack.join(&o.ack)
	t.message.join(&o.message)
	t.readFirst.join(&o.readFirst)
	t.readLast.join(&o.readLast)
	t.atomic.join(&o.atomic)
}

// joinCounts adds all but the latencies.
func (t *FlowTotals) joinCounts(o *FlowTotals) {
	t.Flows += o.Flows
	t.Packets += o.Packets
	t.WireBytes += o.WireBytes
	t.PayloadBytes += o.PayloadBytes
	t.ICRCBad += o.ICRCBad
	t.ECNCE += o.ECNCE
	for _, figure := range [...]struct {
		to **int64
		v  *int64
	}{
		{&t.Messages, o.Messages}, {&t.Retransmitted, o.Retransmitted}, {&t.RepeatResponses, o.RepeatResponses}, {&t.Segments, o.Segments},
		{&t.OutOfOrder, o.OutOfOrder}, {&t.Duplicates, o.Duplicates}, {&t.Unseen, o.Unseen}, {&t.LostUpstream, o.LostUpstream},
		{&t.LostDownstream, o.LostDownstream}, {&t.RNRNaks, o.RNRNaks}, {&t.CNP, o.CNP},
	} {
		addKnown(figure.to, figure.v)
	}
	t.addNaks(o.Naks)
	t.addEpisodes(o.Episodes)
}

// addKnown adds a figure that may be unknown to a sum that may be.
func addKnown(to **int64, v *int64) {
	switch {
	case v == nil:
	case *to == nil:
		*to = Int(*v)
	default:
		**to += *v
	}
}

func (t *FlowTotals) addNaks(n *Naks) {
	if n == nil {
		return
	}
	if t.Naks == nil {
		t.Naks = &Naks{}
	}
	t.Naks.add(n)
}

func (t *FlowTotals) addEpisodes(e *Episodes) {
	if e == nil {
		return
	}
	if t.Episodes == nil {
		t.Episodes = &Episodes{}
	}
	t.Episodes.Total += e.Total
	t.Episodes.Nak += e.Nak
	t.Episodes.RNR += e.RNR
	t.Episodes.Timeout += e.Timeout
	t.Episodes.ImpliedNak += e.ImpliedNak
	t.Episodes.Adaptive += e.Adaptive
	t.Episodes.Spurious += e.Spurious
	t.Episodes.NakUnheeded += e.NakUnheeded
}

// FlowTotals adds up the flows of all connections by interface, those included
// that aged out.
func (s *Snapshot) FlowTotals() []*FlowTotals {
	var list []*FlowTotals
	of := func(iface string) *FlowTotals {
		for _, t := range list {
			if t.Interface == iface {
				return t
			}
		}
		list = append(list, &FlowTotals{Interface: iface})
		return list[len(list)-1]
	}
	if s.AgedOut != nil {
		s.AgedOut.totals(s.ifaces, of)
	}
	for i := range s.Connections {
		t := of(s.Connections[i].Interface)
		for k := range s.Connections[i].Flows {
			t.Add(&s.Connections[i].Flows[k])
		}
	}
	return list
}
