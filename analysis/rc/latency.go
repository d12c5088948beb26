package rc

import (
	"math/bits"

	"rdmascope/analysis/sketch"
)

// Latency kinds (METRICS §4). All stand at the requester's flow and measure
// tap → responder → tap.
const (
	LatencyAck = iota
	LatencyMessage
	LatencyReadFirst
	LatencyReadLast
	LatencyAtomic
	latencyKinds
)

// LatencyNames are the report's names of the kinds.
var LatencyNames = [latencyKinds]string{"ack", "message", "read_first", "read_last", "atomic"}

// measure takes one latency. Most wait in a buffer that lies beside what an
// answer touches anyway: the sketches, which lie elsewhere, are left alone until
// it is full.
func (r *requester) measure(kind int, from, to int64) {
	if paused := r.opt.Paused; paused != nil && (kind == LatencyMessage || kind == LatencyReadLast || kind == LatencyAtomic) {
		if ns := paused(r.id, from, to); ns != 0 {
			r.pausedNS += ns
		}
	}
	if v := to - from; v >= 0 && v < 1<<sampleBits {
		if int(r.waiting) == len(r.samples) {
			r.flush()
		}
		r.samples[r.waiting] = uint32(kind)<<sampleBits | uint32(v)
		r.waiting++
		return
	}
	r.sketch(kind).Add(to - from)
}

const sampleBits = 29

// flush empties the buffer into the sketches.
func (r *requester) flush() {
	for _, x := range r.samples[:r.waiting] {
		r.sketch(int(x >> sampleBits)).Add(int64(x & (1<<sampleBits - 1)))
	}
	r.waiting = 0
}

func (r *requester) sketch(kind int) *sketch.Sketch {
	if r.lat[kind] == nil {
		r.lat[kind] = new(sketch.Sketch)
	}
	return r.lat[kind]
}

// latencies returns what was measured of a kind, nil for nothing: a copy, while
// packets may follow.
func (r *requester) latencies(kind int) *sketch.Sketch {
	if r.opt.finished {
		r.flush()
		return r.lat[kind]
	}
	s := r.lat[kind].Clone()
	for _, x := range r.samples[:r.waiting] {
		if int(x>>sampleBits) != kind {
			continue
		}
		if s == nil {
			s = new(sketch.Sketch)
		}
		s.Add(int64(x & (1<<sampleBits - 1)))
	}
	return s
}

// timedNS is the sum of the latencies of whole operations, of which PausedNS
// is a part: each operation counts once.
func (v *FlowFigures) timedNS() (ns int64) {
	for _, kind := range [...]int{LatencyMessage, LatencyReadLast, LatencyAtomic} {
		if b := v.Latency[kind]; b != nil {
			ns += int64(b.s.Sum())
		}
	}
	return ns
}

// sample takes the latencies of a SEND or WRITE at the first response that
// covers it. By Karn's rule there is no ack sample when a packet was sent
// again: the response may belong to either sending.
func (r *requester) sample(m *message, now int64) {
	if !m.is(msgResent) {
		r.measure(LatencyAck, m.last, now)
	}
	if m.is(msgFirst) {
		r.measure(LatencyMessage, m.tFirst, now)
		if m.is(msgResent) {
			r.count().messageRecovered++
		}
	}
}

// coalesce counts a message that a response for a later one covered.
func (r *requester) coalesce(m *message) {
	if !m.is(msgResent) {
		r.ackCoalesced++
	}
	if m.is(msgFirst) {
		r.coalesced++
	}
}

// LatencyBlock is one latency figure of the report.
type LatencyBlock struct {
	Count, Coalesced, Recovered uint64
	MinNS, P50NS, P90NS, P99NS  int64
	P999NS, MaxNS, MeanNS       int64
	s                           *sketch.Sketch
}

// Merge adds the samples of another block, so that hosts and totals can be
// told; both blocks stay within the same 1 %.
func (b *LatencyBlock) Merge(o *LatencyBlock) {
	if o == nil {
		return
	}
	s := new(sketch.Sketch)
	s.Merge(b.s)
	s.Merge(o.s)
	*b = *block(s, b.Coalesced+o.Coalesced, b.Recovered+o.Recovered)
}

// Buckets calls f for each half octave that holds samples, in ascending order:
// n of them are at least from and less than to.
func (b *LatencyBlock) Buckets(f func(from, to, n int64)) {
	if b != nil {
		b.s.Buckets(f)
	}
}

// block makes the figures of s, which is handed over.
func block(s *sketch.Sketch, coalesced, recovered uint64) *LatencyBlock {
	if s.Count() == 0 {
		return nil
	}
	var f sketch.Summary
	s.SumUp(&f)
	return &LatencyBlock{
		Count: uint64(f.Count), Coalesced: coalesced, Recovered: recovered,
		MinNS: f.Min, P50NS: f.P50, P90NS: f.P90, P99NS: f.P99, P999NS: f.P999, MaxNS: f.Max, MeanNS: f.MeanDown, s: s,
	}
}

// sizeHistogram counts message sizes by power of two.
type sizeHistogram struct {
	min, max, sum uint64
	byLog         [34]uint32 // index: bits.Len of the size
}

// add counts k messages of n octets.
func (h *sizeHistogram) add(n uint64, k uint32) {
	if h.sum == 0 && h.max == 0 || n < h.min {
		h.min = n
	}
	h.max = max(h.max, n)
	h.sum += n * uint64(k)
	h.byLog[min(bits.Len64(n), len(h.byLog)-1)] += k
}
